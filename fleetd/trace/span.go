package trace

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	otel "go.opentelemetry.io/otel/trace"

	"troupe/schema/logs"
)

// scope names what made the spans.
const scope = "troupe/fleetd"

// Kind is the side of a span in an exchange.
type Kind = otel.SpanKind

// The kinds of spans.
const (
	Internal = otel.SpanKindInternal
	Server   = otel.SpanKindServer
	Client   = otel.SpanKindClient
	Producer = otel.SpanKindProducer
	Consumer = otel.SpanKindConsumer
)

// Attr is an attribute of a span.
type Attr = attribute.KeyValue

// String makes an attribute.
func String[T ~string](key string, value T) Attr { return attribute.String(key, string(value)) }

// Strings makes an attribute with several values.
func Strings[T ~string](key string, values []T) Attr {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return attribute.StringSlice(key, all)
}

// Int makes an attribute.
func Int(key string, value int) Attr { return attribute.Int(key, value) }

// Span is something that fleetd does and that takes time. The zero Span records nothing.
type Span struct{ span otel.Span }

// Current is the span of a context, the zero Span if it has none.
func Current(ctx context.Context) Span {
	if s := otel.SpanFromContext(ctx); s.SpanContext().IsValid() {
		return Span{s}
	}
	return Span{}
}

// Start begins a child of the context's span. Without one nothing is recorded: only a Tracer begins a trace.
func Start(ctx context.Context, kind Kind, name string, attrs ...Attr) (context.Context, Span) {
	return Current(ctx).start(ctx, kind, name, attrs)
}

// Child begins a child of s.
func (s Span) Child(kind Kind, name string, attrs ...Attr) Span {
	_, child := s.start(s.In(context.Background()), kind, name, attrs)
	return child
}

// start begins a child of s, which ctx carries.
func (s Span) start(ctx context.Context, kind Kind, name string, attrs []Attr) (context.Context, Span) {
	if !s.Exists() {
		return ctx, Span{}
	}
	ctx, child := s.span.TracerProvider().Tracer(scope).Start(ctx, name, otel.WithSpanKind(kind), otel.WithAttributes(attrs...))
	return ctx, Span{child}
}

// Exists reports whether s belongs to a trace, also one that the sampler does not record.
func (s Span) Exists() bool { return s.span != nil }

// In returns ctx with s as its span, whose trace the lines that are logged with it name.
func (s Span) In(ctx context.Context) context.Context {
	if !s.Exists() {
		return ctx
	}
	id := s.span.SpanContext().TraceID()
	if otel.SpanContextFromContext(ctx).TraceID() != id {
		ctx = logs.With(ctx, slog.String("trace_id", id.String()))
	}
	return otel.ContextWithSpan(ctx, s.span)
}

// Set adds attributes.
func (s Span) Set(attrs ...Attr) {
	if s.Exists() {
		s.span.SetAttributes(attrs...)
	}
}

// Fail marks what s is about as failed.
func (s Span) Fail() {
	if s.Exists() {
		s.span.SetStatus(codes.Error, "")
	}
}

// End ends s now.
func (s Span) End() {
	if s.Exists() {
		s.span.End()
	}
}

// EndWith ends s, failed if there is an error.
func (s Span) EndWith(err error) {
	if err != nil {
		s.Fail()
	}
	s.End()
}

// endAt ends s at a time.
func (s Span) endAt(t time.Time) {
	if s.Exists() {
		s.span.End(otel.WithTimestamp(t))
	}
}
