package dynamo_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/ownership/history"
)

// The item is what docs/protocol says, for other programs and for people who
// look at it in the console.
func TestItemIsLaidOutAsTheProtocolSays(t *testing.T) {
	g := NewWithT(t)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	rec := record()
	rec.Held = map[ownership.Target]time.Time{"10.0.0.5:8080": noon, "[2001:db8::5]:8080": noon}
	rec.Releasing = map[ownership.Target]time.Time{"i-0abc:30080": noon.Add(time.Hour)}
	rec.Revision = ownership.Revision{Version: 8, WriteID: "write-8"}
	rec.UpdatedAt, rec.ControllerVersion = noon, "v1.2.3"
	const want = `{
		"targetGroup": {"S": "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef"},
		"owner": {"S": "a/shop/web"},
		"clusterID": {"S": "a"},
		"bindingUID": {"S": "8a5c9b52-6d7e-4a53-9c8f-3f0f6f2d1a10"},
		"mode": {"S": "shared"},
		"held": {"M": {
			"10.0.0.5:8080": {"M": {"since": {"S": "2026-03-01T12:00:00.123Z"}}},
			"[2001:db8::5]:8080": {"M": {"since": {"S": "2026-03-01T12:00:00.123Z"}}}
		}},
		"releasing": {"M": {"i-0abc:30080": {"M": {"since": {"S": "2026-03-01T13:00:00.123Z"}}}}},
		"version": {"N": "8"},
		"writeID": {"S": "write-8"},
		"schemaVersion": {"N": "1"},
		"updatedAt": {"S": "2026-03-01T12:00:00.123Z"},
		"heldCount": {"N": "2"},
		"releasingCount": {"N": "1"},
		"controllerVersion": {"S": "v1.2.3"}
	}`

	sdk, e := serve(t, map[string][]reply{"PutItem": {success("{}")}})
	seen := ownership.Revision{Version: 7, WriteID: "write-7"}
	g.Expect(dynamo.New(sdk, "owners", dynamo.Options{}).Put(t.Context(), rec, seen)).To(Succeed())
	expectJSON(t, e.last(t, "PutItem")["Item"], want)
}

// The registry's entries have no clusterID: it would put them into the index.
func TestClusterIsLaidOutAsTheProtocolSays(t *testing.T) {
	g := NewWithT(t)
	const want = `{
		"targetGroup": {"S": "cluster"},
		"owner": {"S": "a"},
		"fingerprint": {"S": "uid-of-kube-system"},
		"state": {"S": "Drained"},
		"heartbeatSeq": {"N": "0"},
		"heartbeatAt": {"S": "2026-03-01T12:00:00.000Z"},
		"version": {"N": "1"},
		"writeID": {"S": "claim"},
		"schemaVersion": {"N": "1"},
		"controllerVersion": {"S": "v1.2.3"}
	}`
	sdk, e := serve(t, map[string][]reply{"PutItem": {success("{}")}})
	g.Expect(dynamo.New(sdk, "owners", dynamo.Options{}).PutCluster(t.Context(), ownership.Cluster{
		ID: "a", Fingerprint: "uid-of-kube-system", State: ownership.ClusterDrained,
		HeartbeatAt: time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("", 3600)),
		Revision:    ownership.Revision{Version: 1, WriteID: "claim"}, ControllerVersion: "v1.2.3",
	}, ownership.Revision{})).To(Succeed())
	expectJSON(t, e.last(t, "PutItem")["Item"], want)
}

// Local engines read consistently whether asked to or not.
func TestDecidingReadsAreStronglyConsistent(t *testing.T) {
	g := NewWithT(t)
	sdk, e := serve(t, map[string][]reply{"Query": {success(`{"Items":[]}`)}, "GetItem": {success("{}")}})
	table := dynamo.New(sdk, "owners", dynamo.Options{})

	_, err := table.Records(t.Context(), group)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e.last(t, "Query")).To(And(HaveKeyWithValue("ConsistentRead", true), Not(HaveKey("Limit"))))
	_, err = table.Clusters(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e.last(t, "Query")).To(HaveKeyWithValue("ConsistentRead", true))
	_, err = table.Cluster(t.Context(), "a")
	g.Expect(err).To(MatchError(ownership.ErrNotFound))
	g.Expect(e.last(t, "GetItem")).To(HaveKeyWithValue("ConsistentRead", true))

	// DynamoDB refuses a consistent read of a global index.
	_, err = table.Groups(t.Context(), "a")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e.last(t, "Query")).To(And(HaveKeyWithValue("IndexName", "by-cluster"), HaveKeyWithValue("ConsistentRead", false)))
}

// All that a page has is paid for, whoever asked for less.
func TestHistoryReadsNoMoreThanIsAskedFor(t *testing.T) {
	g := NewWithT(t)
	sdk, e := serve(t, map[string][]reply{"Query": {success(`{"Items":[]}`)}})
	for _, c := range []struct {
		query history.Query
		limit OmegaMatcher
	}{
		{history.Query{Group: group, Limit: 30}, HaveKeyWithValue("Limit", 30.0)},
		{history.Query{Group: group}, Not(HaveKey("Limit"))},
		{history.Query{Group: group, Limit: 30, Target: "10.0.0.5:8080"}, Not(HaveKey("Limit"))}, // few of them may be about it
	} {
		for _, err := range dynamo.New(sdk, "owners", dynamo.Options{}).History(t.Context(), c.query) {
			g.Expect(err).NotTo(HaveOccurred())
		}
		g.Expect(e.last(t, "Query")).To(c.limit)
	}
}

func expectJSON(t *testing.T, got any, want string) {
	t.Helper()
	var wanted any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("item (-want +got):\n%s", diff)
	}
}
