package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"troupe/fleetd/cli"
	"troupe/schema/golden"
)

// authoring has files as authors write them by mistake, the same files corrected, and the acts
// that they name. messages.txt has what validate says about each wrong file: a person who sees
// only the file and its messages must be able to write the corrected one.
const authoring = "../../testdata/authoring"

var message = regexp.MustCompile(`^[a-z0-9-]+\.(yaml|json):[1-9]\d*:[1-9]\d*: .+; .+$`)

func TestMessagesAboutWrongFiles(t *testing.T) {
	files, err := filepath.Glob(authoring + "/wrong/*")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d wrong files, %v", len(files), err)
	}
	kinds := map[string]int{}
	var all strings.Builder
	for _, file := range files {
		name := filepath.Base(file)
		kind, _, _ := strings.Cut(name, "-")
		kinds[kind]++
		code, said := validate(t, file)
		if code != 1 || len(said) == 0 {
			t.Errorf("%s: exit code %d, messages %q", name, code, said)
		}
		for _, line := range said {
			if !message.MatchString(line) {
				t.Errorf("not file:line:column, what, and what to do: %s", line)
			}
			fmt.Fprintln(&all, line)
		}
		if code, said := validate(t, filepath.Join(authoring, "fixed", name)); code != 0 || len(said) > 0 {
			t.Errorf("%s corrected: exit code %d, messages %q", name, code, said)
		}
		wrong, fixed := read(t, file), read(t, filepath.Join(authoring, "fixed", name))
		if bytes.Equal(wrong, fixed) {
			t.Errorf("%s: nothing is corrected", name)
		}
	}
	for _, kind := range []string{"act", "story", "activity"} {
		if kinds[kind] < 8 {
			t.Errorf("only %d wrong files are about the kind %s", kinds[kind], kind)
		}
	}
	golden.Compare(t, authoring+"/messages.txt", all.String())
}

// validate runs fleetd validate for a file beside the acts, and returns what it says about the
// file, without the folder.
func validate(t *testing.T, file string) (code int, said []string) {
	var out, errs bytes.Buffer
	code = cli.Main(t.Context(), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, "v0-test", "validate", "-f", file, "-f",
		authoring+"/acts")
	for line := range strings.Lines(errs.String()) {
		if line, ok := strings.CutPrefix(line, filepath.Dir(file)+"/"); ok {
			said = append(said, strings.TrimSuffix(line, "\n"))
		}
	}
	return code, said
}

func read(t *testing.T, file string) []byte {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestFlagsAndPlacesAreReadAsWritten(t *testing.T) {
	octal := filepath.Join(t.TempDir(), "octal.yaml")
	if err := os.WriteFile(octal, []byte("schema: 1\npoints:\n  a: {x_m: 010, y_m: 2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"command list --limit 010":        `fleetd: invalid argument "010" for "--limit" flag: 010 is 10 in decimal and 8 in octal; write 10 or 8`,
		"desired places r1 --add a=010,2": "fleetd: --add a=010,2: 010 is 10 in decimal and 8 in octal; write 10 or 8",
		"desired places -f " + octal + " --id hall r1": "fleetd: " + octal +
			":3:12: /points/a/x_m: 010 is 10 in decimal and 8 in octal; write 10 or 8; quote it if it is a text",
	} {
		var out bytes.Buffer
		code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: &out}, "v0", strings.Fields(line)...)
		if first, _, _ := strings.Cut(out.String(), "\n"); code != 2 || first != want {
			t.Errorf("%s: exit code %d\n%s, want\n%s", line, code, first, want)
		}
	}
}
