package pgtest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatalf("connect to %s: %v", dsn, err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func TestStartCreatesAnEmptyDatabase(t *testing.T) {
	first, second := connect(t, Start(t)), connect(t, Start(t))
	if _, err := first.Exec(t.Context(), "CREATE TABLE robots (id text)"); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Exec(t.Context(), "SELECT id FROM robots"); err == nil {
		t.Fatal("the second database has the table of the first one")
	}
	var encoding, address string
	if err := second.QueryRow(t.Context(),
		"SELECT current_setting('server_encoding'), current_setting('listen_addresses')").Scan(&encoding, &address); err != nil {
		t.Fatal(err)
	}
	if encoding != "UTF8" || address != "" {
		t.Fatalf("encoding %q, listening on %q; want UTF8 and no address", encoding, address)
	}
}

func TestDatabaseIsDroppedWithItsTest(t *testing.T) {
	var dsn string
	t.Run("a test that leaves a connection open", func(t *testing.T) {
		dsn = Start(t)
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn // left open for the cleanup
	})
	if conn, err := pgx.Connect(t.Context(), dsn); err == nil {
		_ = conn.Close(t.Context())
		t.Fatalf("%s still answers after its test", dsn)
	}
}

// A test binary ends by itself or is killed. Several run at a time, as with `go test ./...`.
func TestClusterStopsWithItsTestBinary(t *testing.T) {
	if os.Getenv("PGTEST_CHILD") != "" {
		c, err := shared()
		if err != nil {
			t.Fatal(err)
		}
		dsn := Start(t)
		connect(t, dsn)
		fmt.Printf("child %s\n", c.folder)
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		return
	}
	type child struct {
		cmd    *exec.Cmd
		folder string
		pid    string
	}
	var children []child
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestClusterStopsWithItsTestBinary$")
		cmd.Env = append(os.Environ(), "PGTEST_CHILD=1", Used+"=")
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = stdin.Close() })
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		line, err := bufio.NewReader(stdout).ReadString('\n')
		folder, ok := strings.CutPrefix(strings.TrimSpace(line), "child ")
		if !ok {
			t.Fatalf("child said %q (%v)", line, err)
		}
		pid, err := os.ReadFile(filepath.Join(folder, "data", "postmaster.pid"))
		if err != nil {
			t.Fatal(err)
		}
		number, _, _ := strings.Cut(string(pid), "\n")
		children = append(children, child{cmd, folder, number})
		if len(children) == 1 {
			_ = stdin.Close() // ends by itself; the others are killed
			if err := cmd.Wait(); err != nil {
				t.Fatalf("child: %v", err)
			}
		}
	}
	seen := map[string]bool{}
	for i, c := range children {
		if seen[c.folder] {
			t.Fatalf("two test binaries share the cluster in %s", c.folder)
		}
		seen[c.folder] = true
		if i > 0 {
			if err := c.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = c.cmd.Wait() // the error is that it was killed
		}
	}
	for _, c := range children {
		waitUntilGone(t, c.folder)
		waitUntilGone(t, filepath.Join("/proc", c.pid))
	}
}

// waitUntilGone waits for the supervisor of a test binary that has ended.
func waitUntilGone(t *testing.T, path string) {
	t.Helper()
	deadline := time.After(statementTimeout)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); os.IsNotExist(err) {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s is still there %v after its test binary ended", path, statementTimeout)
		case <-tick.C:
		}
	}
}

func TestMissingPostgreSQLNamesThePackage(t *testing.T) {
	empty := t.TempDir()
	_, err := findPrograms(empty, filepath.Join(empty, "*", "bin"))
	if err == nil || !strings.Contains(err.Error(), "apt-get install postgresql") {
		t.Fatalf("got %v, want an error that names the package", err)
	}
}

func TestNewestCompleteVersionIsUsed(t *testing.T) {
	root := t.TempDir()
	for _, version := range []string{"9", "15", "17"} {
		bin := filepath.Join(root, version, "bin")
		if err := os.MkdirAll(bin, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, program := range []string{"initdb", "pg_ctl", "postgres"} {
			if version == "17" && program == "postgres" {
				continue // as with the client package only
			}
			if err := os.WriteFile(filepath.Join(bin, program), nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := findPrograms("", filepath.Join(root, "*", "bin"))
	if want := filepath.Join(root, "15", "bin"); err != nil || got != want {
		t.Fatalf("got %s, %v; want %s: 17 is incomplete and 9 older", got, err, want)
	}
}

func TestUseIsRecordedForCI(t *testing.T) {
	path := filepath.Join(t.TempDir(), "used")
	for range 2 {
		if err := recordUse(path); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if want := os.Args[0] + "\n" + os.Args[0] + "\n"; err != nil || string(text) != want {
		t.Fatalf("got %q, %v; want %q", text, err, want)
	}
}

func TestDurableServerSyncsEveryCommit(t *testing.T) {
	s, err := StartDurable()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	conn, err := pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		var is string
		if err := conn.QueryRow(t.Context(), "SHOW "+setting).Scan(&is); err != nil || is != "on" {
			t.Errorf("%s is %q, %v", setting, is, err)
		}
	}
	var session, parent int
	var state string
	if err := conn.QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&session); err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", session))
	if err != nil {
		t.Fatal(err)
	}
	_, fields, _ := strings.Cut(string(stat), ") ")
	if _, err := fmt.Sscanf(fields, "%s %d", &state, &parent); err != nil || parent != s.PID {
		t.Errorf("the session is a child of %d, the server is %d: %v", parent, s.PID, err)
	}
}
