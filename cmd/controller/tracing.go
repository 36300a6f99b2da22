package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/pflag"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	ctrl "sigs.k8s.io/controller-runtime"

	"target-ownership-controller/controller/tracing"
	"target-ownership-controller/controller/tracing/otlp"
)

// traceSettings are what the flags say about traces.
type traceSettings struct {
	endpoint string // empty for none
	ratio    float64
}

// bind adds the flags. A binding has a pass every few minutes and one for each
// change, which is little to a collector: by default all are traced, so that
// there is one of the pass that somebody asks about.
func (t *traceSettings) bind(f *pflag.FlagSet) {
	f.StringVar(&t.endpoint, "trace-endpoint", "", "URL of an OpenTelemetry collector that gets a trace of each pass by OTLP over HTTP, such as http://otel-collector:4318, where a URL without a path means /v1/traces; empty: no traces")
	f.Float64Var(&t.ratio, "trace-ratio", 1, "share of the passes that are traced, 0 to 1")
}

func (t *traceSettings) validate() error {
	var errs []error
	u, err := url.Parse(t.endpoint)
	switch {
	case t.endpoint == "":
	case err == nil && u.User != nil: // which whoever may see the flags may read, and so is not repeated
		errs = append(errs, errors.New("--trace-endpoint: the URL has a user or a password; give credentials in the environment variable OTEL_EXPORTER_OTLP_HEADERS"))
	case err != nil || !isCollector(u):
		errs = append(errs, fmt.Errorf("--trace-endpoint: %q is not the URL of a collector such as http://otel-collector:4318", t.endpoint))
	}
	if !(t.ratio >= 0 && t.ratio <= 1) { // nor is NaN
		errs = append(errs, fmt.Errorf("--trace-ratio: %v is not between 0 and 1", t.ratio))
	}
	return errors.Join(errs...)
}

// isCollector has nothing in the URL that would not be used.
func isCollector(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.RawQuery == "" && u.Fragment == ""
}

// traces is nil for none.
type traces struct{ *sdktrace.TracerProvider }

func (t *traceSettings) start(ctx context.Context) (*traces, error) {
	if t.endpoint == "" {
		return nil, nil
	}
	provider, err := otlp.New(ctx, otlp.Options{Endpoint: t.endpoint, Ratio: t.ratio, Version: version})
	if err != nil {
		return nil, fmt.Errorf("--trace-endpoint: %w", err)
	}
	return &traces{provider}, nil
}

func (t *traces) tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.Tracer(tracing.Scope)
}

// flush sends what is left.
func (t *traces) flush(ctx context.Context) {
	if t == nil {
		return
	}
	if err := t.Shutdown(ctx); err != nil {
		ctrl.Log.WithName("tracing").Error(err, "traces were not sent before the end")
	}
}
