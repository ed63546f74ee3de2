package robot

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/broker/link"
	"troupe/schema"
	"troupe/schema/bus"
)

const (
	// retainedWithin is how long retained messages may take to arrive.
	retainedWithin = 500 * time.Millisecond
	// healthWithin is a little more than the interval in which robotd repeats the health.
	healthWithin = 1500 * time.Millisecond
)

// busView is what the bus shows of robotd and the adapters.
type busView struct {
	robotd  bool
	present map[string]bool
	health  map[string]bus.Health // as robotd says; an earlier release does not
}

func (v *busView) receive(m link.Message) {
	if m.Topic == bus.RobotPresenceTopic {
		p, problems := schema.Decode[bus.RobotPresence](m.Payload)
		v.robotd = len(problems) == 0 && p.Present
		return
	}
	if name, what, ok := bus.FromAdapter(m.Topic); ok && what == bus.OutPresence {
		p, problems := schema.Decode[bus.Presence](m.Payload)
		if delete(v.present, name); len(problems) == 0 && p.Present {
			v.present[name] = true
		}
		return
	}
	name := strings.TrimSuffix(strings.TrimPrefix(m.Topic, "bus/"), "/in/"+bus.InHealth)
	if h, problems := schema.Decode[bus.Health](m.Payload); len(problems) == 0 {
		v.health[name] = h
	}
}

// listen collects what is on the bus until robotd has judged every adapter, or nothing more is
// to be expected.
func listen(ctx context.Context, adapters []string, received <-chan link.Message) (busView, []string) {
	v := busView{present: map[string]bool{}, health: map[string]bus.Health{}}
	retained, late := time.NewTimer(retainedWithin), time.NewTimer(healthWithin)
	defer retained.Stop()
	defer late.Stop()
	for slices.ContainsFunc(adapters, func(name string) bool { return v.health[name].Health == "" }) {
		select {
		case m := <-received:
			v.receive(m)
			continue
		case <-retained.C:
			if v.robotd && slices.ContainsFunc(adapters, func(name string) bool { return v.present[name] }) {
				continue
			}
		case <-late.C:
		case <-ctx.Done():
		}
		break
	}
	return v, adapters
}

// reportAdapters reports on each adapter of the body.
func (x *examination) reportAdapters(v busView, adapters []string) {
	for _, name := range adapters {
		switch h := v.health[name]; {
		case h.Health == "good":
			x.ok("body", "adapter "+name+" is there, and robotd uses it")
		case h.Health != "":
			x.fail("body", "robotd does not use adapter "+name+": "+cmp.Or(h.Why, h.Health), cmp.Or(h.WayOut, "see the adapter's log and robotd's"))
		case v.present[name]:
			x.ok("body", "adapter "+name+" is there")
		default:
			on := "no adapter is there"
			if len(v.present) > 0 {
				on = "there are: " + strings.Join(slices.Sorted(maps.Keys(v.present)), ", ")
			}
			x.fail("body", "adapter "+name+" is not on "+x.c.Body.Bus+"; "+on,
				"start it; if it runs, its log says why it does not connect, and its name must be as in --bus-adapters")
		}
	}
}
