package link

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// flooded is a dispatcher that says what it hands over, and its log.
func flooded(t *testing.T) (d *dispatcher, heard chan Message, log *bytes.Buffer) {
	heard, log = make(chan Message, 10_000), &bytes.Buffer{}
	d = newDispatcher(Config{Queue: 64, Logger: slog.New(slog.NewTextHandler(log, nil)), OnMessage: func(m Message) { heard <- m },
		Says: func(m Message) string {
			if m.Topic == "document" {
				return ""
			}
			return m.Topic
		}})
	go d.run()
	t.Cleanup(func() { d.end(); <-d.done })
	return d, heard, log
}

func drain(heard chan Message) (all []string) {
	for len(heard) > 0 {
		m := <-heard
		all = append(all, fmt.Sprint(m.Topic, " ", string(m.Payload)))
	}
	return all
}

func (d *dispatcher) press(topic string, i int) {
	d.first(Message{Topic: topic, Payload: []byte(fmt.Sprint(i)), N: d.number()})
}

func TestAFloodOfOneStopIsHeardAsOftenAsItIsOfUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, heard, log := flooded(t)
		const presses = 20_000
		for i := range presses { // within a second
			d.press("a/stop", i)
			if i%20 == 19 {
				time.Sleep(time.Millisecond)
			}
		}
		time.Sleep(3 * crowdEvery)
		synctest.Wait()
		stops := drain(heard)
		if len(stops) < alikeBurst || len(stops) > alikeBurst+60 {
			t.Errorf("%d stops were heard of %d", len(stops), presses)
		}
		if stops[0] != "a/stop 0" || stops[alikeBurst-1] != fmt.Sprint("a/stop ", alikeBurst-1) || stops[len(stops)-1] != fmt.Sprint("a/stop ", presses-1) {
			t.Errorf("neither the first ones nor the newest may be lost: %q", stops)
		}
		if lines := strings.Count(log.String(), "\n"); lines < 1 || lines > 3 || !strings.Contains(log.String(), "times=") {
			t.Errorf("%d lines were logged", lines)
		}
	})
}

func TestNoFloodHidesAStopThatSaysSomethingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, heard, _ := flooded(t)
		for i := range 1000 {
			d.press("a/stop", i)
		}
		synctest.Wait()
		drain(heard)
		d.press("a/halt", 1)
		d.press("b/stop", 1)
		synctest.Wait()
		if got := drain(heard); len(got) != 2 || got[0] != "a/halt 1" || got[1] != "b/stop 1" {
			t.Errorf("heard at once: %q", got)
		}
	})
}

func TestAStopThatWaitsGoesBeforeWhatMayUndoIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, undo := range []func(d *dispatcher){
			func(d *dispatcher) { d.message(Message{Topic: "enable", N: d.number()}) },
			func(d *dispatcher) { d.first(Message{Topic: "document", N: d.number()}) },
		} {
			d, heard, _ := flooded(t)
			for i := range 1000 {
				d.press("a/stop", i)
			}
			synctest.Wait()
			drain(heard)
			undo(d)
			synctest.Wait()
			if got := drain(heard); len(got) != 2 || got[0] != "a/stop 999" {
				t.Errorf("heard at once: %q", got)
			}
		}
	})
}

func TestTheLastStopOfAFloodIsHeardAtTheEndToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, heard, _ := flooded(t)
		for i := range 1000 {
			d.press("a/stop", i)
		}
		d.end()
		<-d.done
		got := drain(heard)
		if got[len(got)-1] != "a/stop 999" {
			t.Errorf("the last that was heard: %s", got[len(got)-1])
		}
	})
}
