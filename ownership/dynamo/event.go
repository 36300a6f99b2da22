package dynamo

import (
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
)

// encodeEntry writes each event in full and, for filters in the console, the
// targets of each kind once more in an attribute that is called like the kind.
func encodeEntry(e history.Entry) item {
	it := key(historyHash(e.Group), historyRange(e))
	it[AttrCluster], it[AttrBinding], it[AttrBy] = textValue(e.Cluster), textValue(e.Binding), textValue(e.By)
	var events []types.AttributeValue
	byKind := map[history.What]map[string]bool{}
	for _, event := range e.Events {
		events = append(events, encodeEvent(event))
		for _, t := range event.Targets {
			if byKind[event.What] == nil {
				byKind[event.What] = map[string]bool{}
			}
			byKind[event.What][string(t)] = true
		}
	}
	it[AttrEvents] = &types.AttributeValueMemberL{Value: events}
	for kind, targets := range byKind {
		it[string(kind)] = &types.AttributeValueMemberSS{Value: slices.Sorted(maps.Keys(targets))}
	}
	if !e.Expires.IsZero() {
		it[AttrExpiresAt] = numberValue(e.Expires.Unix())
	}
	return it
}

func encodeEvent(event history.Event) types.AttributeValue {
	m := item{
		AttrWhat: textValue(string(event.What)), AttrReason: textValue(event.Reason),
		AttrTargets: listValue(event.Targets),
	}
	if event.More > 0 {
		m[AttrMore] = numberValue(int64(event.More))
	}
	if len(event.Others) > 0 {
		m[AttrOthers] = listValue(event.Others)
	}
	return &types.AttributeValueMemberM{Value: m}
}

func decodeEvents(from item) []history.Event {
	list, err := attribute[*types.AttributeValueMemberL](from, AttrEvents)
	if err != nil {
		return nil
	}
	var events []history.Event
	for _, value := range list.Value {
		m, isMap := value.(*types.AttributeValueMemberM)
		if !isMap {
			continue
		}
		more, err := number(m.Value, AttrMore, 1)
		if err != nil {
			more = 0
		}
		events = append(events, history.Event{
			What: history.What(note(m.Value, AttrWhat)), Reason: note(m.Value, AttrReason),
			Targets: decodeList[ownership.Target](m.Value, AttrTargets), More: int(more),
			Others: decodeList[string](m.Value, AttrOthers),
		})
	}
	return events
}

func textValue(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func numberValue(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func listValue[S ~string](list []S) types.AttributeValue {
	values := make([]types.AttributeValue, len(list))
	for i, s := range list {
		values[i] = textValue(string(s))
	}
	return &types.AttributeValueMemberL{Value: values}
}

func decodeList[S ~string](from item, name string) []S {
	list, err := attribute[*types.AttributeValueMemberL](from, name)
	if err != nil {
		return nil
	}
	var out []S
	for _, value := range list.Value {
		if s, isText := value.(*types.AttributeValueMemberS); isText {
			out = append(out, S(s.Value))
		}
	}
	return out
}
