// Package build identifies the build of a program: the word that each program prints for
// `version` and that robots and fleetd report to each other.
package build

import (
	"runtime/debug"
	"time"
)

// Revision returns the start of the commit hash of the build, or the module's version if
// the program was built without the repository.
func Revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return revision(info)
}

// Time returns the time of that commit; zero if unknown. It is a lower bound of the
// present time.
func Time() time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return time.Time{}
	}
	return commitTime(info)
}

func commitTime(info *debug.BuildInfo) time.Time {
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			t, _ := time.Parse(time.RFC3339, s.Value) // or zero
			return t
		}
	}
	return time.Time{}
}

func revision(info *debug.BuildInfo) string {
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return info.Main.Version
}
