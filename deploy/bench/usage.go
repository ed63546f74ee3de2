package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"troupe/deploy/launch"
)

// usage is what a process and its descendants have used so far.
type usage struct {
	cpuSeconds   float64
	rssBytes     float64 // now
	writtenBytes float64 // handed to the disk
}

// clockTicks is what /proc/PID/stat counts in a second. Linux has it at 100 on every architecture that Go supports.
const clockTicks = 100

// usageOf reads /proc. A process that has ended used nothing.
func usageOf(pid int) usage { return usageBelow(pid, childrenOf()) }

func usageBelow(pid int, children map[int][]int) usage {
	var u usage
	folder := filepath.Join("/proc", strconv.Itoa(pid))
	if stat, err := os.ReadFile(filepath.Join(folder, "stat")); err == nil {
		ticks, _ := parseStat(string(stat))
		u.cpuSeconds = float64(ticks) / clockTicks
	}
	if status, err := os.ReadFile(filepath.Join(folder, "status")); err == nil {
		u.rssBytes = 1024 * field(string(status), "VmRSS:")
	}
	if io, err := os.ReadFile(filepath.Join(folder, "io")); err == nil {
		u.writtenBytes = field(string(io), "write_bytes:")
	}
	for _, child := range children[pid] {
		below := usageBelow(child, children)
		u.cpuSeconds += below.cpuSeconds
		u.rssBytes += below.rssBytes
		u.writtenBytes += below.writtenBytes
	}
	return u
}

// parseStat returns the processor time of a process and of its children that have ended, in ticks, and its parent.
func parseStat(stat string) (ticks, parent int) {
	// The second field is the program's name in parentheses, which may contain any character.
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const state = 3 // the number of the first of these fields in proc(5)
	number := func(n int) int {
		if n-state >= len(fields) {
			return 0
		}
		v, _ := strconv.Atoi(fields[n-state])
		return v
	}
	return number(14) + number(15) + number(16) + number(17), number(4)
}

// field returns the number behind the name in one of the files of /proc that have a field a line; 0 if it is missing.
func field(text, name string) float64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if words := strings.Fields(rest); len(words) > 0 {
				v, _ := strconv.ParseFloat(words[0], 64)
				return v
			}
		}
	}
	return 0
}

// childrenOf returns the children of each process.
func childrenOf() map[int][]int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, at := range stats {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(at)))
		if stat, err := os.ReadFile(at); err == nil {
			_, parent := parseStat(string(stat))
			children[parent] = append(children[parent], pid)
		}
	}
	return children
}

// cpuOf is the processor time that programs have used since they began.
func cpuOf(programs []*launch.Program) (sum time.Duration) {
	for _, p := range programs {
		sum += time.Duration(usageOf(p.PID).cpuSeconds * float64(time.Second))
	}
	return sum
}

// Use is what a program used during something.
type Use struct {
	Program      string  `json:"program"`
	CPUSeconds   float64 `json:"cpu_s"`
	RSSBytes     float64 `json:"rss_bytes"` // at the end
	WrittenBytes float64 `json:"written_bytes,omitempty"`
}

func (u Use) String() string {
	text := fmt.Sprintf("%s %.2f s CPU, %s", u.Program, u.CPUSeconds, showBytes(u.RSSBytes))
	if u.WrittenBytes > 0 {
		text += ", wrote " + showBytes(u.WrittenBytes)
	}
	return text
}

// meter measures programs from now on.
type meter struct {
	programs []*launch.Program
	from     []usage
}

func measure(programs ...*launch.Program) *meter {
	m := &meter{programs: programs}
	for _, p := range programs {
		m.from = append(m.from, usageOf(p.PID))
	}
	return m
}

// uses returns what each program has used since measure.
func (m *meter) uses() (out []Use) {
	for i, p := range m.programs {
		now := usageOf(p.PID)
		out = append(out, Use{Program: p.Name, CPUSeconds: now.cpuSeconds - m.from[i].cpuSeconds, RSSBytes: now.rssBytes,
			WrittenBytes: now.writtenBytes - m.from[i].writtenBytes})
	}
	return out
}

// cpu is the processor time that the programs have used since measure.
func (m *meter) cpu() (sum time.Duration) {
	for _, u := range m.uses() {
		sum += time.Duration(u.CPUSeconds * float64(time.Second))
	}
	return sum
}

// addUses adds what the same programs used later.
func addUses(sum, more []Use) []Use {
	if sum == nil {
		return more
	}
	for i := range sum {
		sum[i].CPUSeconds += more[i].CPUSeconds
		sum[i].WrittenBytes += more[i].WrittenBytes
		sum[i].RSSBytes = more[i].RSSBytes
	}
	return sum
}
