// Package build identifies the build of a program: the version that each program prints for
// `version` and that robots and fleetd report to each other.
package build

import (
	_ "embed"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// next is the release that this tree becomes. Scripts read the file, too.
//
//go:embed NEXT
var next string

// Version returns the semantic version of the build: the tag if its commit is that of a release, such as v0.3.0;
// otherwise the next release with the start of the commit, such as v0.3.0-dev+f94ea7908aa1, or without it if the
// program was built without the repository. A changed working tree is no release.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return version(info)
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

// released matches the tag of a release or of a candidate for one. The go command gives any other commit a version
// that ends with its time and hash, and a changed working tree one that ends with +dirty.
var released = regexp.MustCompile(`^v\d+\.\d+\.\d+(-rc\.\d+)?$`)

func version(info *debug.BuildInfo) string {
	dev := strings.TrimSpace(next) + "-dev"
	if info == nil {
		return dev
	}
	if released.MatchString(info.Main.Version) {
		return info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return dev + "+" + s.Value[:min(12, len(s.Value))]
		}
	}
	return dev
}
