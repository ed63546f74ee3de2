package cli

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"troupe/fleetd/setup"
	"troupe/fleetd/setup/apply"
)

func localListener(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func freeAddress(t *testing.T) string {
	l := localListener(t)
	_ = l.Close()
	return l.Addr().String()
}

// An answer that cannot be used, by itself or on this machine, is asked for again, and what follows from it changes with it.
func TestQuestionsAreAskedAgainUntilTheAnswersCanBeUsed(t *testing.T) {
	folder := t.TempDir()
	busy, free := localListener(t).Addr().String(), freeAddress(t)
	typed := []string{
		"The Museum", "museum", "", "localhost", "lobby", "etc", filepath.Join(folder, "etc"), filepath.Join(folder, "lib"), "", "", busy, "",
		freeAddress(t), "?", "", "", freeAddress(t), freeAddress(t), "wall observer", "anna", "",
		free, // the port is in use, and asked for again at the end
	}
	var out, asked bytes.Buffer
	sh := &shell{Streams: Streams{In: strings.NewReader(strings.Join(typed, "\n") + "\n"), Out: &out, Err: &asked}}
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	work, err := sh.prepareAsked(cmd, setupFlags{})
	if err != nil {
		t.Fatalf("%v\n%s", err, asked.String())
	}
	a := work.Plan.Answers
	_, port, _ := net.SplitHostPort(free)
	if a.Name != "museum" || a.HTTP != free || a.PublicURL != "https://localhost:"+port || a.Admin != "anna" || a.First != "r1" ||
		a.SecretsFile != filepath.Join(folder, "etc", "first-secrets") {
		t.Errorf("%+v", a)
	}
	for _, want := range []string{`"The Museum" cannot be a name`, "etc is not an absolute path", "is in use by another program", "The set-up makes a token"} {
		if !strings.Contains(asked.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, asked.String())
		}
	}
	if made, err := os.ReadDir(folder); err != nil || len(made) > 0 {
		t.Errorf("it made %v, %v", made, err)
	}
}

func TestSetUpWithoutATerminalNeedsAFile(t *testing.T) {
	var out, errOut bytes.Buffer
	code := Main(t.Context(), Streams{In: strings.NewReader(""), Out: &out, Err: &errOut}, "test", "setup")
	if code != exitUsage || !strings.Contains(errOut.String(), "--file") {
		t.Errorf("%d: %s", code, errOut.String())
	}
}

// A file of secrets that nobody has taken yet keeps them when a later set-up makes more.
func TestSecretsOfALaterSetUpAreAdded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "first-secrets")
	for _, p := range []apply.Password{{Who: "the user admin", Password: "opensesame"}, {Who: "the client wall of the broker",
		Password: "shibboleth"}} {
		var out, errOut bytes.Buffer
		sh := &shell{Streams: Streams{Out: &out, Err: &errOut}}
		if err := sh.showSecrets(setup.Answers{SecretsFile: file}, apply.Secrets{Passwords: []apply.Password{p}}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	info, _ := os.Stat(file)
	if err != nil || !strings.Contains(string(text), "opensesame") || !strings.Contains(string(text), "shibboleth") ||
		info.Mode().Perm() != 0o600 {
		t.Errorf("%v %s, %v", info.Mode(), text, err)
	}
}

// The example is a file of answers that can be used as it is.
func TestExampleOfAnswersHasNoProblem(t *testing.T) {
	var out, errOut bytes.Buffer
	if code := Main(t.Context(), Streams{Out: &out, Err: &errOut}, "test", "setup", "--example"); code != exitOK {
		t.Fatal(errOut.String())
	}
	a, found := setup.Read(out.Bytes())
	if len(found) > 0 || a.Hosts[0] != "fleet.example" {
		t.Errorf("%v\n%s", found, out.String())
	}
	for _, q := range setup.Questions {
		key := q.Key[strings.LastIndex(q.Key, ".")+1:] + ":"
		if q.Asked(a) && !strings.Contains(out.String(), key) {
			t.Errorf("%s is missing", q.Key)
		}
	}
}

func TestDoctorReadsTheSettingsOfTheService(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fleetd.env")
	if err := os.WriteFile(file,
		[]byte("# mine\nTROUPE_FLEETD_HTTP=127.0.0.1:1\nTROUPE_FLEETD_BROKER=mqtts://127.0.0.1:1\nTROUPE_FLEETD_DATABASE=sqlite:"+
			t.TempDir()+"/fleet.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	examine := func(environ []string, args ...string) (string, int) {
		var out, errOut bytes.Buffer
		code := Main(t.Context(), Streams{Out: &out, Err: &errOut, Environ: environ}, "test", append([]string{"doctor", "--env", file},
			args...)...)
		return out.String() + errOut.String(), code
	}
	text, code := examine(nil)
	if code != exitError || !strings.Contains(text, "fail  broker") || !strings.Contains(text, "nothing is at 127.0.0.1:1") ||
		!strings.Contains(text, "has no fleet yet") {
		t.Errorf("%d:\n%s", code, text)
	}
	if text, _ = examine([]string{"TROUPE_FLEETD_HTTP=127.0.0.1:2"}, "-o", "json"); !strings.Contains(text,
		"nothing is at 127.0.0.1:2") || !strings.HasPrefix(text, "[") {
		t.Errorf("the environment: %s", text)
	}
	if text, _ = examine(nil, "--http", "127.0.0.1:3"); !strings.Contains(text, "nothing is at 127.0.0.1:3") {
		t.Errorf("a flag: %s", text)
	}
	if err := os.WriteFile(file, []byte("TROUPE_FLEETD_HTPT=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, code = examine(nil); code != exitError || !strings.Contains(text, "fail  settings") || !strings.Contains(text,
		"TROUPE_FLEETD_HTPT") {
		t.Errorf("%d:\n%s", code, text)
	}
}
