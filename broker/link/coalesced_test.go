package link

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/schema/bubble"
)

// startDispatcher returns a dispatcher, the messages that it hands over, and its log.
func startDispatcher(t *testing.T) (d *dispatcher, delivered chan Message, log *bytes.Buffer) {
	delivered, log = make(chan Message, 10_000), &bytes.Buffer{}
	d = newDispatcher(Config{Queue: 64, Logger: slog.New(slog.NewTextHandler(log, nil)), OnMessage: func(m Message) { delivered <- m },
		DedupKey: func(m Message) string {
			if m.Topic == "document" {
				return ""
			}
			return m.Topic
		}})
	go d.run()
	t.Cleanup(func() { d.end(); <-d.done })
	return d, delivered, log
}

func takeAll(delivered chan Message) (all []string) {
	for len(delivered) > 0 {
		m := <-delivered
		all = append(all, fmt.Sprint(m.Topic, " ", string(m.Payload)))
	}
	return all
}

func (d *dispatcher) press(topic string, i int) {
	d.pushUrgent(Message{Topic: topic, Payload: []byte(fmt.Sprint(i)), N: d.nextNumber()})
}

func TestFloodOfOneStopIsCoalesced(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d, delivered, log := startDispatcher(t)
		const presses = 20_000
		for i := range presses { // in one second
			d.press("a/stop", i)
			if i%20 == 19 {
				time.Sleep(time.Millisecond)
			}
		}
		time.Sleep(3 * logInterval)
		synctest.Wait()
		stops := takeAll(delivered)
		if len(stops) < coalesceBurst || len(stops) > coalesceBurst+60 {
			t.Errorf("%d of %d stops were handed over", len(stops), presses)
		}
		if stops[0] != "a/stop 0" || stops[coalesceBurst-1] != fmt.Sprint("a/stop ", coalesceBurst-1) ||
			stops[len(stops)-1] != fmt.Sprint("a/stop ", presses-1) {
			t.Errorf("the first ones or the newest one are missing: %q", stops)
		}
		if lines := strings.Count(log.String(), "\n"); lines < 1 || lines > 3 || !strings.Contains(log.String(), "times=") {
			t.Errorf("%d log lines: %s", lines, log)
		}
	})
}

func TestFloodDoesNotDelayAnotherStop(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d, delivered, _ := startDispatcher(t)
		for i := range 1000 {
			d.press("a/stop", i)
		}
		synctest.Wait()
		takeAll(delivered)
		d.press("a/halt", 1)
		d.press("b/stop", 1)
		synctest.Wait()
		if got := takeAll(delivered); len(got) != 2 || got[0] != "a/halt 1" || got[1] != "b/stop 1" {
			t.Errorf("handed over at once: %q", got)
		}
	})
}

func TestHeldStopIsDeliveredBeforeLaterMessages(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		for _, undo := range []func(d *dispatcher){
			func(d *dispatcher) { d.pushMessage(Message{Topic: "enable", N: d.nextNumber()}) },
			func(d *dispatcher) { d.pushUrgent(Message{Topic: "document", N: d.nextNumber()}) },
		} {
			d, delivered, _ := startDispatcher(t)
			for i := range 1000 {
				d.press("a/stop", i)
			}
			synctest.Wait()
			takeAll(delivered)
			undo(d)
			synctest.Wait()
			if got := takeAll(delivered); len(got) != 2 || got[0] != "a/stop 999" {
				t.Errorf("handed over at once: %q", got)
			}
		}
	})
}

func TestHeldStopIsDeliveredAtTheEnd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d, delivered, _ := startDispatcher(t)
		for i := range 1000 {
			d.press("a/stop", i)
		}
		d.end()
		<-d.done
		got := takeAll(delivered)
		if got[len(got)-1] != "a/stop 999" {
			t.Errorf("handed over last: %s", got[len(got)-1])
		}
	})
}
