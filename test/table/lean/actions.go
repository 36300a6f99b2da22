package lean

import (
	"encoding/json"
	"slices"
)

// definition is what a table was created with, and what it is described by.
type definition struct {
	TableName              string
	KeySchema              []keyElement
	AttributeDefinitions   json.RawMessage
	GlobalSecondaryIndexes []index
}

type keyElement struct{ AttributeName, KeyType string }

type index struct {
	IndexName  string
	KeySchema  []keyElement
	Projection struct{ ProjectionType string }
}

func create(s *Server, t *table, r request) (any, *refusal) {
	if t != nil {
		return nil, refuse("ResourceInUseException", "Table already exists: "+r.TableName)
	}
	t, refused := newTable(r.definition)
	if refused != nil {
		return nil, refused
	}
	s.tables[r.TableName] = t
	return map[string]any{"TableDescription": t.description()}, nil
}

func describe(_ *Server, t *table, _ request) (any, *refusal) {
	return map[string]any{"Table": t.description()}, nil
}

func remove(s *Server, t *table, r request) (any, *refusal) {
	delete(s.tables, r.TableName)
	return map[string]any{"TableDescription": t.description()}, nil
}

type empty struct{}

func get(_ *Server, t *table, r request) (any, *refusal) {
	at, refused := t.keys.of(r.Key)
	if refused != nil {
		return nil, refused
	}
	if found := t.rows[at.hash][at.rng]; found != nil {
		return map[string]any{"Item": found}, nil
	}
	return empty{}, nil
}

func put(_ *Server, t *table, r request) (any, *refusal) {
	return t.write(r, r.Item, func(at place) {
		if t.rows[at.hash] == nil {
			t.rows[at.hash] = map[string]item{}
		}
		t.rows[at.hash][at.rng] = r.Item
	})
}

func del(_ *Server, t *table, r request) (any, *refusal) {
	return t.write(r, r.Key, func(at place) { delete(t.rows[at.hash], at.rng) })
}

// write makes a change if the condition of the call holds for what is there.
func (t *table) write(r request, key item, change func(place)) (any, *refusal) {
	at, refused := t.keys.of(key)
	if refused != nil {
		return nil, refused
	}
	holds, refused := r.condition(r.ConditionExpression)
	if refused != nil {
		return nil, refused
	}
	if !holds.of(t.rows[at.hash][at.rng]) {
		return nil, refuse("ConditionalCheckFailedException", "The conditional request failed")
	}
	change(at)
	return empty{}, nil
}

// page is an answer to a query.
type page struct {
	Items            []item
	Count            int
	LastEvaluatedKey item `json:",omitempty"`
}

// maxPage is how much a query reads at most
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html).
const maxPage = 1 << 20

func query(_ *Server, t *table, r request) (any, *refusal) {
	found, by, refused := t.find(r)
	if refused != nil {
		return nil, refused
	}
	order := row.compare
	if r.ScanIndexForward != nil && !*r.ScanIndexForward {
		order = func(a, b row) int { return b.compare(a) }
	}
	slices.SortFunc(found, order)
	if len(r.ExclusiveStartKey) > 0 {
		start := t.row(r.ExclusiveStartKey, by)
		found = slices.DeleteFunc(found, func(f row) bool { return order(f, start) <= 0 })
	}
	p, bytes := page{Items: []item{}}, 0
	for _, f := range found {
		if bytes >= maxPage || r.Limit > 0 && len(p.Items) == r.Limit {
			p.LastEvaluatedKey = t.keyOf(p.Items[len(p.Items)-1], by)
			break
		}
		next := t.projected(f.item, by)
		bytes += next.size()
		p.Items = append(p.Items, next)
	}
	p.Count = len(p.Items)
	return p, nil
}
