package lean

import (
	"cmp"
	"encoding/json"
)

// item is an item whose attributes are as they came, such as {"S":"web"}.
type item map[string]json.RawMessage

// text is an attribute of type S; empty if it is not there or of another type.
func (i item) text(name string) string {
	var value struct{ S string }
	if json.Unmarshal(i[name], &value) != nil {
		return ""
	}
	return value.S
}

func (i item) size() (bytes int) {
	for name, value := range i {
		bytes += len(name) + len(value)
	}
	return bytes
}

// keys are the names of the hash key and the range key, both of type S.
type keys struct{ hash, rng string }

// place is the hash key and the range key of an item.
type place struct{ hash, rng string }

func newKeys(schema []keyElement) (keys, *refusal) {
	var k keys
	for _, e := range schema {
		switch e.KeyType {
		case "HASH":
			k.hash = e.AttributeName
		case "RANGE":
			k.rng = e.AttributeName
		}
	}
	if k.hash == "" || k.rng == "" {
		return keys{}, invalid("a key schema needs a hash key and a range key here")
	}
	return k, nil
}

func (k keys) of(i item) (place, *refusal) {
	at := place{i.text(k.hash), i.text(k.rng)}
	if at.hash == "" || at.rng == "" {
		return place{}, invalid("the keys " + k.hash + " and " + k.rng + " have to be strings that are not empty")
	}
	return at, nil
}

// table holds its items by hash key and range key.
type table struct {
	definition
	keys    keys
	indexes map[string]keys
	rows    map[string]map[string]item
}

func newTable(d definition) (*table, *refusal) {
	k, refused := newKeys(d.KeySchema)
	t := &table{definition: d, keys: k, indexes: map[string]keys{}, rows: map[string]map[string]item{}}
	for _, index := range d.GlobalSecondaryIndexes {
		if refused != nil {
			break
		}
		if index.Projection.ProjectionType != "KEYS_ONLY" {
			refused = invalid("an index has to project KEYS_ONLY here")
			break
		}
		t.indexes[index.IndexName], refused = newKeys(index.KeySchema)
	}
	return t, refused
}

func (t *table) description() any {
	type active struct {
		index
		IndexStatus string
	}
	var indexes []active
	for _, i := range t.GlobalSecondaryIndexes {
		indexes = append(indexes, active{i, "ACTIVE"})
	}
	return map[string]any{
		"TableName": t.TableName, "TableStatus": "ACTIVE", "KeySchema": t.KeySchema,
		"AttributeDefinitions": t.AttributeDefinitions, "GlobalSecondaryIndexes": indexes,
	}
}

// find returns the items that a query is about, and the keys that it finds them
// by.
func (t *table) find(r request) (found []row, by keys, refused *refusal) {
	by = t.keys
	if r.IndexName != "" {
		if by = t.indexes[r.IndexName]; by == (keys{}) {
			return nil, by, invalid("The table does not have the specified index: " + r.IndexName)
		}
	}
	holds, refused := r.condition(r.KeyConditionExpression)
	if refused != nil {
		return nil, by, refused
	}
	hash, refused := holds.hash(by)
	if refused != nil {
		return nil, by, refused
	}
	for _, rows := range t.among(hash, by) {
		for _, i := range rows {
			if holds.of(i) {
				found = append(found, t.row(i, by))
			}
		}
	}
	return found, by, nil
}

// row is an item that was found, and its place in an answer: by range key, and
// in an index by the item's own keys then.
type row struct {
	item
	rng string
	own place
}

func (t *table) row(i item, by keys) row {
	return row{i, i.text(by.rng), place{i.text(t.keys.hash), i.text(t.keys.rng)}}
}

func (r row) compare(other row) int {
	return cmp.Or(cmp.Compare(r.rng, other.rng), cmp.Compare(r.own.hash, other.own.hash), cmp.Compare(r.own.rng, other.own.rng))
}

// among has the rows that may have the hash key. An index is asked rarely, and
// not kept.
func (t *table) among(hash string, by keys) map[string]map[string]item {
	if by == t.keys {
		return map[string]map[string]item{hash: t.rows[hash]}
	}
	return t.rows
}

// keyOf is the key of an item, and of the index that it was found by.
func (t *table) keyOf(i item, by keys) item {
	key := item{}
	for _, name := range []string{t.keys.hash, t.keys.rng, by.hash, by.rng} {
		key[name] = i[name]
	}
	return key
}

func (t *table) projected(i item, by keys) item {
	if by == t.keys {
		return i
	}
	return t.keyOf(i, by)
}
