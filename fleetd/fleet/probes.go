package fleet

import (
	"fmt"
	"net/http"
)

// Paths of probes, as Kubernetes names them.
const (
	livePath  = "/livez"
	readyPath = "/readyz"
)

// probes answers /livez and /readyz before anything that can refuse a request: a kubelet names the address of the pod as the host,
// signs in nowhere, and must be answered while every connection is in use.
func (f *Fleet) probes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if (r.URL.Path != livePath && r.URL.Path != readyPath) || (r.Method != http.MethodGet && r.Method != http.MethodHead) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		if why := f.notReady(r); r.URL.Path == readyPath && why != "" {
			http.Error(w, why, http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, "ok")
	})
}

// notReady says why requests should go to other instances; empty if they need not. An instance that has lost its broker or its
// database since stays ready: the others have lost them, too, and people must reach the stop buttons.
func (f *Fleet) notReady(r *http.Request) string {
	switch {
	case r.Context().Err() != nil: // requests have the context of the running fleetd
		return "fleetd is shutting down"
	case !f.wasConnected.Load():
		return "fleetd has not connected to the broker yet"
	}
	return ""
}
