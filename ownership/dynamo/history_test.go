package dynamo_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/ownership/history"
)

// A throttled table is for the records: they are tried again by the SDK, and
// history is not, unless its writer asks for that.
func TestHistoryIsNotTriedAgainBeforeRecords(t *testing.T) {
	g := NewWithT(t)
	entry := history.Entry{Group: group, Time: time.Now(), ID: "id"}
	throttled := map[string][]reply{"PutItem": {refusal("ProvisionedThroughputExceededException")}}
	tries := func(o dynamo.Options, write func(*dynamo.Table) error) int {
		sdk, e := serve(t, throttled)
		expectClass(g, write(dynamo.New(sdk, "owners", o)), ownership.ErrThrottled)
		return e.calls("PutItem")
	}
	addEntry := func(table *dynamo.Table) error { return table.Record(t.Context(), entry) }
	g.Expect(tries(dynamo.Options{}, addEntry)).To(Equal(1))
	g.Expect(tries(dynamo.Options{HistoryAttempts: 2}, addEntry)).To(Equal(2))
	g.Expect(tries(dynamo.Options{}, func(table *dynamo.Table) error {
		return table.Put(t.Context(), record(), ownership.Revision{})
	})).To(Equal(3))
}
