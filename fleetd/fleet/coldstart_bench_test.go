package fleet

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"troupe/schema/testlog"
)

// BenchmarkColdStart measures how long a fleetd program takes from its start until it lists 1,000 robots with their states,
// with the SQLite file that an earlier one has left; there is no broker.
func BenchmarkColdStart(b *testing.B) {
	const robots = 1000
	l := startLoad(b, robots)
	l.end()
	database := l.fleet.cfg.Database
	bin := filepath.Join(b.TempDir(), "fleetd")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", bin, "troupe/fleetd").CombinedOutput(); err != nil {
		b.Fatalf("build fleetd: %v\n%s", err, out)
	}
	var cpu time.Duration
	var peak int64 // KiB
	for b.Loop() {
		program := exec.Command(bin, "serve", "--dev", "--http", "127.0.0.1:0", "--broker", "mqtt://127.0.0.1:1", "--database", database)
		program.Dir, program.Stderr = b.TempDir(), testlog.Writer(b, "fleetd")
		out, err := program.StdoutPipe()
		if err == nil {
			err = program.Start()
		}
		if err != nil {
			b.Fatal(err)
		}
		ready, err := bufio.NewReader(out).ReadString('\n')
		_, url, found := strings.Cut(strings.TrimSpace(ready), "http=")
		if err != nil || !found {
			b.Fatalf("fleetd printed %q: %v", ready, err)
		}
		for deadline := time.Now().Add(time.Minute); listed(url) < robots; pass(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				b.Fatal("fleetd does not list its robots")
			}
		}
		b.StopTimer()
		if err := program.Process.Signal(os.Interrupt); err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, out)
		if err := program.Wait(); err != nil {
			b.Fatal(err)
		}
		cpu += program.ProcessState.UserTime() + program.ProcessState.SystemTime()
		if use, known := program.ProcessState.SysUsage().(*syscall.Rusage); known {
			peak = max(peak, use.Maxrss)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(peak)/1024, "peak-MiB")
}

// listed is how many robots a fleetd lists with their states; 0 while it reads its database.
func listed(url string) (n int) {
	answer, err := http.Get(url + "/api/v1/robots")
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	var list struct{ Robots []struct{ Mode string } }
	if answer.StatusCode != http.StatusOK || json.NewDecoder(answer.Body).Decode(&list) != nil {
		return 0
	}
	for _, r := range list.Robots {
		if r.Mode != "" {
			n++
		}
	}
	return n
}
