package robot

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"pgregory.net/rapid"

	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/bubble"
)

func reportedConfig(n int) effect.Publish {
	return effect.Publish{Topic: schema.TopicReportedConfig, Payload: []byte(fmt.Sprint(n))}
}

func TestFloodOfDocumentsIsPacedAndEndsWithTheNewest(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		began := time.Now()
		const flood = 400
		for i := range flood {
			h.step([]effect.Effect{reportedConfig(i), effect.Publish{Topic: schema.TopicModes, Payload: []byte(fmt.Sprint(i))},
				answer(fmt.Sprint(i))})
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
		if n, _ := documents(); n > documentBurst {
			t.Errorf("%d documents were published at once, want at most %d", n, documentBurst)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		n, last := documents()
		if want := fmt.Sprint(flood - 1); last["config"] != want || last["modes"] != want {
			t.Errorf("last published: %v, want %s of each", last, want)
		}
		if most := documentBurst + int(time.Since(began).Seconds()*documentRate); n > most {
			t.Errorf("%d documents within %v", n, time.Since(began))
		}
		if acks := len(slices.DeleteFunc(slices.Clone(led.lines), func(l string) bool { return !strings.HasPrefix(l, "op1 ") })); acks != flood {
			t.Errorf("%d answers of %d", acks, flood)
		}
	})
}

func TestStateAndUrgentMessagesAreNotPaced(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		for i := range 100 {
			h.step([]effect.Effect{reportedConfig(i)})
			synctest.Wait()
		}
		h.step([]effect.Effect{state(7), first(state(8))})
		synctest.Wait()
		led.mu.Lock()
		defer led.mu.Unlock()
		if !slices.Contains(led.lines, "state 8") {
			t.Errorf("the state waits: %q", led.lines)
		}
		if slices.Contains(led.lines, "config 99") {
			t.Error("nothing waited, so this test proves nothing")
		}
	})
}

// Brokers do not count answers.
func TestAnswersDelayNoDocument(t *testing.T) {
	c := newPace()
	for range 2 * documentBurst {
		c.holds(numberedPublish{Publish: effect.Publish{Topic: schema.TopicAck}})
	}
	if c.holds(numberedPublish{Publish: reportedConfig(1)}) {
		t.Error("a document waits because of answers")
	}
}

func TestWaitingDocumentsArePublishedBeforeTheEnd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		for i := range 100 {
			h.step([]effect.Effect{reportedConfig(i)})
		}
		synctest.Wait()
		h.writer.in.close()
		<-h.writer.done
		if last := led.lines[len(led.lines)-1]; last != "config 99" {
			t.Errorf("the last message is %q", last)
		}
	})
}

// word is one publication: after a pause of so many milliseconds, of so many bytes.
type word struct {
	pause, size int
	topic       schema.TopicKind
}

// The robot never exceeds the broker's rate, whatever documents it has to publish, for
// example after a long outage; and in the end the broker has the newest of each.
func TestRobotStaysBelowTheRateLimitOfItsBroker(t *testing.T) {
	var documents []schema.TopicKind
	for _, row := range schema.Topics {
		mine := slices.ContainsFunc(row.Publish, func(g schema.Grant) bool { return g.Role == schema.RoleRobot })
		if row.Retain && mine && row.Kind != schema.TopicState && row.Kind != schema.TopicPresence {
			documents = append(documents, row.Kind)
		}
	}
	draw := rapid.Custom(func(t *rapid.T) word {
		w := word{pause: rapid.SampledFrom([]int{0, 0, 0, 5, 300, 5000}).Draw(t, "pause"), topic: schema.TopicEvent, size: 300}
		if rapid.IntRange(0, 9).Draw(t, "kind") > 0 {
			w.topic = rapid.SampledFrom(documents).Draw(t, "topic")
			w.size = schema.TopicOf(w.topic).MaxBytes / rapid.SampledFrom([]int{1, 1, 2, 100}).Draw(t, "share")
		}
		return w
	})
	rapid.Check(t, func(rt *rapid.T) {
		words, wrong := rapid.SliceOfN(draw, 50, 300).Draw(rt, "words"), ""
		bubble.Test(t, func(*testing.T) { wrong = overRate(words) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// A robot connects, many of its units fail, and commands are answered, all at once.
func TestDocumentsEventsAndStatesAtOnceStayBelowTheRateLimit(t *testing.T) {
	var words []word
	for range 2 * documentBurst {
		words = append(words, word{size: 100, topic: schema.TopicReportedConfig})
	}
	for range 2 * config.EventBurst { // of level info, and of the others
		words = append(words, word{size: 300, topic: schema.TopicEvent})
	}
	for range 20 {
		words = append(words, word{size: 1000, topic: schema.TopicState})
	}
	bubble.Test(t, func(t *testing.T) {
		if wrong := overRate(words); wrong != "" {
			t.Error(wrong)
		}
	})
}

func overRate(words []word) (wrong string) {
	messages := rate.NewLimiter(schema.RobotMessages, schema.RobotMessages*schema.RobotMessagesBurstSeconds)
	bytes := rate.NewLimiter(schema.RobotBytes, schema.RobotBytes*schema.RobotBytesBurstSeconds)
	var mu sync.Mutex
	published, wanted := map[schema.TopicKind]int64{}, map[schema.TopicKind]int64{}
	publish := func(p numberedPublish) {
		mu.Lock()
		defer mu.Unlock()
		published[p.Topic] = p.n
		if topic := schema.DefaultNamespace.Topic(p.Topic, strings.Repeat("r", schema.MaxIDLen)); !messages.Allow() ||
			!bytes.AllowN(time.Now(), len(topic)+len(p.Payload)) {
			wrong = fmt.Sprintf("a %s of %d bytes is too much", p.Topic, len(p.Payload))
		}
	}
	ctx, end := context.WithCancel(context.Background())
	c, done := newPace(), make(chan struct{})
	go func() { defer close(done); c.run(ctx, publish) }()
	for i, w := range words {
		time.Sleep(time.Duration(w.pause) * time.Millisecond)
		p := numberedPublish{Publish: effect.Publish{Topic: w.topic, Payload: make([]byte, w.size)}, n: int64(i + 1)}
		wanted[w.topic] = p.n
		if !c.holds(p) {
			publish(p)
		}
	}
	time.Sleep(10 * time.Second) // all documents together are less than that
	end()
	<-done
	if wrong == "" && !maps.Equal(published, wanted) {
		wrong = fmt.Sprintf("published %v, want %v", published, wanted)
	}
	return wrong
}
