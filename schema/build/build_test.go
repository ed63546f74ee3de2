package build

import (
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func TestVersionIsTagOrNextReleaseWithCommit(t *testing.T) {
	const commit = "f94ea7908aa15f6b0f32a9b6d6cd06b6e9a3a4c1"
	dev := strings.TrimSpace(next) + "-dev"
	for _, c := range []struct {
		module, commit, want string
	}{
		{"v1.2.3", commit, "v1.2.3"},
		{"v1.2.3-rc.1", commit, "v1.2.3-rc.1"},
		{"v1.2.3", "", "v1.2.3"}, // downloaded as a module
		{"v1.2.3+dirty", commit, dev + "+f94ea7908aa1"},
		{"v0.0.0-20261122050933-f94ea7908aa1", commit, dev + "+f94ea7908aa1"},
		{"v1.2.4-0.20261122050933-f94ea7908aa1", commit, dev + "+f94ea7908aa1"},
		{"v1.2.3-rc.1.0.20261122050933-f94ea7908aa1", commit, dev + "+f94ea7908aa1"},
		{"(devel)", "f94ea79", dev + "+f94ea79"},
		{"(devel)", "", dev},
		{"", "", dev},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.module}}
		if c.commit != "" {
			info.Settings = []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: c.commit}}
		}
		if got := version(info); got != c.want {
			t.Errorf("module %q, commit %q: got %q, want %q", c.module, c.commit, got, c.want)
		}
	}
	if got := version(nil); got != dev {
		t.Errorf("without build information: %q", got)
	}
}

// NEXT is a release without "rc" or "dev", which are added, and a version with a commit fits into a heartbeat.
func TestNextIsARelease(t *testing.T) {
	if name := strings.TrimSpace(next); !regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(name) {
		t.Errorf("NEXT says %q", name)
	}
	if longest := strings.TrimSpace(next) + "-dev+0123456789ab"; len(longest) > 32 {
		t.Errorf("%s is longer than schema.MaxInstanceVersion", longest)
	}
}

func TestTimeIsThatOfCommit(t *testing.T) {
	for text, want := range map[string]time.Time{
		"":                     {},
		"yesterday":            {},
		"2026-11-21T16:14:04Z": time.Date(2026, 11, 21, 16, 14, 4, 0, time.UTC),
	} {
		info := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.time", Value: text}}}
		if got := commitTime(info); !got.Equal(want) {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got := commitTime(&debug.BuildInfo{}); !got.IsZero() {
		t.Errorf("built without history: %v", got)
	}
}
