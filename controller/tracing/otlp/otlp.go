// Package otlp sends traces to an OpenTelemetry collector, beside the passes:
// one that is slow or gone delays none of them.
package otlp

import (
	"context"
	"net/url"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Options are where traces go, and which.
type Options struct {
	// Endpoint is the URL of the collector, for OTLP over HTTP. Without a path
	// it is that of the protocol.
	Endpoint string
	// Ratio is the share of passes that are traced, 0 to 1.
	Ratio float64
	// Version is that of the controller.
	Version string
}

// tracesPath is the protocol's default
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp-request).
const tracesPath = "/v1/traces"

// New returns what makes traces and sends them. Headers, certificates, timeouts
// and attributes of the resource come from the environment variables of
// OpenTelemetry. What goes wrong with all that is logged, and is no error.
func New(ctx context.Context, o Options) (*sdktrace.TracerProvider, error) {
	losses := newLosses()
	otel.SetErrorHandler(losses)
	otel.SetLogger(losses.logger())
	endpoint, err := tracesURL(o.Endpoint)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint))
	if err != nil {
		return nil, err
	}
	return sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.Ratio))),
		sdktrace.WithResource(o.resource(ctx)),
		sdktrace.WithSpanProcessor(newQueue(exporter, losses)),
	), nil
}

func tracesURL(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", err
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = tracesPath
	}
	return u.String(), nil
}

// resource says who makes the traces. OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES go before what is said here.
func (o Options) resource(ctx context.Context) *resource.Resource {
	r, err := resource.New(ctx,
		resource.WithHost(), // in a pod, its name
		resource.WithAttributes(
			attribute.String("service.name", "target-ownership-controller"),
			attribute.String("service.version", o.Version),
		),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(),
	)
	if err != nil {
		otel.Handle(err)
	}
	return r
}
