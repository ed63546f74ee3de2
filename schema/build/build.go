// Package build says which build a program is: the one word that each of them
// prints for `version`, and that robot and fleetd tell each other.
package build

import (
	"runtime/debug"
	"time"
)

// Revision is the start of the commit that the program was built from, or the
// module's version where it was built without its history.
func Revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return revision(info)
}

// Time is when that commit was made; zero where nobody knows. It cannot be earlier
// now.
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
