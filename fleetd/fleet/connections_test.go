package fleet_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/fleetd/api"
)

// dialHTTP opens a connection to fleetd's address and sends some bytes.
func (w *world) dialHTTP(text string) net.Conn {
	w.Helper()
	c, err := w.dialAddress()
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		w.Fatal(err)
	}
	return c
}

const stopAll = `{"selector":{"all":true},"by":"ann"}`

// In fake time, since a header is due after five seconds and a busy machine may open this
// many connections more slowly.
func TestSilentConnectionsLockNobodyOut(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		first := w.dialHTTP("GET ")
		for range 1100 {
			w.dialHTTP("GET ")
		}
		if status, p, _ := w.send("POST", api.StopPath, stopAll); status != 202 {
			w.Errorf("a stop is answered %d %v", status, p)
		}
		if status, p, _ := w.send("GET", api.Prefix+"/robots", ""); status != 200 {
			w.Errorf("a list is answered %d %v", status, p)
		}
		first.SetReadDeadline(time.Now().Add(time.Second)) // before its header is due
		if _, err := first.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
			w.Errorf("the connection that was silent the longest is still there: %v", err)
		}
	}, withAddress)
}

func TestStopGetsThroughWhenRequestsAreAtTheirLimit(t *testing.T) {
	w := serving(t)
	r := w.robot("r1")
	var last *bufio.Reader
	served := 0
	for range 1000 {
		c := w.dialHTTP("GET " + api.Prefix + "/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		last = bufio.NewReader(c)
		line, err := last.ReadString('\n')
		if err != nil {
			t.Fatalf("after %d streams: %v", served, err)
		}
		if !strings.Contains(line, "200") {
			if !strings.Contains(line, "503") {
				t.Errorf("a stream beyond the share is answered %s", line)
			}
			break
		}
		served++
	}
	if served != 224 {
		t.Errorf("%d streams of one account are served at once", served)
	}
	status, p, _ := w.send("GET", api.Prefix+"/robots", "")
	if status != 503 || !p.Of(api.KindOverload) || !strings.Contains(p.Hint, "fleetd stop") {
		t.Errorf("a request beyond the share is answered %d %v", status, p)
	}
	for range 900 { // more than are left
		w.dialHTTP("GET ")
	}
	if status, p, _ := w.send("POST", api.StopPath, stopAll); status != 202 {
		t.Errorf("a stop is answered %d %v", status, p)
	}
	w.until("the robot receives the stop", func() bool { return count(r.Received(), "safety/stop") == 1 })
}

// slowly sends a request whose body never ends and says how long that was borne.
func (w *world) slowly(head string, every time.Duration) (answer string, took time.Duration) {
	began := time.Now()
	c := w.dialHTTP(head)
	stop := make(chan struct{})
	var drip sync.WaitGroup
	drip.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(every):
				_, _ = io.WriteString(c, "x") // it may be over
			}
		}
	})
	c.SetReadDeadline(time.Now().Add(time.Minute))
	text, _ := io.ReadAll(c) // a reset is an end too
	took = time.Since(began)
	close(stop)
	drip.Wait()
	answer, _, _ = strings.Cut(string(text), "\r\n")
	return answer, took
}

func TestConnectionWithAHalfSentBodyIsEvicted(t *testing.T) {
	inWorld(t, func(w *world) {
		var all sync.WaitGroup
		for path, c := range map[string]struct {
			method string
			most   time.Duration
		}{
			api.StopPath:                {"POST", 15 * time.Second},
			api.Prefix + "/commands":    {"POST", 10 * time.Second},
			api.Prefix + "/assets/gong": {"PUT", 20 * time.Second},
			api.Prefix + "/robots":      {"GET", 20 * time.Second},
		} {
			for _, every := range []time.Duration{time.Hour, time.Second} {
				all.Go(func() {
					answer, took := w.slowly(c.method+" "+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nx", every)
					if took > c.most {
						w.Errorf("%s %s with a byte every %v: %q after %v", c.method, path, every, answer, took)
					}
				})
			}
		}
		all.Wait()
	}, withAddress)
}

func TestSlowUploadOfAnAssetSucceeds(t *testing.T) {
	inWorld(t, func(w *world) {
		sound := soundOf("gong", 1<<20)
		in, out := io.Pipe()
		go func() {
			pace := time.NewTicker(500 * time.Millisecond)
			defer pace.Stop()
			for rest := sound; rest != ""; { // 80 kB/s: the largest asset comes in time
				n := min(len(rest), 40_000)
				_, _ = io.WriteString(out, rest[:n])
				rest = rest[n:]
				<-pace.C
			}
			out.Close()
		}()
		r, err := http.NewRequest("PUT", w.URL()+api.Prefix+"/assets/gong", in)
		if err != nil {
			w.Fatal(err)
		}
		answer, err := w.client().Do(r)
		if err != nil {
			w.Fatal(err)
		}
		defer answer.Body.Close()
		if text, _ := io.ReadAll(answer.Body); answer.StatusCode != 200 {
			w.Errorf("it is answered %s", fmt.Sprint(answer.Status, string(text)))
		}
	}, withAddress)
}

func TestStopSucceedsAfterItsBodyStalled(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		c := w.dialHTTP(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			api.StopPath, len(stopAll), stopAll[:5]))
		// A radio link is lost for a moment: nothing is answered meanwhile.
		c.SetReadDeadline(time.Now().Add(4 * time.Second))
		answer := bufio.NewReader(c)
		if early, err := answer.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
			w.Fatalf("half of a stop is answered %q, %v", early, err)
		}
		if _, err := io.WriteString(c, stopAll[5:]); err != nil {
			w.Fatal(err)
		}
		c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if line, err := answer.ReadString('\n'); !strings.Contains(line, "202") {
			w.Errorf("the stop is answered %q, %v", line, err)
		}
	}, withAddress)
}
