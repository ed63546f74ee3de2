package build

import (
	"runtime/debug"
	"testing"
	"time"
)

func TestRevisionPrefersCommitOverVersion(t *testing.T) {
	for _, c := range []struct {
		commit, want string
	}{
		{"", "v1.2.3"},
		{"f94ea79", "f94ea79"},
		{"f94ea7908aa15f6b0f32a9b6d6cd06b6e9a3a4c1", "f94ea7908aa1"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}
		if c.commit != "" {
			info.Settings = []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: c.commit}}
		}
		if got := revision(info); got != c.want {
			t.Errorf("commit %q: got %q", c.commit, got)
		}
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
