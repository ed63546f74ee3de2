package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"troupe/schema/testlog"
)

// A terminal is a shell that runs commands one after the other. Background
// programs print between them, as in any terminal.
type terminal struct {
	t      testing.TB
	folder string
	shell  *process
	keys   *os.File // the shell's input
	typed  int      // commands so far
	read   int      // lines of the transcript that belong to a command
	behind bool     // a program runs in the background
}

// openTerminal starts a shell in a folder of its own that looks like the
// repository after make build, with bin in the PATH.
func openTerminal(t testing.TB) *terminal {
	t.Helper()
	w := &terminal{t: t, folder: t.TempDir()}
	bin := filepath.Join(w.folder, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]string{filepath.Join(w.folder, "deploy"): filepath.Join(root, "deploy")}
	for _, name := range []string{"broker", "robotd", "fleetd"} {
		links[filepath.Join(bin, name)] = program(t, name)
	}
	for at, to := range links {
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	fifo := filepath.Join(w.folder, "keys")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	w.keys, err = os.OpenFile(fifo, os.O_RDWR, 0) // opening it for writing only would block until the shell reads
	if err != nil {
		t.Fatal(err)
	}
	w.shell = launch(t, "terminal", "/bin/bash", []string{fifo}, nil, inOwnProcessGroup)
	t.Cleanup(w.close)
	w.type_("exec 2>&1; trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT")
	w.type_("cd " + w.folder)
	w.export("PATH", bin+":"+os.Getenv("PATH")+":/usr/sbin")
	w.export("USER", "ann")
	w.export("XDG_CONFIG_HOME", w.folder) // where mosquitto's clients read default options
	w.export("TROUPE_BROKER_MQTT", "127.0.0.1:0")
	w.export("TROUPE_BROKER_HTTP", "127.0.0.1:0")
	w.export("TROUPE_ROBOTD_PAGE", "127.0.0.1:0")
	w.export("TROUPE_FLEETD_HTTP", "127.0.0.1:0")
	return w
}

func (w *terminal) close() {
	w.type_("exit 0")
	_ = w.keys.Close()
	select {
	case <-w.shell.ended:
	case <-time.After(waitLimit):
		w.t.Errorf("the terminal did not close within %v", waitLimit)
		w.shell.ignoreExit = true
		_ = syscall.Kill(-w.shell.cmd.Process.Pid, syscall.SIGKILL) // with all programs that it started
		<-w.shell.ended
	}
	logs, _ := filepath.Glob(filepath.Join(w.folder, "*", "*.log"))
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			w.t.Errorf("read %s: %v", log, err)
		}
		testlog.Show(w.t, filepath.Base(filepath.Dir(log))+" "+filepath.Base(log), string(text))
	}
}

func (w *terminal) export(name, value string) { w.type_("export " + name + "='" + value + "'") }

// type_ sends a line to the shell and ignores its output.
func (w *terminal) type_(line string) {
	w.t.Helper()
	if _, err := w.keys.WriteString(line + "\n"); err != nil {
		w.t.Fatalf("type %s: %v", line, err)
	}
}

// prompt begins the line that is printed when a command has ended; its number and
// its exit status follow.
const prompt = "\x01"

// run types a command and waits until it has ended. While programs run in the
// background it then waits until enough was printed, or for the limit. It returns
// what was printed and the exit status.
func (w *terminal) run(command string, limit time.Duration, enough func([]string) bool) (lines []string, status int) {
	w.t.Helper()
	w.typed++
	end := regexp.MustCompile(fmt.Sprintf(`%s%d:(\d+)$`, prompt, w.typed))
	w.type_(command)
	w.type_(fmt.Sprintf(`printf '\001%d:%%d\n' $?`, w.typed))
	w.behind = w.behind || strings.HasSuffix(command, "&")
	late := time.NewTimer(limit)
	defer late.Stop()
	for ended := false; ; {
		l := w.shell.log
		l.mu.Lock()
		lines, changed, over := slices.Clone(l.lines[w.read:]), l.changed, l.ended
		l.mu.Unlock()
		all := len(lines)
		for _, line := range lines {
			if m := end.FindStringSubmatch(line); m != nil {
				ended = true
				status, _ = strconv.Atoi(m[1]) // it is digits
			}
		}
		lines = printedOf(lines)
		if over {
			w.t.Fatalf("the terminal closed after %s", command)
		}
		if ended && (!w.behind || enough(lines)) {
			w.read += all
			return lines, status
		}
		select {
		case <-changed:
		case <-late.C:
			if !ended && limit < waitLimit {
				limit = waitLimit
				late.Reset(limit)
				continue
			}
			if !ended {
				w.t.Fatalf("%s did not end within %v; it printed\n%s", command, waitLimit, strings.Join(lines, "\n"))
			}
			w.read += all
			return lines, status
		}
	}
}

// The shell reports killed jobs, in other words than an interactive one.
var killed = regexp.MustCompile(`^\S+: line \d+: +\d+ Killed `)

var prompted = regexp.MustCompile(prompt + `\d+:\d+$`)

// printedOf removes the prompts from a transcript, also after output without a
// line break.
func printedOf(lines []string) []string {
	var out []string
	for _, line := range lines {
		if rest := prompted.ReplaceAllString(line, ""); (rest != "" || rest == line) && !killed.MatchString(line) {
			out = append(out, rest)
		}
	}
	return out
}
