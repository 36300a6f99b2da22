package dynamo_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
)

type object = map[string]any

// description is DescribeTable's answer for a table as docs/protocol wants it.
func description() object {
	keys := func(hash, rng string) []object {
		return []object{{"AttributeName": hash, "KeyType": "HASH"}, {"AttributeName": rng, "KeyType": "RANGE"}}
	}
	return object{
		"TableName":   "owners",
		"TableStatus": "ACTIVE",
		"KeySchema":   keys("targetGroup", "owner"),
		"AttributeDefinitions": []object{
			{"AttributeName": "targetGroup", "AttributeType": "S"},
			{"AttributeName": "owner", "AttributeType": "S"},
			{"AttributeName": "clusterID", "AttributeType": "S"},
		},
		"GlobalSecondaryIndexes": []object{
			{"IndexName": "other", "IndexStatus": "ACTIVE", "KeySchema": keys("x", "y")},
			{"IndexName": "by-cluster", "IndexStatus": "ACTIVE", "KeySchema": keys("clusterID", "targetGroup")},
		},
	}
}

func index(table object) object { return table["GlobalSecondaryIndexes"].([]object)[1] }

func TestVerify(t *testing.T) {
	for name, c := range map[string]struct {
		change func(object)
		class  error
		says   string
	}{
		"as defined":   {func(object) {}, nil, ""},
		"updating":     {func(d object) { d["TableStatus"] = "UPDATING" }, nil, ""},
		"creating":     {func(d object) { d["TableStatus"] = "CREATING" }, ownership.ErrTableCreating, "wait"},
		"deleting":     {func(d object) { d["TableStatus"] = "DELETING" }, ownership.ErrTableMissing, "DELETING"},
		"archived":     {func(d object) { d["TableStatus"] = "ARCHIVED" }, ownership.ErrTableMissing, "ARCHIVED"},
		"key locked":   {func(d object) { d["TableStatus"] = "INACCESSIBLE_ENCRYPTION_CREDENTIALS" }, ownership.ErrUnavailable, "ENCRYPTION"},
		"global table": {func(d object) { d["Replicas"] = []object{{"RegionName": "us-east-1"}} }, ownership.ErrTableMissing, "global table"},
		"strongly consistent global table": {func(d object) {
			d["Replicas"], d["MultiRegionConsistency"] = []object{{"RegionName": "us-east-1"}}, "STRONG"
		}, ownership.ErrTableMissing, `"STRONG"`},
		"keys swapped": {func(d object) {
			d["KeySchema"] = []object{{"AttributeName": "owner", "KeyType": "HASH"}, {"AttributeName": "targetGroup", "KeyType": "RANGE"}}
		}, ownership.ErrTableMissing, `hash "targetGroup", range "owner"`},
		"no range key": {func(d object) {
			d["KeySchema"] = []object{{"AttributeName": "targetGroup", "KeyType": "HASH"}}
		}, ownership.ErrTableMissing, `range ""`},
		"numeric key": {func(d object) {
			d["AttributeDefinitions"].([]object)[1]["AttributeType"] = "N"
		}, ownership.ErrTableMissing, "type N"},
		"no index":         {func(d object) { delete(d, "GlobalSecondaryIndexes") }, ownership.ErrTableMissing, "no index by-cluster"},
		"index of others":  {func(d object) { index(d)["IndexName"] = "by-owner" }, ownership.ErrTableMissing, "no index by-cluster"},
		"index with key":   {func(d object) { index(d)["KeySchema"] = d["KeySchema"] }, ownership.ErrTableMissing, "index by-cluster"},
		"index in the air": {func(d object) { index(d)["IndexStatus"] = "CREATING" }, ownership.ErrTableCreating, "index by-cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			table := description()
			c.change(table)
			body, err := json.Marshal(object{"Table": table})
			g.Expect(err).NotTo(HaveOccurred())
			sdk, _ := serve(t, map[string][]reply{"DescribeTable": {success(string(body))}})

			err = dynamo.New(sdk, "owners", dynamo.Options{}).Verify(t.Context())
			expectClass(g, err, c.class)
			if c.class != nil {
				g.Expect(err.Error()).To(And(ContainSubstring(c.says), ContainSubstring(`table "owners"`)))
			}
		})
	}
}

// A missing index answers a query like a malformed request.
func TestGroupsSaysThatTheIndexIsMissing(t *testing.T) {
	g := NewWithT(t)
	table := description()
	delete(table, "GlobalSecondaryIndexes")
	body, err := json.Marshal(object{"Table": table})
	g.Expect(err).NotTo(HaveOccurred())
	sdk, _ := serve(t, map[string][]reply{
		"Query":         {refusal("ValidationException")},
		"DescribeTable": {success(string(body))},
	})
	_, err = dynamo.New(sdk, "owners", dynamo.Options{}).Groups(t.Context(), "a")
	expectClass(g, err, ownership.ErrTableMissing)
	g.Expect(err).To(MatchError(ContainSubstring("no index by-cluster")))
}
