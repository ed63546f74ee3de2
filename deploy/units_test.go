package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// exposure is how much the shipped services may be exposed, from 0 to 100.
const exposure = "20"

// TestServicesAreUnderstoodAndConfined asks systemd about the unit files: whether it knows
// every line, and whether the service may do little beside its work.
func TestServicesAreUnderstoodAndConfined(t *testing.T) {
	t.Parallel()
	units, err := filepath.Glob("systemd/*.service")
	if err != nil || len(units) != 4 {
		t.Fatalf("unit files %v, %v", units, err)
	}
	program := regexp.MustCompile(`(?m)^(ExecStart=|ExecCondition=\+)/\S+`)
	for _, path := range units {
		text, err := os.ReadFile(filepath.Clean(path))
		if err != nil {
			t.Fatal(err)
		}
		for _, limit := range []string{"\nMemoryMax=", "\nTasksMax=", "\nPrivateUsers=yes"} {
			if !strings.Contains(string(text), limit) {
				t.Errorf("%s has no %s", path, strings.Trim(limit, "\n="))
			}
		}
		at := filepath.Join(t.TempDir(), filepath.Base(path))
		if err := os.WriteFile(at, program.ReplaceAll(text, []byte("${1}/bin/true")), 0o600); err != nil { // it is not installed here
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", at).CombinedOutput(); err != nil ||
			strings.Contains(string(out), at) {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
		if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--no-pager", "--offline=yes", "--threshold="+exposure,
			at).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
	robot, err := os.ReadFile("systemd/robotd.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"Type=notify", "WatchdogSec=10", "Restart=on-failure", "RestartForceExitStatus=75"} {
		if !strings.Contains(string(robot), "\n"+line+"\n") {
			t.Errorf("robotd.service lacks %s", line)
		}
	}
}
