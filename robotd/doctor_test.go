package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"troupe/schema/finding"
)

func TestDoctorFailsIfTheRobotDoesNotWork(t *testing.T) {
	examine := func(args ...string) (string, error) {
		var out bytes.Buffer
		c := command()
		c.SetOut(&out)
		c.SetArgs(append([]string{"doctor", "--id", "r1", "--data", t.TempDir(), "--broker", "mqtt://127.0.0.1:1", "--page", "off"}, args...))
		err := c.ExecuteContext(t.Context())
		return out.String(), err
	}
	text, err := examine()
	if !errors.Is(err, errFindings) || !strings.Contains(text, "\nfail  broker ") || !strings.Contains(text, "-> nothing listens there") {
		t.Errorf("%v:\n%s", err, text)
	}
	text, err = examine("-o", "json")
	var found []finding.Finding
	if e := json.Unmarshal([]byte(text), &found); !errors.Is(err, errFindings) || e != nil || len(found) < 7 || found[0].Part != "settings" ||
		found[0].Severity != finding.OK {
		t.Errorf("%v, %v:\n%s", err, e, text)
	}
	if text, err = examine("--link-loss-mnl", "perhaps"); !errors.Is(err, errFindings) || !strings.Contains(text, "fail  settings") {
		t.Errorf("%v:\n%s", err, text)
	}
	if _, err = examine("-o", "yaml"); err == nil || errors.Is(err, errFindings) {
		t.Errorf("an unknown output: %v", err)
	}
}

func TestDoctorReadsTheEnvironmentOfTheService(t *testing.T) {
	env := filepath.Join(t.TempDir(), "robotd.env")
	examine := func(text string) string {
		if err := os.WriteFile(env, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		c := command()
		c.SetOut(&out)
		c.SetArgs([]string{"doctor", "--env", env, "--id", "r1", "--data", t.TempDir(), "--broker", "mqtt://127.0.0.1:1", "--page", "off"})
		if err := c.ExecuteContext(t.Context()); !errors.Is(err, errFindings) {
			t.Errorf("%q: %v", text, err)
		}
		return out.String()
	}
	if text := examine("# the flag overrides it\nTROUPE_ROBOTD_ID=another\nTROUPE_ROBOTD_LINK_LOSS_MNL=perhaps\n"); !strings.Contains(text,
		"perhaps") {
		t.Errorf("a wrong value in the file:\n%s", text)
	}
	t.Setenv("TROUPE_ROBOTD_LINK_LOSS_MNL", "continue")
	if text := examine("TROUPE_ROBOTD_LINK_LOSS_MNL=perhaps\n"); !strings.Contains(text, "ok    settings") {
		t.Errorf("the environment of this command has precedence:\n%s", text)
	}
	if text := examine("TROUPE ROBOTD\n"); !strings.Contains(text, "line 1: write NAME=VALUE") {
		t.Errorf("a file that cannot be read:\n%s", text)
	}
}

func TestHelpIsNotIndentedLikeTheCode(t *testing.T) {
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		if strings.Contains(c.Long, "\n\t") {
			t.Errorf("%s --help has lines that begin with tabs:\n%s", c.CommandPath(), c.Long)
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(command())
}
