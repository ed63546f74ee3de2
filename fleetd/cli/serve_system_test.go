package cli

import (
	"runtime"
	"strings"
	"testing"
)

func TestServerIsRefusedOnWindows(t *testing.T) {
	if err := serverSystem("windows"); err == nil || !strings.Contains(err.Error(), "fleetd login --server") {
		t.Errorf("got %v", err)
	}
	if err := serverSystem(runtime.GOOS); err != nil {
		t.Errorf("the system of this test: %v", err)
	}
}
