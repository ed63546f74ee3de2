package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/console"
)

// maxHeader bounds the header of a request.
const maxHeader = 64 << 10

// listen binds the address and refuses one that others could reach, unless that
// was asked for in so many words: nobody is asked who he is yet.
func (f *Fleet) listen(ctx, running context.Context) error {
	f.handler = f.routes()
	if f.cfg.HTTP == "" {
		return nil
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", f.cfg.HTTP)
	if err != nil {
		return fmt.Errorf("listen for HTTP on %s: %w", f.cfg.HTTP, err)
	}
	if reachable(l.Addr()) {
		if !f.cfg.Exposed {
			_ = l.Close() // the refusal says more
			return fmt.Errorf("%s can be reached by others, and whoever reaches it commands every robot: "+
				"use 127.0.0.1 and a reverse proxy that asks who they are, or say --exposed", f.cfg.HTTP)
		}
		f.log.Error("UNPROTECTED: everybody who can reach this address commands every robot", "http", l.Addr().String())
	} else {
		f.log.Warn("no login: everybody on this machine commands every robot", "http", l.Addr().String())
	}
	f.listener = l
	f.server = &http.Server{
		Handler:           f.handler,
		BaseContext:       func(net.Listener) context.Context { return running },
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      90 * time.Second, // an answer may be waited for; streams set their own
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(f.log.Handler(), slog.LevelWarn),
	}
	return nil
}

// deafen lets go of the address before anybody was answered.
func (f *Fleet) deafen() error {
	if f.listener == nil {
		return nil
	}
	return f.listener.Close()
}

// hangUp ends the answering of requests: at leisure, then at once.
func (f *Fleet) hangUp(ctx context.Context) error {
	if f.listener == nil {
		return nil
	}
	if err := f.server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return f.server.Close()
}

func (f *Fleet) routes() http.Handler {
	mux := http.NewServeMux()
	api.Register(mux, f, f.log)
	mux.Handle("/", console.Handler())
	hosts := append([]string{}, f.cfg.Hosts...)
	if f.cfg.Exposed {
		hosts = nil // no name is known by which others may call it
	}
	return api.Guard(mux, f.log, hosts)
}
