package e2e

import (
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRobotdNotifiesTheServiceManager plays systemd: it starts robotd as a service of Type=notify with a
// watchdog, and a robotd that makes no steps feeds it no more.
func TestRobotdNotifiesTheServiceManager(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = manager.Close() })
	notices := newTranscript()
	go func() {
		text := make([]byte, 1024)
		for {
			n, err := manager.Read(text)
			if err != nil {
				notices.end()
				return
			}
			notices.add(string(text[:n]))
		}
	}()
	is := func(want string) func(string) bool { return func(line string) bool { return line == want } }
	robot := launch(t, "r1", program(t, "robotd"), []string{"--id", "r1", "--data", t.TempDir(), "--broker", "mqtt://127.0.0.1:1"}, nil,
		func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+socket, "WATCHDOG_USEC=1000000")
		})
	notices.await(t, "robotd", "READY", is("READY=1"))
	notices.await(t, "robotd", "a status", func(line string) bool {
		return strings.HasPrefix(line, "STATUS=") && strings.Contains(line, "DISABLED, no broker")
	})
	fed := func() int { return strings.Count(notices.String(), "WATCHDOG=1") }
	for before := fed(); fed() < before+3; {
		time.Sleep(50 * time.Millisecond)
	}
	robot.signal(syscall.SIGSTOP)
	time.Sleep(100 * time.Millisecond) // what is on its way
	before := fed()
	time.Sleep(1500 * time.Millisecond)
	if after := fed(); after != before {
		t.Errorf("a robotd that makes no step has fed the watchdog %d times", after-before)
	}
	robot.signal(syscall.SIGCONT)
	robot.terminate()
	notices.await(t, "robotd", "STOPPING", is("STOPPING=1"))
}
