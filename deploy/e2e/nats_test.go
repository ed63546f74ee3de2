package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"troupe/deploy/mosquittotest"
)

// natsServer is the path of nats-server, which the module of tools builds.
var natsServer = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "-C", filepath.Join("..", "tools"), "tool", "-n", "nats-server").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build nats-server: %w: %s", err, out)
	}
	return strings.TrimSpace(string(out)), nil
})

// startNATS starts one node of NATS with JetStream and nothing retained, whose users need no password, as with broker --dev.
func (w *world) startNATS() {
	w.t.Helper()
	program, err := natsServer()
	if err != nil {
		w.t.Fatal(err)
	}
	folder, err := os.MkdirTemp(w.folder, "nats-")
	if err != nil {
		w.t.Fatal(err)
	}
	w.address = fmt.Sprintf("127.0.0.1:%d", mosquittotest.FreePort(w.t))
	config := fmt.Sprintf(`server_name: n1
listen: "127.0.0.1:%d"
jetstream { store_dir: %q, max_mem: 64M, max_file: 500M }
max_payload: 2MB
mqtt { listen: %q, ack_wait: "30s", max_ack_pending: 1000 }
`, mosquittotest.FreePort(w.t), filepath.Join(folder, "data"), w.address)
	if err := os.WriteFile(filepath.Join(folder, "nats.conf"), []byte(config+w.rulesFor("nats", "--open")), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.broker = launch(w.t, "nats-server", program, []string{"-c", filepath.Join(folder, "nats.conf")}, nil)
	w.until("nats-server to listen", func() bool {
		c, err := net.DialTimeout("tcp", w.address, time.Second)
		if err != nil {
			return false
		}
		return c.Close() == nil
	})
}
