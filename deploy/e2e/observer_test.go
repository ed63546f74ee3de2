package e2e

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"troupe/broker/access"
	"troupe/deploy/mosquittotest"
	"troupe/schema"
)

// An eye is a mosquitto_sub that reads everything, as an administrator would.
type eye struct {
	mu       sync.Mutex
	messages []message     // in the order of arrival
	changed  chan struct{} // closed and replaced with every message
}

// A message is what came by.
type message struct {
	Topic   string `json:"topic"`
	QoS     int    `json:"qos"`
	Retain  int    `json:"retain"`
	Payload string `json:"payload"`
}

func (m message) String() string {
	return fmt.Sprintf("%s (QoS %d, retain %d) %.400s", m.Topic, m.QoS, m.Retain, m.Payload)
}

func startObserver(t testing.TB, at string) *eye {
	t.Helper()
	path, err := exec.LookPath("mosquitto_sub")
	if err != nil {
		t.Fatalf("%v: run deploy/setup/debian.sh", err)
	}
	host, port, _ := strings.Cut(strings.TrimPrefix(at, "mqtt://"), ":")
	e := &eye{changed: make(chan struct{})}
	p := launch(t, "the eye", path, []string{
		"-h", host, "-p", port, "-u", "admin", "-i", "admin.eye", "-k", "60",
		"-q", "1", "-t", string(schema.DefaultNamespace) + "/v1/#", "-F", "%j",
	}, e.record)
	p.meant = true // its status says nothing
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("the eye saw last:\n%s", e)
		}
	})
	e.awaitSubscription(t, at)
	return e
}

// awaitSubscription calls until the eye sees it: mosquitto_sub does not tell when it has
// subscribed. The call is a command to nobody.
func (e *eye) awaitSubscription(t testing.TB, at string) {
	t.Helper()
	call := on("nobody", "cmd/admin/sys/query")
	for late := time.Now().Add(patience); time.Now().Before(late); {
		mosquittotest.Pub(t, at, publishArgs("admin", call, "eye")...)
		e.mu.Lock()
		seen, changed := len(e.messages), e.changed
		e.mu.Unlock()
		if seen > 0 {
			return
		}
		select {
		case <-changed:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatalf("the eye did not open within %v", patience)
}

// onLine takes a message as mosquitto_sub writes it.
func (e *eye) record(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		m = message{Topic: "unreadable", Payload: line}
	}
	e.messages = append(e.messages, m)
	close(e.changed)
	e.changed = make(chan struct{})
}

// await waits until holds does; it is asked with the lock held.
func (e *eye) await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		e.mu.Lock()
		ok, changed := holds(), e.changed
		e.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// mark is a moment: what came after it is seen by since.
func (e *eye) mark() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.messages)
}

// since returns what came after a moment on topics that the filter admits.
func (e *eye) since(mark int, filter string) []message {
	e.mu.Lock()
	defer e.mu.Unlock()
	var found []message
	for _, m := range e.messages[mark:] {
		if access.Matches(filter, m.Topic) {
			found = append(found, m)
		}
	}
	return found
}

// upon waits for a message after a moment that the filter admits and that holds.
func (e *eye) upon(t testing.TB, mark int, filter, what string, holds func(message) bool) message {
	t.Helper()
	var found message
	e.await(t, what, func() bool {
		for ; mark < len(e.messages); mark++ {
			if m := e.messages[mark]; access.Matches(filter, m.Topic) && holds(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// markBeforeNewest is the moment before the newest message on the topic, or now.
func (e *eye) markBeforeNewest(topic string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := len(e.messages) - 1; i >= 0; i-- {
		if e.messages[i].Topic == topic {
			return i
		}
	}
	return len(e.messages)
}

func (e *eye) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, m := range e.messages[max(0, len(e.messages)-maxLinesShown):] {
		if !strings.Contains(m.Topic, "/heartbeat") {
			fmt.Fprintln(&b, m)
		}
	}
	return b.String()
}

// awaitDocument waits until the document on the topic is as it should be: the newest one,
// or one that comes.
func awaitDocument[T any](w *world, topic, what string, holds func(T) bool) T {
	w.t.Helper()
	return becomes(w, w.eye.markBeforeNewest(topic), topic, what, holds)
}

// becomes waits for a document that came after a moment and is as it should be.
func becomes[T any](w *world, mark int, topic, what string, holds func(T) bool) T {
	w.t.Helper()
	var found T
	w.eye.upon(w.t, mark, topic, what, func(m message) bool {
		v, problems := schema.Decode[T]([]byte(m.Payload))
		if len(problems) > 0 {
			return false // the contract recorder tells
		}
		found = v
		return holds(v)
	})
	return found
}
