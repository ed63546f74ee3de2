package score

import "fmt"

// simAction is one action, or a group, of an act whose performance is simulated. Its times count
// from the start of the act.
type simAction struct {
	pointer string
	action  *Action
	row     ActionRow
	group   *simAction // around it; nil for the act itself
	cues    []*simAction
	alone   bool // exclusive

	begun, over                    bool
	due, start, end                int64
	startEstimated, lastsEstimated bool  // the start, the duration depends on an estimate
	clock                          int64 // of a group; it stands still while an exclusive action of it runs
	clockEstimated                 bool
	first, later                   int        // in cues: those before first are over, those from later on are not due yet
	waitedFor                      *simAction // the last one on its unit for which it had to wait
}

// simulation performs an act with estimated durations: an action that is due while one that
// competes with it runs on its unit waits, as does an exclusive one while others of its group run.
type simulation struct {
	root  *simAction
	all   []*simAction // without the groups, in the order of the text
	now   int64
	holds map[lane]*simAction // who performs in each lane now
}

// lane is what performs one action at a time.
type lane struct {
	class Class
	unit  string
}

// simulate performs an act without actions of type act; see Expand.
func simulate(a Act) *simulation {
	s := simulation{holds: map[lane]*simAction{}}
	s.root = s.add("", &Action{Do: Group{a.Actions}}, nil)
	s.root.begun = true
	for s.settle(); !s.root.over; s.settle() {
		step := s.root.next(s.now)
		s.now += step
		s.root.pass(step)
	}
	return &s
}

func (s *simulation) add(p string, x *Action, group *simAction) *simAction {
	row, _ := RowOf(x.Type())
	c := &simAction{pointer: p, action: x, row: row, group: group, alone: group != nil && MethodOf(*x) == MethodExclusive}
	g, ok := x.Do.(Group)
	if !ok {
		s.all = append(s.all, c)
		return c
	}
	for _, i := range inOrder(g.Actions) {
		c.cues = append(c.cues, s.add(at(p+"/actions", i), &g.Actions[i], c))
	}
	return c
}

func (c *simAction) runs() bool { return c.begun && !c.over }

func (c *simAction) endEstimated() bool { return c.startEstimated || c.lastsEstimated }

// current returns the actions of a group that are due and not over, so that a long act
// does not cost the square of its length.
func (c *simAction) current() []*simAction {
	for c.first < len(c.cues) && c.cues[c.first].over {
		c.first++
	}
	for c.later = max(c.later, c.first); c.later < len(c.cues) && c.cues[c.later].action.StartMS <= c.clock; {
		c.later++
	}
	return c.cues[c.first:c.later]
}

func (c *simAction) frozen() bool {
	for _, k := range c.current() {
		if k.alone && k.runs() {
			return true
		}
	}
	return false
}

func (c *simAction) lane() lane { return lane{c.row.Class, c.action.Unit} }

// settle ends and begins everything that ends and begins now.
func (s *simulation) settle() {
	for again := true; again; {
		s.finish(s.root)
		again = s.begin(s.root)
	}
}

func (s *simulation) finish(c *simAction) {
	if !c.runs() {
		return
	}
	if c.row.Type != TypeGroup {
		if c.over = s.now >= c.end; c.over && s.holds[c.lane()] == c {
			delete(s.holds, c.lane())
		}
	} else {
		for _, k := range c.current() {
			s.finish(k)
		}
		c.current()
		c.over, c.end = c.first == len(c.cues), s.now
	}
	if c.over && c.alone {
		c.group.clockEstimated = c.group.clockEstimated || c.endEstimated()
	}
}

func (s *simulation) begin(g *simAction) (changed bool) {
	for _, k := range g.current() {
		switch {
		case !g.runs() || k.over || g.frozen() && !k.runs():
		case k.begun:
			changed = s.begin(k) || changed
		case !s.waits(g, k):
			changed = true
			s.start(g, k)
		}
	}
	return changed
}

func (s *simulation) start(g, k *simAction) {
	length, estimated := duration(k.action)
	k.begun, k.start, k.end = true, s.now, s.now+length
	k.due = s.now - (g.clock - k.action.StartMS)
	k.startEstimated, k.lastsEstimated = k.startEstimated || g.clockEstimated, estimated
	k.clockEstimated = k.startEstimated
	switch {
	case k.row.Type == TypeGroup:
	case length <= 0:
		k.over = true
	case !k.row.Shares():
		s.holds[k.lane()] = k
	}
}

// waits reports whether k, which is due, has to wait for another.
func (s *simulation) waits(g, k *simAction) bool {
	if k.alone {
		for _, other := range g.current() {
			if other.runs() {
				k.startEstimated = k.startEstimated || other.endEstimated()
				return true
			}
		}
	}
	if k.row.Shares() {
		return false
	}
	for _, class := range []Class{k.row.Class, ClassHead, ClassBody} {
		if other := s.holds[lane{class, k.action.Unit}]; other != nil && other.row.Competes(k.row) {
			k.waitedFor, k.startEstimated = other, k.startEstimated || other.endEstimated()
			return true
		}
	}
	return false
}

// next returns how long nothing begins or ends in c.
func (c *simAction) next(now int64) int64 {
	if c.row.Type != TypeGroup {
		return c.end - now
	}
	step := int64(MaxActMS)
	for _, k := range c.current() {
		if k.runs() {
			step = min(step, k.next(now))
		}
	}
	if c.later < len(c.cues) && !c.frozen() {
		step = min(step, c.cues[c.later].action.StartMS-c.clock)
	}
	return step
}

// pass advances the clocks of the groups in c.
func (c *simAction) pass(step int64) {
	if !c.runs() || c.row.Type != TypeGroup {
		return
	}
	if !c.frozen() {
		c.clock += step
	}
	for _, k := range c.current() {
		k.pass(step)
	}
}

// warnAboutWaits warns about actions that will probably start later than written. It is for acts
// without errors, in which only estimated durations can overlap, and a turn of the head and a
// motion: whether the head performs that motion depends on the robot.
func (c *checks) warnAboutWaits(a Act) {
	var warn func(k *simAction)
	warn = func(k *simAction) {
		switch p := at(k.pointer, "start_ms"); {
		case k.start == k.due:
		case k.waitedFor != nil:
			c.warn(p, CodeMayWait, fmt.Sprintf("will probably wait for %s, which takes until about %d ms", k.waitedFor.pointer, k.waitedFor.end),
				"start it later if its time matters")
		default:
			c.warn(p, CodeMayWait, fmt.Sprintf("is exclusive and will probably wait for those before it, until about %d ms", k.start),
				"start it later if its time matters")
		}
		for _, inner := range k.cues {
			warn(inner)
		}
	}
	warn(simulate(a).root)
}
