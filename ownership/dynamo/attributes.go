package dynamo

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"target-ownership-controller/ownership"
)

// item is an item of the table. It is encoded with attributevalue and decoded
// by hand: attributevalue reads a missing or NULL map as an empty one, and
// here that would be a record that owns nothing.
type item = map[string]types.AttributeValue

// timeLayout is RFC 3339 in UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

func formatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

func attribute[T types.AttributeValue](from item, name string) (T, error) {
	value, found := from[name]
	typed, ok := value.(T)
	switch {
	case !found:
		return typed, fmt.Errorf("attribute %s is missing", name)
	case !ok:
		return typed, fmt.Errorf("attribute %s has the wrong type", name)
	}
	return typed, nil
}

// text returns a string that must not be empty.
func text(from item, name string) (string, error) {
	s, err := attribute[*types.AttributeValueMemberS](from, name)
	if err != nil {
		return "", err
	}
	if s.Value == "" {
		return "", fmt.Errorf("attribute %s is empty", name)
	}
	return s.Value, nil
}

// number returns an integer that must be at least least.
func number(from item, name string, least int64) (int64, error) {
	n, err := attribute[*types.AttributeValueMemberN](from, name)
	if err != nil {
		return 0, err
	}
	i, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil || i < least {
		return 0, fmt.Errorf("attribute %s is %.40q, want an integer from %d", name, n.Value, least)
	}
	return i, nil
}

// note returns a string for people. It decides nothing, so nothing is wrong
// with it.
func note(from item, name string) string {
	if s, ok := from[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// noteTime returns a time for people, zero if there is none.
func noteTime(from item, name string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, note(from, name))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

func revision(from item) (ownership.Revision, error) {
	if err := checkSchema(from); err != nil {
		return ownership.Revision{}, err
	}
	version, err := number(from, AttrVersion, 1)
	if err != nil {
		return ownership.Revision{}, err
	}
	writeID, err := text(from, AttrWriteID)
	return ownership.Revision{Version: version, WriteID: writeID}, err
}

func checkSchema(from item) error {
	schema, err := number(from, AttrSchemaVersion, 1)
	if err != nil {
		return err
	}
	if schema > ownership.SchemaVersion {
		return fmt.Errorf("schema version %d is newer than %d: upgrade this controller", schema, ownership.SchemaVersion)
	}
	return nil
}
