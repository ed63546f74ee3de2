package main

import (
	"testing"
	"testing/fstest"
)

func TestMemoryLimitOfUnitAndContainer(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  int64
	}{
		"another system": {},
		"no limit": {files: fstest.MapFS{
			"proc/self/cgroup": file("0::/system.slice/a.service\n"),
			"sys/fs/cgroup/system.slice/a.service/memory.max": file("max\n"),
		}},
		"unit": {want: 3 << 30, files: fstest.MapFS{
			"proc/self/cgroup": file("1:name=systemd:/x\n0::/system.slice/a.service\n"),
			"sys/fs/cgroup/system.slice/a.service/memory.high": file("3221225472\n"),
			"sys/fs/cgroup/system.slice/a.service/memory.max":  file("4294967296\n"),
		}},
		"slice above the unit": {want: 1 << 30, files: fstest.MapFS{
			"proc/self/cgroup": file("0::/system.slice/a.service\n"),
			"sys/fs/cgroup/system.slice/a.service/memory.high": file("3221225472\n"),
			"sys/fs/cgroup/system.slice/memory.max":            file("1073741824\n"),
		}},
		"container": {want: 2 << 30, files: fstest.MapFS{
			"proc/self/cgroup":         file("0::/\n"),
			"sys/fs/cgroup/memory.max": file("2147483648\n"),
		}},
	} {
		if got := memoryLimit(c.files); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
