package fleet_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"troupe/fleetd/api"
)

// flood opens 1300 connections that have sent text, and goes on opening more until
// stop is called. None is closed by this side before. goesOn waits for 20 more.
func (w *world) flood(text string) (goesOn, stop func()) {
	w.Helper()
	address := strings.TrimPrefix(w.URL(), "http://")
	var open []net.Conn
	var opened atomic.Int64
	add := func() {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return // refused: the next one may not be
		}
		_, _ = io.WriteString(c, text) // it may be cut already
		open = append(open, c)
		opened.Add(1)
	}
	for range 1300 {
		add()
	}
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		pace := time.NewTicker(2 * time.Millisecond)
		defer pace.Stop()
		for {
			select {
			case <-done:
				return
			case <-pace.C:
				add()
			}
		}
	})
	goesOn = func() {
		before := opened.Load()
		w.until("the flood goes on", func() bool { return opened.Load() >= before+20 })
	}
	return goesOn, func() {
		close(done)
		all.Wait()
		for _, c := range open {
			c.Close()
		}
	}
}

func TestStopIsAnsweredDuringFloodOfHalfSentRequests(t *testing.T) {
	for _, path := range []string{"/", api.Prefix + "/commands", api.StopPath} {
		t.Run(path, func(t *testing.T) {
			w := serving(t)
			w.robot("r1")
			goesOn, stop := w.flood("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
				"Content-Length: 100\r\n\r\n{")
			defer stop()
			person := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
			for range 4 {
				began := time.Now()
				answer, err := person.Post(w.URL()+api.StopPath, "application/json", strings.NewReader(stopAll))
				if err != nil {
					t.Errorf("a stop after %v: %v", time.Since(began), err)
				} else {
					answer.Body.Close()
					if answer.StatusCode != 202 {
						t.Errorf("a stop is answered %s after %v", answer.Status, time.Since(began))
					}
				}
				goesOn()
			}
		})
	}
}
