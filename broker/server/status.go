package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"troupe/schema/profile"
)

// status is the broker's HTTP server for health, counters, metrics and the list of
// clients. It is read-only.
type status struct {
	addr string
	srv  *http.Server
	done chan error
}

func serveStatus(ln net.Listener, s *Server) *status {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.report(time.Now()))
	})
	mux.HandleFunc("GET /clients", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.clients())
	})
	mux.Handle("GET /metrics", metricsHandler(s))
	if s.cfg.Pprof {
		profile.Register(mux)
	}
	h := &status{addr: ln.Addr().String(), done: make(chan error, 1), srv: &http.Server{
		Handler: allowHosts(s.cfg.HTTPHosts, mux), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10,
	}}
	go func() { h.done <- h.srv.Serve(ln) }()
	return h
}

// allowHosts serves only requests whose Host is localhost, an IP address or one of hosts.
// This prevents DNS rebinding: a web page whose host name resolves to this machine would
// be of the same origin for its browser, but its requests carry its own host name.
func allowHosts(hosts []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		host = strings.Trim(host, "[]")
		_, notIP := netip.ParseAddr(host)
		same := func(name string) bool { return strings.EqualFold(name, strings.TrimSuffix(host, ".")) }
		if r.Host != "" && notIP != nil && !same("localhost") && !slices.ContainsFunc(hosts, same) { // HTTP 1.0 has no Host
			http.Error(w, fmt.Sprintf("host %q is not allowed: start the broker with --http-host for every host name in requests", r.Host),
				http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (h *status) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := h.srv.Shutdown(ctx)
	if serve := <-h.done; !errors.Is(serve, http.ErrServerClosed) {
		err = errors.Join(err, serve)
	}
	return err
}

// listenAddress describes one address of the broker.
type listenAddress struct {
	Kind    string `json:"kind"`
	Address string `json:"address"`
}

// expiry says when a certificate or CRL expires.
type expiry struct {
	Ends time.Time `json:"ends"`
	Days int64     `json:"days"` // whole days left; -1 after the end
}

// report is the body of /status: counters, addresses, and when certificates expire.
func (s *Server) report(now time.Time) map[string]any {
	out := map[string]any{}
	for name, n := range s.Status() {
		out[name] = n
	}
	listeners := []listenAddress{}
	for _, d := range s.listener.endpoints {
		listeners = append(listeners, listenAddress{d.kind, d.ln.Addr().String()})
	}
	out["listeners"] = listeners
	credentials := s.files.current.Load()
	for what, end := range credentials.expiries() {
		out[what] = expiry{end.UTC(), wholeDays(end.Sub(now))}
	}
	out["revoked_certificates"] = credentials.lists.Len()
	return out
}

// Status returns all counters, ours and those of the server library, for /status and for
// tests.
func (s *Server) Status() map[string]int64 {
	out := s.counters.snapshot()
	i := s.mochi.Info.Clone()
	out["clients"] = i.ClientsConnected
	out["subscriptions"] = i.Subscriptions
	out["retained"] = i.Retained
	out["retained_bytes"] = s.guard.retained.bytes.Load()
	out["inflight"] = s.inflight()
	out["inflight_dropped"] = i.InflightDropped
	out["messages_received"] = i.MessagesReceived
	out["messages_sent"] = i.MessagesSent
	out["packets_received"] = i.PacketsReceived
	out["bytes_received"] = i.BytesReceived
	out["bytes_sent"] = i.BytesSent
	return out
}
