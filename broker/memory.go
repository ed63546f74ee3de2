package main

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// limitMemory keeps the heap within what the program's unit or container allows (MemoryHigh or MemoryMax of systemd),
// at the cost of more garbage collection near the limit, unless the environment has GOMEMLIMIT. Go itself does not
// read these limits, lets the heap grow to twice what is in use, and is slowed down or ended there.
func limitMemory() {
	if limit := memoryLimit(os.DirFS("/")); limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 10 * 9) // the rest is for what is not the heap, such as the program's own pages
	}
}

// memoryLimit returns the lowest memory limit, in bytes, of this process's control group (version 2) and those above it,
// or 0 if there is none.
func memoryLimit(root fs.FS) (least int64) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0 // another system
	}
	for lines := bufio.NewScanner(bytes.NewReader(groups)); lines.Scan(); {
		group, unified := strings.CutPrefix(lines.Text(), "0::/")
		if !unified {
			continue
		}
		for ; ; group = path.Dir(group) {
			for _, file := range []string{"memory.high", "memory.max"} {
				text, err := fs.ReadFile(root, path.Join("sys/fs/cgroup", group, file))
				if err != nil {
					continue
				}
				limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is no limit
				if err == nil && limit > 0 && (least == 0 || limit < least) {
					least = limit
				}
			}
			if group == "." || group == "" {
				break
			}
		}
	}
	return least
}
