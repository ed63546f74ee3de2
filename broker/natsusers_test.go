package main

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"troupe/schema"
)

// A line that somebody types wrongly must not keep a revoked robot connected.
func TestRevocationReachesNATSWhileAFileOfItsUsersIsBroken(t *testing.T) {
	const lines, hashes = "r1 robot\nr2 robot\n", "r1:$2y$05$" + hash53 + "\nr2:$2y$05$" + hash53 + "\n"
	for _, c := range []struct{ why, users, passwords, fault string }{
		{"users", "r1 robot\nr2 pilot\nr3 robot\n", hashes, "parse users file"},
		{"passwords", lines + "r3 robot\n", hashes + "r3:secret\n", "r3 is not a bcrypt hash"},
	} {
		t.Run(c.why, func(t *testing.T) {
			folder := t.TempDir()
			n := natsUsers{
				users: filepath.Join(folder, "users"), passwords: filepath.Join(folder, "passwords"), out: filepath.Join(folder, "users.conf"),
				ns: schema.DefaultNamespace, log: slog.New(slog.DiscardHandler),
			}
			save := func(path, text string) {
				t.Helper()
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			save(n.users, c.users)
			save(n.passwords, c.passwords)
			if err := n.load(); err != nil {
				t.Fatal(err)
			}
			if err := n.write(); err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("at the start: got %v, want %q", err, c.fault)
			}
			save(n.users, lines)
			save(n.passwords, hashes)
			if err := n.write(); err != nil {
				t.Fatal(err)
			}
			save(n.users, c.users)
			save(n.passwords, c.passwords)
			n.replace([]byte(`{"rev":1,"fleet_id":"2f1d7f5e-8c0b-4a39-9d6e-1f5f0f0a9b11","names":["r1"],"serials":[],` +
				`"ts":"2026-01-31T09:30:00.000Z"}`))
			err := n.write()
			if err == nil || !strings.Contains(err.Error(), c.fault) || !strings.Contains(err.Error(), "revocations take effect") {
				t.Errorf("while the file is broken: got %v, want %q", err, c.fault)
			}
			text, err := os.ReadFile(n.out)
			if err != nil || strings.Contains(string(text), `"r1"`) || !strings.Contains(string(text), `"r2"`) {
				t.Errorf("%v, the users are\n%s", err, text)
			}
		})
	}
}

// A revocation waits for no monitor that is gone.
func TestNATSIsSignaledThoughItsStateIsUnknown(t *testing.T) {
	folder := t.TempDir()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "nats-server")
	if err := os.Symlink(sleep, program); err != nil {
		t.Fatal(err)
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // otherwise the process ignores it if this one does, as under nohup
	defer signal.Stop(hangups)
	process := exec.CommandContext(t.Context(), program, "60")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	n := natsUsers{out: filepath.Join(folder, "users.conf"), pidFile: filepath.Join(folder, "pid"), monitor: gone.URL}
	if err := errors.Join(os.WriteFile(n.out, []byte("users"), 0o600),
		os.WriteFile(n.pidFile, strconv.AppendInt(nil, int64(process.Process.Pid), 10), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := n.signal(t.Context()); err == nil || !strings.Contains(err.Error(), "ask nats-server") {
		t.Errorf("got %v, want that the state is unknown", err)
	}
	if n.loading == nil {
		t.Error("nobody looks whether nats-server reads its configuration")
	}
	if !bytes.Equal(n.signaled, []byte("users")) {
		process.Process.Kill()
	}
	_ = process.Wait() // ended by the signal
	if status := process.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGHUP {
		t.Errorf("the process ended with %v, want hangup", process.ProcessState)
	}
}

func TestOnlyTheStateOfNATSSaysWhenItReadItsConfiguration(t *testing.T) {
	const state = `{"config_load_time":"2026-01-31T09:30:00Z"}`
	for _, c := range []struct{ why, path, answer, fault string }{
		{"the state", "/varz", state, ""},
		{"another page", "/login", state, "302"},
		{"no time", "/varz", `{}`, "has no config_load_time"},
		{"endless", "/varz", `{"x":"` + strings.Repeat("x", maxState) + `",` + state[1:], "decode"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != c.path {
				http.Redirect(w, r, c.path, http.StatusFound)
				return
			}
			_, _ = w.Write([]byte(c.answer))
		}))
		n := natsUsers{monitor: s.URL}
		_, err := n.loadTime(t.Context())
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: got %v, want %q", c.why, err, c.fault)
		}
		s.Close()
	}
}

const hash53 = "abcdefghijklmnopqrstuvabcdefghijklmnopqrstuvwxyzABCDE"
