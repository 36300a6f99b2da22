package otlp

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// losses counts spans that were dropped, and logs why, once a minute at most:
// a collector that is down for a day is no flood of lines.
type losses struct {
	spans  atomic.Int64
	seldom rate.Sometimes
}

func newLosses() *losses { return &losses{seldom: rate.Sometimes{Interval: time.Minute}} }

func (l *losses) lost(spans int) { l.spans.Add(int64(spans)) }

// Handle implements otel.ErrorHandler.
func (l *losses) Handle(err error) {
	l.seldom.Do(func() {
		log.Log.WithName("tracing").Error(err, "traces are incomplete; passes go on", "droppedSpans", l.spans.Load())
	})
}

// logger is for what OpenTelemetry logs itself.
func (l *losses) logger() logr.Logger { return logr.New(sink{l}) }

// sink keeps the errors, without the values beside them: those of a header that
// cannot be read are secrets.
type sink struct{ losses *losses }

func (sink) Init(logr.RuntimeInfo)            {}
func (sink) Enabled(int) bool                 { return false }
func (sink) Info(int, string, ...any)         {}
func (s sink) WithValues(...any) logr.LogSink { return s }
func (s sink) WithName(string) logr.LogSink   { return s }
func (s sink) Error(err error, what string, _ ...any) {
	s.losses.Handle(fmt.Errorf("%s: %w", what, err))
}
