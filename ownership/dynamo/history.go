package dynamo

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
)

// HistoryPrefix and the ARN of a target group make the hash key of the group's
// history. It is no ARN, so no look at a group returns history.
const HistoryPrefix = "history#"

// historyTime is RFC 3339 in UTC with all nanoseconds, so that keys are in the
// order of their times.
const historyTime = "2006-01-02T15:04:05.000000000Z"

func historyHash(group ownership.GroupARN) string { return HistoryPrefix + string(group) }

func historyRange(e history.Entry) string {
	return e.Time.UTC().Format(historyTime) + "#" + e.ID
}

type ofHistory struct{}

// OfHistory reports whether an AWS call with this context reads or writes
// history, so that no target depends on it.
func OfHistory(ctx context.Context) bool { return ctx.Value(ofHistory{}) != nil }

func forHistory(ctx context.Context) context.Context {
	return context.WithValue(ctx, ofHistory{}, true)
}

// Record implements [history.Store]. The entry is cut to what an item has room
// for.
func (t *Table) Record(ctx context.Context, e history.Entry) error {
	ctx, cancel := context.WithTimeout(forHistory(ctx), t.timeout)
	defer cancel()
	_, err := t.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(t.name), Item: encodeEntry(e.Bound())}, t.entryAttempts)
	if err != nil {
		return t.explain(ctx, fmt.Sprintf("write history of %s", e.Group), err)
	}
	return nil
}

func (t *Table) entryAttempts(o *dynamodb.Options) { o.RetryMaxAttempts = t.attempts }

// History implements [history.Reader]. It reads pages as they are needed.
func (t *Table) History(ctx context.Context, q history.Query) iter.Seq2[history.Entry, error] {
	op := fmt.Sprintf("read the history of %s", q.Group)
	return func(yield func(history.Entry, error) bool) {
		pages, err := t.historyPages(q)
		if err != nil {
			yield(history.Entry{}, fmt.Errorf("%s: %w", op, err))
			return
		}
		for left := q.Limit; pages.HasMorePages(); {
			page, err := t.nextPage(forHistory(ctx), pages)
			if err != nil {
				yield(history.Entry{}, t.explain(ctx, op, err))
				return
			}
			for _, it := range page.Items {
				e := decodeEntry(it)
				if q.Target != "" && !e.Concerns(q.Target) {
					continue
				}
				if left--; !yield(e, nil) || left == 0 {
					return
				}
			}
		}
	}
}

// historyPages reads backwards, and eventually consistent: nothing is decided
// by it, and it costs half. A page has no more than is asked for, since all that
// it could have, up to 1 MB, is paid for.
func (t *Table) historyPages(q history.Query) (*dynamodb.QueryPaginator, error) {
	selected := expression.Key(AttrTargetGroup).Equal(expression.Value(historyHash(q.Group)))
	if !q.Since.IsZero() {
		selected = selected.And(expression.Key(AttrOwner).GreaterThanEqual(expression.Value(q.Since.UTC().Format(historyTime))))
	}
	expr, err := expression.NewBuilder().WithKeyCondition(selected).Build()
	if err != nil {
		return nil, err
	}
	size := t.pageSize
	if size == nil && q.Limit > 0 && q.Target == "" {
		size = aws.Int32(int32(min(q.Limit, math.MaxInt32)))
	}
	return dynamodb.NewQueryPaginator(t.client, &dynamodb.QueryInput{
		TableName:                 aws.String(t.name),
		KeyConditionExpression:    expr.KeyCondition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
		ScanIndexForward:          aws.Bool(false),
		Limit:                     size,
	}), nil
}

// decodeEntry leaves empty what it does not understand.
func decodeEntry(from item) history.Entry {
	stamp, id, _ := strings.Cut(note(from, AttrOwner), "#")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		at = time.Time{}
	}
	e := history.Entry{
		Group:   ownership.GroupARN(strings.TrimPrefix(note(from, AttrTargetGroup), HistoryPrefix)),
		Time:    at.UTC(),
		ID:      id,
		Cluster: note(from, AttrCluster),
		Binding: note(from, AttrBinding),
		By:      note(from, AttrBy),
		Events:  decodeEvents(from),
	}
	if seconds, err := number(from, AttrExpiresAt, 1); err == nil {
		e.Expires = time.Unix(seconds, 0).UTC()
	}
	return e
}
