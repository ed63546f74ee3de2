package fleet_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"troupe/fleetd/fleet"
)

// probe returns the status of an answer to a kubelet, which names the address of the pod as the host.
func (w *world) probe(path string) int {
	w.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://10.1.2.3"+path, nil)
	if err != nil {
		w.Fatal(err)
	}
	answer, err := w.client().Do(r)
	if err != nil {
		w.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

func TestProbesOfKubernetes(t *testing.T) {
	for where, at := range map[string]func(*fleet.Config){
		"HTTP":    func(c *fleet.Config) { c.HTTP = "127.0.0.1:8080" },
		"metrics": func(c *fleet.Config) { c.Metrics = "127.0.0.1:9102" },
	} {
		t.Run(where, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.stopFleetd()
				var there atomic.Bool
				w.config.Dial = func(ctx context.Context) (net.Conn, error) {
					if !there.Load() {
						return nil, errors.New("no route to host")
					}
					return w.dial(ctx)
				}
				f, err := fleet.Start(context.Background(), w.config)
				if err != nil {
					t.Fatal(err)
				}
				w.Fleet = f
				if live, ready := w.probe("/livez"), w.probe("/readyz"); live != http.StatusOK || ready != http.StatusServiceUnavailable {
					t.Errorf("before the first connection to the broker: live %d, ready %d", live, ready)
				}
				there.Store(true)
				w.until("fleetd is ready", func() bool { return w.probe("/readyz") == http.StatusOK })
				if err := w.broker.Load().Close(); err != nil {
					t.Fatal(err)
				}
				w.until("the broker is lost", func() bool { return !f.Status().Broker.OK })
				if live, ready := w.probe("/livez"), w.probe("/readyz"); live != http.StatusOK || ready != http.StatusOK {
					t.Errorf("after the broker was lost: live %d, ready %d", live, ready)
				}
				if other := w.probe("/livez/x"); other == http.StatusOK {
					t.Error("another path is answered")
				}
			}, at)
		})
	}
}
