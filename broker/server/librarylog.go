package server

import (
	"context"
	"log/slog"
)

// libraryLog is the server library's logger. The library logs whole packets with payloads,
// and a warning without a message for every client that closes its connection; neither
// belongs in an operator's log.
type libraryLog struct{ slog.Handler }

func (q libraryLog) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if isLoggable(a) {
			out.AddAttrs(a)
		}
		return true
	})
	if out.Message == "" && r.Level == slog.LevelWarn {
		out.Level, out.Message = slog.LevelDebug, "connection ended"
	}
	if !q.Enabled(ctx, out.Level) {
		return nil
	}
	return q.Handler.Handle(ctx, out)
}

func (q libraryLog) WithAttrs(as []slog.Attr) slog.Handler {
	kept := make([]slog.Attr, 0, len(as))
	for _, a := range as {
		if isLoggable(a) {
			kept = append(kept, a)
		}
	}
	return libraryLog{q.Handler.WithAttrs(kept)}
}

func (q libraryLog) WithGroup(name string) slog.Handler { return libraryLog{q.Handler.WithGroup(name)} }

// Enabled drops the library's messages about its own start and stop.
func (q libraryLog) Enabled(ctx context.Context, l slog.Level) bool {
	return l != slog.LevelInfo && q.Handler.Enabled(ctx, l)
}

func isLoggable(a slog.Attr) bool {
	switch a.Key {
	case "pk", "packet", "will":
		return false
	}
	return true
}
