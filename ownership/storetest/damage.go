package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

// Damage makes the item of a record unreadable.
type Damage struct {
	Name string
	// Apply changes the attributes, named as in docs/protocol. Values are
	// string, float64, bool, nil, []any and map[string]any.
	Apply func(item map[string]any)
}

func set(name, attribute string, value any) Damage {
	return Damage{name, func(item map[string]any) { item[attribute] = value }}
}

func without(attribute string) Damage {
	return Damage{"no " + attribute, func(item map[string]any) { delete(item, attribute) }}
}

func hold(name, key string) Damage {
	return Damage{name, func(item map[string]any) {
		item["held"].(map[string]any)[key] = map[string]any{"since": "2026-03-01T12:00:00Z"}
	}}
}

var damages = []Damage{
	set("newer schema", "schemaVersion", 2.0),
	set("schema version not a number", "schemaVersion", "1"),
	set("schema version zero", "schemaVersion", 0.0),
	set("held is a list", "held", []any{"10.0.0.5:8080"}),
	set("held is null", "held", nil),
	set("held is text", "held", "{}"),
	set("releasing is null", "releasing", nil),
	set("an entry is null", "held", map[string]any{"10.0.0.5:8080": nil}),
	set("an entry is text", "held", map[string]any{"10.0.0.5:8080": "since noon"}),
	set("version is text", "version", "1"),
	set("version is a fraction", "version", 1.5),
	set("version is zero", "version", 0.0),
	set("write ID is empty", "writeID", ""),
	set("binding UID is a number", "bindingUID", 7.0),
	set("cluster ID of another", "clusterID", "z"),
	without("schemaVersion"),
	without("held"),
	without("releasing"),
	without("version"),
	without("writeID"),
	without("bindingUID"),
	without("clusterID"),
	hold("IPv6 key in long form", "[2001:0db8::5]:8080"),
	hold("IPv4 key in IPv6 form", "[::ffff:10.0.0.7]:8080"),
	hold("key without a port", "10.0.0.7"),
	hold("key that is no target", "web:8080"),
	hold("held and releasing", "10.0.0.6:8080"),
}

var clusterDamages = []Damage{
	set("newer schema", "schemaVersion", 2.0),
	set("version is zero", "version", 0.0),
	set("fingerprint is empty", "fingerprint", ""),
	set("fingerprint is a number", "fingerprint", 7.0),
	set("heartbeat is text", "heartbeatSeq", "7"),
	set("heartbeat below zero", "heartbeatSeq", -1.0),
	set("state is empty", "state", ""),
	set("state is a number", "state", 1.0),
	without("schemaVersion"),
	without("writeID"),
	without("fingerprint"),
	without("heartbeatSeq"),
	without("state"),
}

// unreadable: an item that a reader does not understand may hold anything. It
// has to be seen, and it must not hide the others.
func unreadable(t *testing.T, h Harness) {
	for i, damage := range damages {
		t.Run(damage.Name, func(t *testing.T) {
			g := NewWithT(t)
			group := numbered(i)
			before, broken, behind := record(group, owner("a")), record(group, owner("b")), record(group, owner("c"))
			create(t, h.Store, before, broken, behind)
			h.Damage(t, ownership.Key{Group: group, Owner: broken.Owner}, damage)

			got, err := h.Store.Records(t.Context(), group)
			g.Expect(err).NotTo(HaveOccurred())
			if diff := cmp.Diff([]ownership.Record{before, behind}, got.Records, unordered); diff != "" {
				t.Errorf("readable records (-want +got):\n%s", diff)
			}
			g.Expect(got.Unreadable).To(HaveLen(1))
			g.Expect(got.Unreadable[0].Owner).To(Equal("b/shop/web"))
			g.Expect(got.Unreadable[0].Reason).NotTo(BeEmpty())
			// To create over it would be to read it as absent.
			expectConflict(t, h.Store.Put(t.Context(), broken, ownership.Revision{}))
		})
	}
}
