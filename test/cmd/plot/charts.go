package main

// chart is an image: some units of one benchmark.
type chart struct {
	file, title string
	x, y        string
	benchmark   string
	lines       []line
}

type line struct{ unit, name string }

var charts = []chart{
	{
		file: "start.png", title: "One controller: starts", x: "bindings of 100 targets", y: "seconds", benchmark: "Scale",
		lines: []line{{"s-first-start", "first start, until all are registered"}, {"s-cold-start", "start with records, until all are compared"}, {"s-cold-start-processor", "its own processor time, on two cores"}},
	},
	{
		file: "memory.png", title: "One controller: resident memory", x: "bindings of 100 targets", y: "MB", benchmark: "Scale",
		lines: []line{{"MB-resident", "after a start with records"}},
	},
	{
		file: "change.png", title: "One controller: a change while all roll", x: "bindings of 100 targets", y: "ms until registered", benchmark: "Scale",
		lines: []line{{"ms-write-to-registered-median", "median"}, {"ms-write-to-registered-p95", "95th percentile"}},
	},
	{
		file: "rest.png", title: "One controller: calls at rest", x: "bindings of 100 targets", y: "calls a minute, compared every minute", benchmark: "Scale",
		lines: []line{{"Elastic-Load-Balancing-v2-calls/minute", "load balancer"}, {"DynamoDB-calls/minute", "table"}},
	},
	{
		file: "crowd.png", title: "Clusters in one group, 40 targets each", x: "clusters", y: "ms until registered, median", benchmark: "Crowd",
		lines: []line{{"ms-registered-median/one-alone", "one target of one cluster"}, {"ms-registered-median/all-together", "all targets of all at once, on two cores"}},
	},
	{
		file: "neighbours.png", title: "One target replaced, with neighbours", x: "clusters in the group, 40 targets each", y: "bytes read", benchmark: "Neighbours",
		lines: []line{{"bytes-read/op", "of the records of all"}},
	},
	{
		file: "cost.png", title: "A hundred clusters, groups shared by fives", x: "groups", y: "USD a month on demand", benchmark: "Fleet",
		lines: []line{{"USD-a-month", "the table, without history"}},
	},
}
