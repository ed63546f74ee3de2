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
)

// status is the broker's own HTTP server: is it alive, what has it counted, and who
// is connected. Nobody is changed by asking.
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
		_ = json.NewEncoder(w).Encode(s.connected())
	})
	mux.Handle("GET /metrics", metricsHandler(s))
	h := &status{addr: ln.Addr().String(), done: make(chan error, 1), srv: &http.Server{
		Handler: known(s.cfg.HTTPHosts, mux), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10,
	}}
	go func() { h.done <- h.srv.Serve(ln) }()
	return h
}

// known answers under this machine's names only, which are localhost, any IP address,
// and hosts. A page of another site whose name is made to lead here is of the same
// origin for its browser, but asks under its own name; under an IP address it would
// be no other site.
func known(hosts []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		host = strings.Trim(host, "[]")
		_, notIP := netip.ParseAddr(host)
		same := func(name string) bool { return strings.EqualFold(name, strings.TrimSuffix(host, ".")) }
		if r.Host != "" && notIP != nil && !same("localhost") && !slices.ContainsFunc(hosts, same) { // HTTP 1.0 asks without a name
			http.Error(w, fmt.Sprintf("this broker is not called %q: start it with --http-host for every name under which it is asked", r.Host), http.StatusForbidden)
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

// listening is one address of the broker.
type listening struct {
	Kind    string `json:"kind"`
	Address string `json:"address"`
}

// ending is a certificate or a list, and how long it is good for.
type ending struct {
	Ends time.Time `json:"ends"`
	Days int64     `json:"days"` // whole ones; -1 once it is over
}

// report is what /status answers: the counts, where the broker listens, and what
// has to be renewed when.
func (s *Server) report(now time.Time) map[string]any {
	out := map[string]any{}
	for name, n := range s.Status() {
		out[name] = n
	}
	listeners := []listening{}
	for _, d := range s.listen.doors {
		listeners = append(listeners, listening{d.kind, d.ln.Addr().String()})
	}
	out["listeners"] = listeners
	credentials := s.keeper.now.Load()
	for what, end := range credentials.ends() {
		out[what] = ending{end.UTC(), days(end.Sub(now))}
	}
	out["revoked_certificates"] = credentials.lists.Len()
	return out
}

// Status is a count of everything, for /status and for tests. The numbers of the
// server library are added to our own.
func (s *Server) Status() map[string]int64 {
	out := s.counters.snapshot()
	i := s.mochi.Info.Clone()
	out["clients"] = i.ClientsConnected
	out["subscriptions"] = i.Subscriptions
	out["retained"] = i.Retained
	out["retained_bytes"] = s.guard.kept.bytes.Load()
	out["inflight"] = i.Inflight
	out["inflight_dropped"] = i.InflightDropped
	out["messages_received"] = i.MessagesReceived
	out["messages_sent"] = i.MessagesSent
	out["packets_received"] = i.PacketsReceived
	out["bytes_received"] = i.BytesReceived
	out["bytes_sent"] = i.BytesSent
	return out
}
