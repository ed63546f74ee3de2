package trace

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"
)

// closeWithin bounds how long Close waits for a collector.
const closeWithin = time.Second

// localCollector is where a collector listens if the environment names none, as OpenTelemetry says.
const localCollector = "http://localhost:4318/v1/traces"

// Tracer begins traces and sends their spans. A nil Tracer records nothing.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   otel.Tracer
	queue    *queue
}

// Config is what a Tracer needs.
type Config struct {
	Log      *slog.Logger
	Instance string // name of this instance
	Version  string
}

// New makes a Tracer from the variables OTEL_* of the environment. It does not connect to the collector.
func New(ctx context.Context, c Config) (*Tracer, error) {
	protocol := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), "http/protobuf")
	if protocol != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL %q: fleetd sends traces as http/protobuf; leave the variable out, "+
			"and name the collector's address for OTLP over HTTP, which often has the port 4318", protocol)
	}
	var options []otlptracehttp.Option
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		options = append(options, otlptracehttp.WithEndpointURL(localCollector)) // the library would use TLS
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("prepare the export of traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "fleetd"), attribute.String("service.version", c.Version),
		attribute.String("service.instance.id", c.Instance),
	), resource.WithFromEnv()) // the last one wins
	if err != nil {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	t := &Tracer{queue: newQueue(exporter, c.Log)}
	t.provider = sdk.NewTracerProvider(sdk.WithResource(about), sdk.WithSpanProcessor(t.queue))
	t.tracer = t.provider.Tracer(scope)
	return t, nil
}

// Start begins a trace, or a child of the context's span.
func (t *Tracer) Start(ctx context.Context, kind Kind, name string, attrs ...Attr) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	_, span := t.tracer.Start(ctx, name, otel.WithSpanKind(kind), otel.WithAttributes(attrs...))
	s := Span{span}
	return s.In(ctx), s
}

// Serve begins the span of an HTTP request: a child of the caller's, if the header traceparent (W3C Trace Context) names one.
func (t *Tracer) Serve(r *http.Request, name string, attrs ...Attr) (*http.Request, Span) {
	if t == nil {
		return r, Span{}
	}
	caller := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(r.Header))
	_, span := t.tracer.Start(caller, name, otel.WithSpanKind(Server), otel.WithAttributes(attrs...))
	s := Span{span}
	return r.WithContext(s.In(r.Context())), s
}

// Record records what is over as a trace of its own.
func (t *Tracer) Record(began, ended time.Time, name string, failed bool, attrs ...Attr) {
	if t == nil {
		return
	}
	_, span := t.tracer.Start(context.Background(), name, otel.WithTimestamp(began), otel.WithAttributes(attrs...))
	s := Span{span}
	if failed {
		s.Fail()
	}
	s.endAt(ended)
}

// Counts are spans by what became of them.
type Counts struct{ Sent, Dropped int64 }

// Counts counts the spans that a collector took, and those that were dropped.
func (t *Tracer) Counts() Counts {
	if t == nil {
		return Counts{}
	}
	return Counts{t.queue.sender.sent.Load(), t.queue.sender.dropped.Load()}
}

// Close sends what waits, and gives up after closeWithin.
func (t *Tracer) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	if t.provider.Shutdown(ctx) != nil {
		_ = t.queue.sender.Shutdown(context.Background()) // interrupts the request under way; its spans are counted as dropped
	}
}

// queue batches spans for a sender. It never waits: a span that finds it full is dropped.
type queue struct {
	sdk.SpanProcessor // batches
	sender            *sender
	room              int64 // spans
}

func newQueue(exporter sdk.SpanExporter, log *slog.Logger) *queue {
	q := &queue{sender: &sender{exporter: exporter, log: log}}
	q.SpanProcessor = sdk.NewBatchSpanProcessor(q.sender, func(o *sdk.BatchSpanProcessorOptions) { q.room = int64(o.MaxQueueSize) })
	return q
}

// OnEnd implements sdk.SpanProcessor. The batch processor has room for as many, and would not count what it drops.
func (q *queue) OnEnd(s sdk.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	if q.sender.waiting.Add(1) > q.room {
		q.sender.waiting.Add(-1)
		q.sender.dropped.Add(1)
		return
	}
	q.SpanProcessor.OnEnd(s)
}

// sender exports spans and counts what becomes of them.
type sender struct {
	exporter sdk.SpanExporter
	log      *slog.Logger

	waiting, sent, dropped atomic.Int64
	failing                atomic.Bool
}

// ExportSpans implements sdk.SpanExporter.
func (s *sender) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := s.exporter.ExportSpans(ctx, spans)
	n := int64(len(spans))
	s.waiting.Add(-n)
	if err != nil {
		s.dropped.Add(n)
	} else {
		s.sent.Add(n)
	}
	switch was := s.failing.Swap(err != nil); {
	case err != nil && !was:
		s.log.Warn("traces not sent: their spans are dropped until the collector takes them", "error", err)
	case err == nil && was:
		s.log.Info("traces sent again", "dropped", s.dropped.Load())
	}
	return nil // it is logged: the library would write it to the standard error
}

// Shutdown implements sdk.SpanExporter.
func (s *sender) Shutdown(ctx context.Context) error { return s.exporter.Shutdown(ctx) }
