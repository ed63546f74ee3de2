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
	"troupe/schema/testlog"
)

// An observer is a mosquitto_sub that receives every message, as an administrator
// could.
type observer struct {
	mu       sync.Mutex
	messages []message     // in the order of arrival
	changed  chan struct{} // closed and replaced with every message
}

// A message is a received MQTT message.
type message struct {
	Topic   string `json:"topic"`
	QoS     int    `json:"qos"`
	Retain  int    `json:"retain"`
	Payload string `json:"payload"`

	at time.Time // of arrival
}

func (m message) String() string {
	return fmt.Sprintf("%s (QoS %d, retain %d) %.400s", m.Topic, m.QoS, m.Retain, m.Payload)
}

func startObserver(t testing.TB, at string) *observer {
	return startObserverAs(t, at, "admin_observer")
}

// startObserverAs starts an observer with a client id.
func startObserverAs(t testing.TB, at, id string) *observer {
	t.Helper()
	path, err := exec.LookPath("mosquitto_sub")
	if err != nil {
		t.Fatalf("%v: run deploy/setup/debian.sh", err)
	}
	host, port, _ := strings.Cut(strings.TrimPrefix(at, "mqtt://"), ":")
	e := &observer{changed: make(chan struct{})}
	p := launch(t, "the observer", path, []string{
		"-h", host, "-p", port, "-u", "admin", "-i", id, "-k", "60",
		"-q", "1", "-t", string(schema.DefaultNamespace) + "/v1/#", "-F", "%j",
	}, e.record)
	p.ignoreExit = true // it is killed at the end
	t.Cleanup(func() {
		p.kill()
		testlog.Show(t, "messages", e.String())
	})
	e.awaitSubscription(t, at)
	return e
}

// awaitSubscription publishes until the observer receives it: mosquitto_sub does
// not report that it has subscribed. The message is a command to a robot that does
// not exist.
func (e *observer) awaitSubscription(t testing.TB, at string) {
	t.Helper()
	call := robotTopic("no-robot", "cmd/admin/sys/query")
	for deadline := time.Now().Add(waitLimit); time.Now().Before(deadline); {
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
	t.Fatalf("the observer was not subscribed within %v", waitLimit)
}

// record adds a message as mosquitto_sub writes it.
func (e *observer) record(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		m = message{Topic: "unreadable", Payload: line}
	}
	m.at = time.Now()
	e.messages = append(e.messages, m)
	close(e.changed)
	e.changed = make(chan struct{})
}

// await waits until holds returns true. It calls holds with e.mu locked.
func (e *observer) await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	timeout := time.NewTimer(waitLimit)
	defer timeout.Stop()
	for {
		e.mu.Lock()
		ok, changed := holds(), e.changed
		e.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-timeout.C:
			t.Fatalf("waited %v for %s", waitLimit, what)
		}
	}
}

// mark returns a position in the received messages, for since.
func (e *observer) mark() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.messages)
}

// since returns the messages after the mark whose topics match the filter.
func (e *observer) since(mark int, filter string) []message {
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

// awaitMessage waits for a message after the mark on a topic that matches the
// filter, for which the condition holds.
func (e *observer) awaitMessage(t testing.TB, mark int, filter, what string, holds func(message) bool) message {
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

// markBeforeNewest returns the mark before the newest message on the topic, or
// else the present one.
func (e *observer) markBeforeNewest(topic string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := len(e.messages) - 1; i >= 0; i-- {
		if e.messages[i].Topic == topic {
			return i
		}
	}
	return len(e.messages)
}

func (e *observer) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, m := range e.messages {
		if !strings.Contains(m.Topic, "/heartbeat") {
			fmt.Fprintf(&b, "%s %s (QoS %d, retain %d) %s\n", m.at.Format("15:04:05.000"), m.Topic, m.QoS, m.Retain, m.Payload)
		}
	}
	return b.String()
}

// awaitDocument waits until the condition holds for the document on the topic: the
// newest one, or a later one.
func awaitDocument[T any](w *world, topic, what string, holds func(T) bool) T {
	w.t.Helper()
	return awaitDocumentAfter(w, w.observer.markBeforeNewest(topic), topic, what, holds)
}

// awaitDocumentAfter waits for a document after the mark for which the condition
// holds.
func awaitDocumentAfter[T any](w *world, mark int, topic, what string, holds func(T) bool) T {
	w.t.Helper()
	var found T
	w.observer.awaitMessage(w.t, mark, topic, what, func(m message) bool {
		v, problems := schema.Decode[T]([]byte(m.Payload))
		if len(problems) > 0 {
			return false // the recorder reports it
		}
		found = v
		return holds(v)
	})
	return found
}
