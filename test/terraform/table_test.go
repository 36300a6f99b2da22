package terraform

import (
	"maps"
	"testing"

	"github.com/hashicorp/hcl/v2"
	. "github.com/onsi/gomega"
	"github.com/zclconf/go-cty/cty"

	"target-ownership-controller/ownership/dynamo"
)

// table is the aws_dynamodb_table resource.
type table struct {
	Name               string            `hcl:"name"`
	BillingMode        string            `hcl:"billing_mode"`
	ReadCapacity       *int              `hcl:"read_capacity"`
	WriteCapacity      *int              `hcl:"write_capacity"`
	DeletionProtection bool              `hcl:"deletion_protection_enabled"`
	Tags               map[string]string `hcl:"tags"`
	HashKey            string            `hcl:"hash_key"`
	RangeKey           string            `hcl:"range_key"`
	Attributes         []attribute       `hcl:"attribute,block"`
	Indexes            []index           `hcl:"global_secondary_index,block"`
	TTL                ttl               `hcl:"ttl,block"`
	PointInTime        switched          `hcl:"point_in_time_recovery,block"`
	Encryption         encryption        `hcl:"server_side_encryption,block"`
	Lifecycle          lifecycle         `hcl:"lifecycle,block"`
}

type attribute struct {
	Name string `hcl:"name"`
	Type string `hcl:"type"`
}

type index struct {
	Name          string `hcl:"name"`
	HashKey       string `hcl:"hash_key"`
	RangeKey      string `hcl:"range_key"`
	Projection    string `hcl:"projection_type"`
	ReadCapacity  *int   `hcl:"read_capacity"`
	WriteCapacity *int   `hcl:"write_capacity"`
}

type ttl struct {
	Attribute string `hcl:"attribute_name"`
	Enabled   bool   `hcl:"enabled"`
}

type switched struct {
	Enabled bool `hcl:"enabled"`
}

type encryption struct {
	Enabled bool    `hcl:"enabled"`
	Key     *string `hcl:"kms_key_arn"`
}

type lifecycle struct {
	Rest hcl.Body `hcl:",remain"`
}

func readTable(t *testing.T, given inputs) table {
	t.Helper()
	m := load(t, modulesDir+"ownership-table")
	return decode[table](t, m.block(t, "resource", "aws_dynamodb_table", "this"), m.evaluate(t, given))
}

func TestTableIsWhatTheCodeDefines(t *testing.T) {
	g := NewWithT(t)
	got := readTable(t, inputs{"name": `"shared"`})
	def := dynamo.Definition("shared")

	g.Expect(got.Name).To(Equal(def.Name))
	g.Expect(got.HashKey).To(Equal(def.HashKey))
	g.Expect(got.RangeKey).To(Equal(def.RangeKey))
	g.Expect(got.BillingMode).To(Equal(string(def.Billing)))
	g.Expect(got.TTL).To(Equal(ttl{Attribute: def.TTL, Enabled: true}))
	g.Expect(got.Indexes).To(ConsistOf(index{
		Name:       def.Index.Name,
		HashKey:    def.Index.HashKey,
		RangeKey:   def.Index.RangeKey,
		Projection: string(def.Index.Projection),
	}))

	types := map[string]string{}
	for _, a := range got.Attributes {
		types[a.Name] = a.Type
	}
	want := map[string]string{}
	for _, key := range []string{def.HashKey, def.RangeKey, def.Index.HashKey, def.Index.RangeKey} {
		want[key] = "S"
	}
	g.Expect(types).To(Equal(want), "key attributes, all of them strings, and no others")
	g.Expect(got.Attributes).To(HaveLen(len(want)))
}

func TestTableIsSafeByDefault(t *testing.T) {
	g := NewWithT(t)
	got := readTable(t, nil)
	g.Expect(got.Name).To(Equal("target-ownership"), "the default of --table")
	g.Expect(got.DeletionProtection).To(BeTrue())
	g.Expect(got.PointInTime.Enabled).To(BeTrue())
	g.Expect(got.Encryption).To(Equal(encryption{}), "encrypted by a key that AWS owns")
	g.Expect(got.ReadCapacity).To(BeNil())
	g.Expect(got.WriteCapacity).To(BeNil())
}

func TestTableTakesOptions(t *testing.T) {
	g := NewWithT(t)
	got := readTable(t, inputs{
		"kms_key_arn":         `"` + keyARN + `"`,
		"deletion_protection": `false`,
		"tags":                `{ team = "edge" }`,
		"provisioned":         `{ read = { min = 7 }, index_write = 3 }`,
	})
	g.Expect(got.Encryption.Enabled).To(BeTrue())
	g.Expect(*got.Encryption.Key).To(Equal(keyARN))
	g.Expect(got.DeletionProtection).To(BeFalse())
	g.Expect(got.Tags).To(Equal(map[string]string{"team": "edge"}))
	g.Expect(got.BillingMode).To(Equal("PROVISIONED"))
	g.Expect(*got.ReadCapacity).To(Equal(7))
	g.Expect(*got.WriteCapacity).To(Equal(5))
	g.Expect(*got.Indexes[0].ReadCapacity).To(Equal(5))
	g.Expect(*got.Indexes[0].WriteCapacity).To(Equal(3))
}

func TestOnlyProvisionedCapacityIsScaled(t *testing.T) {
	g := NewWithT(t)
	m := load(t, modulesDir+"ownership-table")
	scaled := func(given inputs) map[string]cty.Value {
		value := m.evaluate(t, given).Variables["local"].GetAttr("scaled")
		return value.AsValueMap()
	}
	g.Expect(scaled(nil)).To(BeEmpty())
	got := scaled(inputs{"provisioned": `{ write = { min = 2, max = 9 } }`})
	g.Expect(maps.Keys(got)).To(ConsistOf("Read", "Write"), "as in dynamodb:table:ReadCapacityUnits")
	g.Expect(got["Write"].GetAttr("max").AsBigFloat().String()).To(Equal("9"))
}
