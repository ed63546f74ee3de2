package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPackagedSettingsAreThoseOfThePrograms: the file of settings in each package has every flag that the program's
// help lists, and a program takes every line of it that has a value. The examples for containers set no others.
func TestPackagedSettingsAreThoseOfThePrograms(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	bin := filepath.Dir(program(t, "fleetd"))
	program(t, "broker")
	program(t, "robotd")
	if text, err := exec.CommandContext(t.Context(), program(t, "package"), "-bin", bin, "-out", out).CombinedOutput(); err != nil {
		t.Fatalf("make the files of the packages: %v\n%s", err, text)
	}
	for _, c := range []struct {
		binary, env, prefix string
		serve               []string
		unsaid              string   // the flag that the unit gives
		own                 []string // settings of this test, which come last
		page                string   // a manual page
	}{
		{"broker", "broker.env", "TROUPE_BROKER_", nil, "",
			[]string{"DEV=true", "MQTT=127.0.0.1:0", "HTTP="}, "troupe-broker/troupe-broker-hash-password"},
		{"fleetd", "fleetd.env", "TROUPE_FLEETD_", []string{"serve"}, "",
			[]string{"DEV=true", "HTTP=127.0.0.1:0", "BROKER=mqtt://127.0.0.1:1", "DATABASE=sqlite:" + filepath.Join(out, "fleet.db")},
			"fleetd/fleetd-robot-enrol"},
		{"robotd", "robotd.env", "TROUPE_ROBOTD_", nil, "data",
			[]string{"ID=r1", "PAGE=off", "BROKER=mqtt://127.0.0.1:1", "DATA=" + filepath.Join(out, "r1")}, "robotd/robotd-enrol"},
	} {
		text, err := os.ReadFile(filepath.Join(out, "etc", c.env))
		if err != nil {
			t.Fatal(err)
		}
		names, set := map[string]bool{}, []string{}
		for _, found := range regexp.MustCompile(`(?m)^#(`+c.prefix+`[A-Z0-9_]+)=(.*)$`).FindAllStringSubmatch(string(text), -1) {
			names[found[1]] = true
			if found[2] != "" {
				set = append(set, found[1]+"="+strings.Trim(found[2], `"`))
			}
		}
		if line := regexp.MustCompile(`(?m)^[^#\n].*$`).Find(text); line != nil {
			t.Errorf("%s sets something: %s", c.env, line)
		}
		help, err := exec.CommandContext(t.Context(), program(t, c.binary), append(c.serve, "--help")...).Output()
		if err != nil {
			t.Fatalf("%s --help: %v", c.binary, err)
		}
		_, own, _ := strings.Cut(string(help), "\nFlags:\n")
		own, _, _ = strings.Cut(own, "\nGlobal Flags:\n")
		flags := regexp.MustCompile(`(?m)^ +(?:-[a-z], )?--([a-z0-9-]+)`).FindAllStringSubmatch(own, -1)
		if len(flags) < 10 {
			t.Fatalf("the help of %s has %d flags", c.binary, len(flags))
		}
		for _, f := range flags {
			name := c.prefix + strings.ToUpper(strings.ReplaceAll(f[1], "-", "_"))
			if f[1] != "help" && f[1] != c.unsaid && !names[name] {
				t.Errorf("%s lacks %s", c.env, name)
			}
		}
		for _, example := range []string{"compose.yaml", "kubernetes.yaml"} {
			text, err := os.ReadFile(filepath.Join("../container", example))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range regexp.MustCompile(c.prefix+`[A-Z0-9_]+`).FindAllString(string(text), -1) {
				if !names[name] {
					t.Errorf("%s sets %s, which %s does not have", example, name, c.binary)
				}
			}
		}
		for _, one := range c.own {
			set = append(set, c.prefix+one)
		}
		p := launch(t, c.binary, program(t, c.binary), c.serve, nil, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, set...) })
		p.ready()
		p.terminate()
		if info, err := os.Stat(filepath.Join(out, "man", c.page+".1.gz")); err != nil || info.Size() < 200 {
			t.Errorf("manual page %s: %v", c.page, err)
		}
	}
}
