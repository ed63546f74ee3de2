package fleet_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"troupe/fleetd/api"
)

func TestHealthFailsWhenTheDiskIsFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Fatal("this test needs /dev/full")
	}
	w := serving(t)
	if status, _, text := w.send("GET", "/healthz", ""); status != 200 {
		t.Fatalf("a healthy fleetd instance answers %d %s", status, text)
	}
	if err := os.Symlink("/dev/full", w.config.Spool+".probe"); err != nil { // what fleetd writes to see whether it can
		t.Fatal(err)
	}
	var p *api.Problem
	w.until("the full disk is noticed", func() bool { _, p, _ = w.send("GET", "/healthz", ""); return p != nil })
	if p.Status != 503 || !p.Of(api.KindDisk) || !strings.Contains(p.Detail, "no space left") || p.Hint == "" {
		t.Errorf("with a full disk fleetd answers %+v", p)
	}
	w.until("there is room again", func() bool { status, _, _ := w.send("GET", "/healthz", ""); return status == 200 })
}

func TestHealthIsAnsweredWhenTheDiskStalls(t *testing.T) {
	w := serving(t)
	probe := w.config.Spool + ".probe"
	if err := syscall.Mkfifo(probe, 0o600); err != nil { // opening it to write waits for a reader
		t.Fatal(err)
	}
	release := sync.OnceFunc(func() {
		if f, err := os.OpenFile(probe, os.O_RDWR, 0); err == nil {
			f.Close()
		}
	})
	defer release()
	var asked sync.WaitGroup
	for range 5 {
		asked.Go(func() {
			began := time.Now()
			client := &http.Client{Timeout: 10 * time.Second}
			answer, err := client.Get(w.URL() + "/healthz")
			if err != nil {
				t.Errorf("with a stalled disk: %v", err)
				return
			}
			defer answer.Body.Close()
			var p api.Problem
			if err := json.NewDecoder(answer.Body).Decode(&p); err != nil || answer.StatusCode != 503 || !p.Of(api.KindDisk) || p.Hint == "" {
				t.Errorf("with a stalled disk fleetd answers %s %+v %v", answer.Status, p, err)
			}
			if took := time.Since(began); took > answerBound {
				t.Errorf("it took %v", took)
			}
		})
	}
	asked.Wait()
	release()
	w.until("the disk works again", func() bool { status, _, _ := w.send("GET", "/healthz", ""); return status == 200 })
}
