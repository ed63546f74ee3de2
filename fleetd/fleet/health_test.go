package fleet_test

import (
	"os"
	"strings"
	"testing"

	"troupe/fleetd/api"
)

func TestHealthFailsWhenTheDiskIsFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Fatal("this test needs /dev/full")
	}
	w := serving(t)
	if status, _, text := w.send("GET", "/healthz", ""); status != 200 {
		t.Fatalf("a desk that is well answers %d %s", status, text)
	}
	if err := os.Symlink("/dev/full", w.config.Spool+".probe"); err != nil { // what the desk writes to see whether it can
		t.Fatal(err)
	}
	var p *api.Problem
	w.until("the full disk is noticed", func() bool { _, p, _ = w.send("GET", "/healthz", ""); return p != nil })
	if p.Status != 503 || !p.Of(api.KindDisk) || !strings.Contains(p.Detail, "no space left") || p.Hint == "" {
		t.Errorf("with a full disk the desk answers %+v", p)
	}
	w.until("there is room again", func() bool { status, _, _ := w.send("GET", "/healthz", ""); return status == 200 })
}
