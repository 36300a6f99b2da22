package otlp

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// logged are the lines since the test began.
var logged []string

func TestMain(m *testing.M) {
	log.SetLogger(funcr.NewJSON(func(line string) { logged = append(logged, line) }, funcr.Options{}))
	os.Exit(m.Run())
}

// stuck takes the first spans once it is let, and counts what it took.
type stuck struct {
	free  chan struct{}
	taken atomic.Int64
}

func (s *stuck) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	<-s.free
	s.taken.Add(int64(len(spans)))
	return nil
}

func (s *stuck) Shutdown(context.Context) error { return nil }

// Spans that the collector does not take in time are dropped and counted, and
// nobody waits. What it takes makes room.
func TestAFullQueueDrops(t *testing.T) {
	g := NewWithT(t)
	logged = nil
	losses, collector := newLosses(), &stuck{free: make(chan struct{})}
	queue := newQueue(collector, losses)
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(queue))
	end := func(spans int) {
		for range spans {
			_, span := provider.Tracer("test").Start(t.Context(), "pass")
			span.End()
		}
	}
	end(capacity + 3)
	g.Expect(losses.spans.Load()).To(BeEquivalentTo(3))
	g.Expect(logged).To(ConsistOf(And(
		ContainSubstring(`"logger":"tracing"`), ContainSubstring(`"droppedSpans":1`), ContainSubstring(errFull.Error()))))

	close(collector.free)
	g.Expect(provider.ForceFlush(t.Context())).To(Succeed())
	end(5)
	g.Expect(provider.Shutdown(t.Context())).To(Succeed())
	g.Expect(losses.spans.Load()).To(BeEquivalentTo(3))
	g.Expect(collector.taken.Load()).To(BeEquivalentTo(capacity + 5))
	g.Expect(queue.waiting.Load()).To(BeZero())
}

// failing refuses everything.
type failing struct{}

func (failing) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return errors.New("boom") }
func (failing) Shutdown(context.Context) error                             { return nil }

// An outage is told once a minute at most, with what it has cost so far, and
// leaves the queue empty.
func TestAnOutageIsNoFlood(t *testing.T) {
	g := NewWithT(t)
	logged = nil
	losses := newLosses()
	otel.SetErrorHandler(losses)
	queue := newQueue(failing{}, losses)
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(queue))
	for range 4 {
		_, span := provider.Tracer("test").Start(t.Context(), "pass")
		span.End()
		otel.Handle(provider.ForceFlush(t.Context()))
	}
	g.Expect(losses.spans.Load()).To(BeEquivalentTo(4))
	g.Expect(queue.waiting.Load()).To(BeZero())
	g.Expect(logged).To(ConsistOf(ContainSubstring("boom")))
	g.Expect(losses.seldom.Interval).To(Equal(time.Minute))
}

// The values beside a message of OpenTelemetry may be secrets.
func TestWhatOpenTelemetryLogsHasNoValues(t *testing.T) {
	g := NewWithT(t)
	logged = nil
	logger := newLosses().logger().WithName("otel").WithValues("header", "hush")
	logger.Info("exporting", "header", "hush")
	logger.Error(errors.New("missing '='"), "parse headers", "input", "hush")
	g.Expect(logged).To(ConsistOf(ContainSubstring(`parse headers: missing '='`)))
	g.Expect(strings.Join(logged, "")).NotTo(ContainSubstring("hush"))
}
