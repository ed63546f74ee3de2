package robot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/robotd/brain"
	"troupe/schema"
)

func configTold(n int) brain.Publish {
	return brain.Publish{Topic: schema.TopicReportedConfig, Payload: []byte(fmt.Sprint(n))}
}

func TestOfAFloodOfDocumentsTheNewestIsToldAndAtAPaceThatABrokerTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		began := time.Now()
		const flood = 400
		for i := range flood {
			h.perform([]brain.Effect{configTold(i), brain.Publish{Topic: schema.TopicModes, Payload: []byte(fmt.Sprint(i))}, answer(fmt.Sprint(i))})
			synctest.Wait() // as fast as it goes: no time passes
			for len(h.loop.events) > 0 {
				<-h.loop.events
			}
		}
		documents := func() (n int, last map[string]string) {
			last = map[string]string{}
			led.mu.Lock()
			defer led.mu.Unlock()
			for _, line := range led.lines {
				if name, value, _ := strings.Cut(line, " "); name != "op1" {
					n++
					last[name] = value
				}
			}
			return n, last
		}
		if n, _ := documents(); n > tellBurst {
			t.Errorf("%d documents were told at once, want %d at most", n, tellBurst)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		n, last := documents()
		if want := fmt.Sprint(flood - 1); last["config"] != want || last["modes"] != want {
			t.Errorf("last told: %v, want %s of each", last, want)
		}
		if most := tellBurst + int(time.Since(began).Seconds()*tellRate); n > most {
			t.Errorf("%d documents within %v", n, time.Since(began))
		}
		if acks := len(slices.DeleteFunc(slices.Clone(led.lines), func(l string) bool { return !strings.HasPrefix(l, "op1 ") })); acks != flood {
			t.Errorf("%d answers of %d", acks, flood)
		}
	})
}

func TestTheStateAndWhatIsUrgentWaitForNoDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		for i := range 100 {
			h.perform([]brain.Effect{configTold(i)})
			synctest.Wait()
		}
		h.perform([]brain.Effect{state(7), first(state(8))})
		synctest.Wait()
		led.mu.Lock()
		defer led.mu.Unlock()
		if !slices.Contains(led.lines, "state 8") {
			t.Errorf("the state waits: %q", led.lines)
		}
		if slices.Contains(led.lines, "config 99") {
			t.Error("nothing waited: this test shows nothing")
		}
	})
}

func TestWhatWaitsIsToldBeforeTheRobotGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		for i := range 100 {
			h.perform([]brain.Effect{configTold(i)})
		}
		synctest.Wait()
		h.scribe.in.close()
		<-h.scribe.done
		if last := led.lines[len(led.lines)-1]; last != "config 99" {
			t.Errorf("the last word is %q", last)
		}
	})
}
