// Package logs makes the loggers of the programs: lines of text or of JSON, with what the context of a call says of the
// request that it serves.
package logs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
)

// New makes a logger with the format text or json, and the level debug, info, warn or error.
func New(w io.Writer, format, level string) (*slog.Logger, error) {
	options := &slog.HandlerOptions{}
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q: write debug, info, warn or error", level)
	}
	options.Level = least
	switch format {
	case "text":
		return slog.New(handler{slog.NewTextHandler(w, options)}), nil
	case "json":
		return slog.New(handler{slog.NewJSONHandler(w, options)}), nil
	}
	return nil, fmt.Errorf("log format %q: write text or json", format)
}

type contextKey struct{}

// With adds attributes to the lines that are logged with the context.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	before, _ := ctx.Value(contextKey{}).([]slog.Attr)
	return context.WithValue(ctx, contextKey{}, append(before[:len(before):len(before)], attrs...))
}

// handler adds the attributes of the context.
type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if attrs, ok := ctx.Value(contextKey{}).([]slog.Attr); ok {
		r.AddAttrs(attrs...)
	}
	return h.Handler.Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
