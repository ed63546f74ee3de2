package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
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

const hash53 = "abcdefghijklmnopqrstuvabcdefghijklmnopqrstuvwxyzABCDE"
