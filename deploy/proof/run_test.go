package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// gotestsum runs failed tests again only if go test said so in its events, and nothing was printed as an error.
func TestFailedTestIsNoErrorOfItsRun(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, c := range []struct {
		exits         int
		passed, fault bool
	}{{0, true, false}, {1, false, false}, {2, true, true}} {
		if err := os.WriteFile(filepath.Join(folder, "go"), fmt.Appendf(nil, "#!/bin/sh\nexit %d\n", c.exits), 0o700); err != nil {
			t.Fatal(err)
		}
		passed, err := plan{runs: []run{{packages: []string{"a"}}, {packages: []string{"b"}}}}.test(io.Discard)
		if passed != c.passed || (err != nil) != c.fault {
			t.Errorf("go test ends with %d: passed %t, error %v", c.exits, passed, err)
		}
	}
}
