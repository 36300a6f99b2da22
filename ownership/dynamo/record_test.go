package dynamo_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
)

func TestTooLargeRecordIsNotSent(t *testing.T) {
	g := NewWithT(t)
	sdk, e := serve(t, map[string][]reply{"PutItem": {success("{}")}})
	table := dynamo.New(sdk, "owners", dynamo.Options{})

	g.Expect(table.Put(t.Context(), recordOf(8_100), ownership.Revision{})).To(Succeed())
	g.Expect(e.calls("PutItem")).To(Equal(1))
	expectClass(g, table.Put(t.Context(), recordOf(8_150), ownership.Revision{}), ownership.ErrTooLarge)
	g.Expect(e.calls("PutItem")).To(Equal(1))
}

// recordOf returns a record of n targets, each of which takes 49 bytes of an
// item: 15 for its key, 1 as an element, 3 as a map, 30 for since. The limit
// of 390 KB, 10 KB below DynamoDB's, is at 8,140 of them.
func recordOf(n int) ownership.Record {
	rec := record()
	rec.Held = make(map[ownership.Target]time.Time, n)
	for i := range n {
		rec.Held[ownership.Target(fmt.Sprintf("10.%d.%d.100:80", 10+i/90, 10+i%90))] = time.Time{}
	}
	return rec
}

func TestUnwritableRecordIsNotSent(t *testing.T) {
	for name, change := range map[string]func(*ownership.Record){
		"target not canonical":   func(r *ownership.Record) { r.Held["[::ffff:10.0.0.5]:80"] = time.Time{} },
		"held and releasing":     func(r *ownership.Record) { r.Releasing = r.Held },
		"slash in the namespace": func(r *ownership.Record) { r.Owner.Namespace = "a/b" },
		"no binding UID":         func(r *ownership.Record) { r.BindingUID = "" },
		"group is no ARN":        func(r *ownership.Record) { r.Group = "cluster" },
		"no write ID":            func(r *ownership.Record) { r.WriteID = "" },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			sdk, e := serve(t, map[string][]reply{"PutItem": {success("{}")}})
			rec := record()
			change(&rec)
			g.Expect(dynamo.New(sdk, "owners", dynamo.Options{}).Put(t.Context(), rec, ownership.Revision{})).NotTo(Succeed())
			g.Expect(e.calls("PutItem")).To(BeZero())
		})
	}
}

// FuzzDecode: whatever an item holds, it is read as a valid record or reported,
// and never taken for none.
func FuzzDecode(f *testing.F) {
	const record = `{"targetGroup":{"S":"` + string(group) + `"},"owner":{"S":"a/shop/web"},"clusterID":{"S":"a"},` +
		`"bindingUID":{"S":"uid"},"version":{"N":"1"},"writeID":{"S":"w"},"schemaVersion":{"N":"1"}`
	for _, seed := range []string{
		record + `,"held":{"M":{"10.0.0.5:8080":{"M":{"since":{"S":"2026-03-01T12:00:00Z"}}}}},"releasing":{"M":{}}}`,
		record + `,"held":{"M":{"[2001:db8::5]:8080":{"M":{}},"i-0abc:30080":{"M":{}}}},"releasing":{"M":{"10.0.0.6:80":{"M":{}}}}}`,
		record + `,"held":{"NULL":true},"releasing":{"M":{}}}`,
		record + `,"held":{"M":{}}}`,
		record + `,"held":{"SS":["10.0.0.5:8080"]},"releasing":{"L":[]}}`,
		record + `,"held":{"M":{":":{"M":{}}}},"releasing":{"M":{}}}`,
		`{"targetGroup":{"S":"cluster"},"owner":{"S":"a"},"fingerprint":{"S":"f"},"state":{"S":"Active"},"heartbeatSeq":{"N":"0"},` +
			`"version":{"N":"1"},"writeID":{"S":"w"},"schemaVersion":{"N":"1"}}`,
		`{"version":{"N":"1e99"},"schemaVersion":{"N":"-1"}}`,
		`{"owner":{"B":"AA=="},"heartbeatAt":{"S":"yesterday"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		item, err := attributevalue.UnmarshalMapJSON(data)
		if err != nil || len(item) == 0 {
			return // not an item
		}
		g := NewWithT(t)
		table := dynamo.New(stored{item: item}, "owners", dynamo.Options{})
		records, err := table.Records(t.Context(), group)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(len(records.Records) + len(records.Unreadable)).To(Equal(1))
		for _, rec := range records.Records {
			expectValid(g, rec)
		}
		if _, err := table.Cluster(t.Context(), "a"); err != nil {
			expectClass(g, err, ownership.ErrUnreadable)
		}
	})
}

func expectValid(g *WithT, rec ownership.Record) {
	g.Expect(rec.Version).To(BeNumerically(">", 0))
	g.Expect(rec.WriteID).NotTo(BeEmpty())
	for target := range rec.Held {
		_, err := ownership.ParseTarget(string(target))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(rec.Releasing).NotTo(HaveKey(target))
	}
	_, err := ownership.ParseGroupARN(string(rec.Group))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect([]string{rec.Owner.Cluster, rec.Owner.Namespace, rec.Owner.Name, rec.BindingUID}).NotTo(ContainElement(""))
}
