package bench

import (
	"context"
	"testing"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/ownership/memory"
)

// usage is what DynamoDB would bill: a unit per KB written, and one per 4 KB
// read in a strongly consistent query
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html).
type usage struct {
	Writes, Reads         int // calls
	WriteUnits, ReadUnits int
	BytesRead             int
}

func (u usage) minus(before usage) usage {
	return usage{
		u.Writes - before.Writes, u.Reads - before.Reads,
		u.WriteUnits - before.WriteUnits, u.ReadUnits - before.ReadUnits,
		u.BytesRead - before.BytesRead,
	}
}

const (
	writeUnit = 1024 // bytes
	readUnit  = 4 * 1024
)

func units(bytes, unit int) int { return max((bytes+unit-1)/unit, 1) }

// metered is a table in memory with a meter.
type metered struct {
	*memory.Table
	b    *testing.B
	used *usage
}

func (m *metered) Put(ctx context.Context, next ownership.Record, seen ownership.Revision) error {
	bytes := m.size(next)
	m.used.Writes++
	m.used.WriteUnits += units(bytes, writeUnit)
	return m.Table.Put(ctx, next, seen)
}

func (m *metered) Records(ctx context.Context, group ownership.GroupARN) (ownership.Records, error) {
	records, err := m.Table.Records(ctx, group)
	bytes := 0
	for _, r := range records.Records {
		bytes += m.size(r)
	}
	m.used.Reads++
	m.used.ReadUnits += units(bytes, readUnit)
	m.used.BytesRead += bytes
	return records, err
}

func (m *metered) size(r ownership.Record) int {
	bytes, err := dynamo.RecordSize(r)
	if err != nil {
		m.b.Fatal(err)
	}
	return bytes
}
