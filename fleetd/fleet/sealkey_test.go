package fleet_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/fleetd/fleet"
)

func TestUnreadableSealKeyIsNoFaultOfTheDatabase(t *testing.T) {
	key := filepath.Join(t.TempDir(), "seal-key")
	if err := os.WriteFile(key, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &logged{}
	inWorld(t, func(w *world) {
		p := w.ask("PUT", "/receivers/crew", map[string]any{"kind": "webhook", "url": "https://hooks.example/a", "token": "tk_4711"}, nil,
			"X-Request-Id", "q-1")
		if p == nil || p.Status != http.StatusServiceUnavailable || !strings.HasSuffix(p.Type, "seal-key-unreadable") {
			t.Errorf("answered %+v", p)
		}
		if line := log.line("request failed", "request", "q-1"); line == nil || !strings.Contains(line["error"].(string), "has 5 bytes") {
			t.Errorf("logged %v", line)
		}
	}, inJSON(t, log), func(c *fleet.Config) { c.Notifications.SealKey = key })
}
