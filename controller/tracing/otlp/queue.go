package otlp

import (
	"context"
	"errors"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// capacity is how many spans wait for the collector at most: those of about two
// hundred passes, at 1 to 2 KB each.
const capacity = 2048

var errFull = errors.New("the collector does not take spans as fast as they come")

// queue keeps ended spans until they are sent, in batches. It is the SDK's own,
// with its bound checked before it, so that what is dropped is counted.
type queue struct {
	sdktrace.SpanProcessor
	waiting atomic.Int64
	losses  *losses
}

func newQueue(to sdktrace.SpanExporter, l *losses) *queue {
	q := &queue{losses: l}
	q.SpanProcessor = sdktrace.NewBatchSpanProcessor(sender{to, q}, sdktrace.WithMaxQueueSize(capacity))
	return q
}

// OnEnd takes a span or drops it; it never waits.
func (q *queue) OnEnd(s sdktrace.ReadOnlySpan) {
	if q.waiting.Add(1) > capacity {
		q.waiting.Add(-1)
		q.losses.lost(1)
		q.losses.Handle(errFull)
		return
	}
	q.SpanProcessor.OnEnd(s)
}

// sender sends batches of the queue.
type sender struct {
	sdktrace.SpanExporter
	queue *queue
}

// ExportSpans implements sdktrace.SpanExporter. The error goes to the handler
// of errors.
func (s sender) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := s.SpanExporter.ExportSpans(ctx, spans)
	s.queue.waiting.Add(-int64(len(spans)))
	if err != nil {
		s.queue.losses.lost(len(spans))
	}
	return err
}
