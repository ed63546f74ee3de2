package apply

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Computer is what a set-up knows of a computer besides its files.
type Computer struct {
	Now    time.Time
	Root   bool // only root can give files away
	Lookup func(name string) (*user.User, error)
	Chown  func(path string, uid, gid int) error
	// Unit is what systemd lets an installed service do; false = there is no such service.
	Unit func(ctx context.Context, service string) (Unit, bool)
}

// ThisComputer is the one that the program runs on.
func ThisComputer() Computer {
	return Computer{Now: time.Now(), Root: os.Geteuid() == 0, Lookup: user.Lookup, Chown: os.Lchown, Unit: installedUnit}
}

// Unit is the part of a systemd unit that says which files its service can use.
type Unit struct {
	Settings []string // files of its environment
	Writable []string // folders; nil = every one
	Hidden   []string // folders that are empty, or others, for the service
}

// installedUnit asks systemd, which also knows what an administrator has changed of the unit. Without a systemd that runs
// there is no service.
func installedUnit(ctx context.Context, service string) (Unit, bool) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", "show", service+".service", //nolint:gosec // service is one of two constants
		"--property=LoadState,EnvironmentFiles,ProtectSystem,ProtectHome,PrivateTmp,ReadWritePaths,StateDirectory").Output()
	if err != nil {
		return Unit{}, false
	}
	return parseUnit(out)
}

// parseUnit reads what systemctl show prints: a line NAME=VALUE for each property, or several.
func parseUnit(show []byte) (u Unit, installed bool) {
	strict := false
	writable := []string{}
	for line := range bytes.Lines(show) {
		name, value, _ := strings.Cut(strings.TrimRight(string(line), "\n"), "=")
		switch words := strings.Fields(value); name {
		case "LoadState":
			installed = value == "loaded"
		case "EnvironmentFiles":
			if len(words) > 0 { // then (ignore_errors=yes)
				u.Settings = append(u.Settings, words[0])
			}
		case "ProtectSystem":
			strict = value == "strict"
		case "ProtectHome":
			if value == "yes" || value == "tmpfs" {
				u.Hidden = append(u.Hidden, "/home", "/root", "/run/user")
			}
		case "PrivateTmp":
			if value != "no" {
				u.Hidden = append(u.Hidden, "/tmp", "/var/tmp")
			}
		case "ReadWritePaths":
			for _, word := range words {
				writable = append(writable, strings.TrimLeft(word, "-+"))
			}
		case "StateDirectory":
			for _, word := range words {
				writable = append(writable, filepath.Join("/var/lib", word))
			}
		}
	}
	if strict {
		u.Writable = writable
	}
	return u, installed
}

func (u Unit) sees(path string) bool { return !slices.ContainsFunc(u.Hidden, contains(path)) }

func (u Unit) writes(path string) bool {
	return u.Writable == nil || slices.ContainsFunc(u.Writable, contains(path))
}

// contains makes a function that reports whether a path is in a folder, or is it.
func contains(path string) func(folder string) bool {
	return func(folder string) bool {
		rel, err := filepath.Rel(folder, path)
		return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
	}
}
