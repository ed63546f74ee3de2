package act

import (
	"fmt"
	"testing"
	"time"

	"troupe/schema/score"
)

// busy returns an executor in the middle of long acts in every lane, with size
// actions each, most of which are still pending.
func busy(t testing.TB, size int) *rig {
	r := newRig(t)
	for i, l := range []Lane{power, service, story} {
		actions := []score.Action{
			{EndMS: ms(3_600_000), Do: score.LED{Colour: "#ffffff"}}, wait(0, 3_600_000), drive("go", 0, 3_600_000),
			group("g", 0, score.MethodExclusive, say("s", 0, 3_600_000)),
		}
		for j := len(actions); j < size; j++ {
			actions = append(actions, led("", 3_000_000+int64(j)*10, 3_000_009+int64(j)*10))
		}
		r.push(l, Entry{ID: fmt.Sprint("entry-", i), Act: &score.Act{ID: "act", Actions: actions}})
	}
	r.ticks(time.Second, tick)
	return r
}

func TestSteadyTickDoesNotAllocate(t *testing.T) {
	r := busy(t, 20)
	out := make([]Effect, 0, 16)
	now := r.now
	if n := testing.AllocsPerRun(1000, func() {
		now += time.Millisecond
		out = r.x.Tick(now, out[:0])
	}); n != 0 {
		t.Errorf("%v allocations a tick, want none", n)
	}
	if len(out) != 0 {
		t.Errorf("the tick was not steady: %+v", out)
	}
}

func BenchmarkSteadyTick(b *testing.B) {
	for _, size := range []int{10, 100, 500} {
		b.Run(fmt.Sprintf("3-lanes-of-%d-actions", size), func(b *testing.B) {
			r := busy(b, size)
			out := make([]Effect, 0, 16)
			now := r.now
			b.ReportAllocs()
			for b.Loop() {
				now += time.Microsecond
				out = r.x.Tick(now, out[:0])
			}
		})
	}
}

func BenchmarkPush(b *testing.B) {
	r := newRig(b)
	actions := []score.Action{led("", 0, 100), say("s", 0, 5000), group("g", 0, "", head("h", 0, 2000), wait(0, 3000))}
	a := &score.Act{ID: "act", Actions: actions}
	out := make([]Effect, 0, 16)
	b.ReportAllocs()
	for b.Loop() {
		out, _ = r.x.Push(story, Entry{ID: "entry", Act: a, Clear: true}, out[:0])
	}
}
