package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/cli"
)

// A server that never ends its answer must not fill the memory of the command.
func TestDownloadOfAnAssetEndsAtItsSize(t *testing.T) {
	for sent, c := range map[string]struct {
		code int
		says string
	}{
		"gong":     {0, "gong  wav"},
		"gon":      {1, "fleetd sent 3 bytes of 4"},
		"for ever": {1, "fleetd sent more than the 4 bytes of gong"},
	} {
		fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/assets/gong") {
				if err := json.NewEncoder(w).Encode(api.Asset{Name: "gong", Format: "wav", Size: 4, SHA256: strings.Repeat("0", 64)}); err != nil {
					t.Error(err)
				}
				return
			}
			for {
				if _, err := w.Write([]byte(sent)); err != nil || sent != "for ever" {
					return
				}
			}
		}))
		file := filepath.Join(t.TempDir(), "gong.wav")
		var out strings.Builder
		code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: &out}, "v0", "asset", "get", "gong", "--out", file, "--server", fleetd.URL)
		fleetd.Close()
		if code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%q was sent: exit code %d, %s", sent, code, out.String())
		}
		if body, err := os.ReadFile(file); (err == nil) != (c.code == 0) || err == nil && string(body) != sent {
			t.Errorf("%q was sent: the file has %q, %v", sent, body, err)
		}
	}
}
