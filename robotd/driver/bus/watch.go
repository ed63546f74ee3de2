package bus

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/bus"
	"troupe/schema/fsm"
)

// health is how an adapter behaves.
type health string

// The healths of an adapter. In all but good its units are in error.
const (
	absent     health = "absent"
	good       health = "good"
	silent     health = "silent"
	flooding   health = "flooding"
	badData    health = "bad-data"
	wrongUnits health = "wrong-units"
	timeBack   health = "time-back"
	restarted  health = "restarted"
	doubled    health = "doubled"
	changed    health = "changed"
	disobeys   health = "disobeys"
)

// healths lists every health, faults those in which the adapter is there.
var (
	faults  = []health{silent, flooding, badData, wrongUnits, timeBack, restarted, doubled, changed, disobeys}
	healths = append([]health{absent, good}, faults...)
)

// observation is what robotd sees of an adapter.
type observation string

// The observations.
const (
	seen        observation = "seen"        // present, and its state is right
	left        observation = "left"        // its presence is gone
	cutOff      observation = "cut-off"     // the bus cannot be reached
	timedOut    observation = "timed-out"   // its presence is gone, and it had been silent before: it may hang still
	replaced    observation = "replaced"    // another process has its name, and its will did not come
	missed      observation = "missed"      // no state for bus.MissedStates intervals, or for stillTicks while nothing may move
	flooded     observation = "flooded"     // more messages than bus.MaxRate
	undecodable observation = "undecodable" // not the contract's JSON
	outOfUnit   observation = "out-of-unit" // a number that cannot be in its unit of measure
	wentBack    observation = "went-back"   // an older seq or t_ms
	twoSenders  observation = "two-senders" // messages of another process, or another adapter with its units
	redescribed observation = "redescribed" // its description differs from that at the start
	disobeyed   observation = "disobeyed"   // a unit does not do as ordered
	behaved     observation = "behaved"     // no other observation for bus.HealAfter
	nothing     observation = ""            // nothing to note
)

// table is the supervision of one adapter.
var table = fsm.Table[health, observation]{
	{From: fsm.In(absent), On: seen, To: good, Why: "it describes its units and reports their states"},
	{From: fsm.In(append(faults, good)...), On: left, To: absent, Why: "the adapter is gone"},
	{From: fsm.In(append(faults, good)...), On: cutOff, To: absent, Why: "the bus cannot be reached"},
	{From: fsm.In(append(faults, good)...), On: timedOut, To: absent, Why: "the adapter was silent until its connection ended"},
	{From: fsm.In(append(faults, good)...), On: replaced, To: restarted, Why: "another process has the adapter's name now"},
	{From: fsm.In(good, restarted), On: missed, To: silent, Why: "the adapter is silent"},
	{From: fsm.In(good, silent), On: flooded, To: flooding, Why: "the adapter floods the bus"},
	{From: fsm.In(good, silent), On: undecodable, To: badData, Why: "the adapter sends what is not in the contract"},
	{From: fsm.In(good, silent), On: outOfUnit, To: wrongUnits, Why: "the adapter sends a number in another unit of measure"},
	{From: fsm.In(good, silent), On: wentBack, To: timeBack, Why: "the adapter's time went back"},
	{From: fsm.In(good, silent, restarted), On: twoSenders, To: doubled, Why: "two processes serve the unit"},
	{From: fsm.In(absent, good, silent, restarted), On: redescribed, To: changed,
		Why: "the adapter describes itself differently than at the start of robotd"},
	{From: fsm.In(good, silent), On: disobeyed, To: disobeys, Why: "the adapter does not obey"},
	{From: fsm.In(faults...), On: behaved, To: good, Why: "it has behaved for a while"},
}

// wayOut says what a person does about an adapter that is not good.
var wayOut = map[health]string{
	absent:     "start the adapter, and see in its log why it ended",
	silent:     "if it stays silent, a method of it does not return: restart the adapter; if it comes and goes, the computer is too busy",
	flooding:   "restart the adapter, it sends too much",
	badData:    "correct the adapter (robotd driver check)",
	wrongUnits: "correct the adapter (robotd driver check)",
	timeBack:   "restart the adapter",
	restarted:  "if two run, end one of the two; if it was restarted, wait a second",
	doubled:    "end one of the two, or give its unit another id",
	changed:    "restart robotd, which then uses the new description",
	disobeys:   "correct the adapter (robotd driver check)",
}

// wayOutAfter replaces the one of absent after an observation.
var wayOutAfter = map[observation]string{
	// a second process would have the name twice
	timedOut: "if its process still runs, it hangs or is suspended: end it first (kill -9), then start the adapter",
	cutOff:   "start the MQTT server of the bus, or correct its address in robotd; adapters that still run come back by themselves",
}

// watch is what robotd knows of an adapter's conduct. The methods on... judge one fact
// each and return an observation; step applies it and reports whether the health changed. They do
// nothing outside watch, and know time only as ticks of driver.Tick.
type watch struct {
	health health
	why    string // it is not good
	detail string // why, with the way out

	session    string   // of the adapter's process
	replaced   []string // sessions before it, the newest last
	present    bool
	described  *bus.Describe // the one in force; nil until it is known
	fixed      bool          // the one in force stays: the body is open
	newest     *bus.Describe // the newest one
	rival      string        // who else has a unit of it; empty = nobody
	seq, tms   int64
	mayNotMove bool // its newest order is not run, so its states may come more rarely
	missing    int  // ticks since the last state
	clean      int  // ticks since the last observation against it
}

// maxReplaced is how many earlier sessions are remembered.
const maxReplaced = 4

// step takes an observation, with what exactly was seen.
func (w *watch) step(on observation, what string) (changed bool) {
	if on == nothing {
		return false
	}
	if on != seen && on != behaved {
		w.clean = 0
	}
	row, ok := table.Next(w.health, on)
	if !ok {
		return false
	}
	w.health, w.why, w.detail = row.To, "", ""
	if row.To != good {
		if w.why = row.Why; what != "" {
			w.why += " (" + what + ")"
		}
		w.detail = w.why + ": " + cmp.Or(wayOutAfter[on], wayOut[row.To])
	}
	return true
}

// onPresence judges a presence that has passed Validate.
func (w *watch) onPresence(p *bus.Presence) (observation, string) {
	switch {
	case p.Session != w.session && !p.Present:
		return nothing, "" // the will of a process that was replaced
	case w.present && slices.Contains(w.replaced, p.Session) && p.Session != w.session:
		return twoSenders, "an earlier session is back"
	case p.Session != w.session:
		if w.session != "" {
			if w.replaced = append(w.replaced, w.session); len(w.replaced) > maxReplaced {
				w.replaced = w.replaced[1:]
			}
		}
		again := w.present
		w.session, w.present, w.seq, w.tms, w.missing = p.Session, true, 0, 0, 0
		w.describe(p.Describe)
		if again { // no will came: it was restarted, or both run; what it held is lost
			return replaced, ""
		}
		return nothing, ""
	}
	wasPresent := w.present
	if w.present = p.Present; !p.Present {
		if w.missing >= healTicks {
			return timedOut, fmt.Sprintf("no state for %d s", w.missing*tickMS/1000)
		}
		return left, ""
	}
	w.describe(p.Describe)
	if !wasPresent {
		w.missing = 0
	}
	return nothing, ""
}

func (w *watch) describe(d *bus.Describe) {
	if !w.fixed {
		w.described = d
	}
	if w.newest = d; reflect.DeepEqual(w.described, d) {
		w.newest = w.described
	}
}

// onSession judges the session of a message that is no presence. ok reports whether the
// message counts.
func (w *watch) onSession(session string) (ok bool, on observation, what string) {
	switch {
	case !w.present:
		return false, nothing, ""
	case session != w.session:
		return false, twoSenders, "messages of sessions " + w.session + " and " + session
	}
	return true, nothing, ""
}

// onState judges a state of the present session that has passed Validate.
func (w *watch) onState(s *bus.State) (ok bool, on observation, what string) {
	switch {
	case s.Seq <= w.seq && w.seq != 0:
		return false, wentBack, fmt.Sprintf("seq %d after %d", s.Seq, w.seq)
	case s.TMS < w.tms:
		return false, wentBack, fmt.Sprintf("t_ms %d after %d", s.TMS, w.tms)
	}
	w.seq, w.tms, w.missing = s.Seq, s.TMS, 0
	if problems := s.Fits(w.described.Units); len(problems) > 0 {
		return false, observationOf(problems[0]), problems[0].String()
	}
	if w.health == absent && !w.differs() {
		return true, seen, ""
	}
	return true, nothing, ""
}

// observationOf returns the observation of a problem.
func observationOf(p schema.Problem) observation {
	if p.Code == bus.CodeWrongUnit {
		return outOfUnit
	}
	return undecodable
}

// onTick judges what has not come, once every driver.Tick.
func (w *watch) onTick() (observation, string) {
	w.missing++
	if w.clean++; w.missing > w.maxMissing() {
		w.clean = 0
	}
	switch {
	case !w.present:
		return nothing, ""
	case w.differs():
		return redescribed, difference(w.described, w.newest)
	case w.rival != "":
		return twoSenders, w.rival
	case w.missing > w.silence():
		return missed, fmt.Sprintf("no state for %d ms", w.silence()*tickMS)
	case w.health != absent && w.health != good && w.clean >= healTicks:
		return behaved, ""
	}
	return nothing, ""
}

// stillTicks is the least number of ticks for an adapter of which nothing may move: a busy computer that
// starves it for a moment endangers nobody then, and an error would need a person's reset.
const stillTicks = int(time.Second / driver.Tick)

// silence is how many ticks may pass without a state until the adapter counts as silent.
func (w *watch) silence() int {
	if w.mayNotMove {
		return max(w.maxMissing(), stillTicks)
	}
	return w.maxMissing()
}

// maxMissing is how many ticks may pass without a state of an adapter whose units may move.
func (w *watch) maxMissing() int {
	every := int64(bus.MinStateMS)
	if w.described != nil {
		every = w.described.StateMS
	}
	return int(every) * bus.MissedStates / tickMS
}

// differs reports whether the adapter describes other units than those of the body.
func (w *watch) differs() bool {
	return w.newest != w.described && !reflect.DeepEqual(w.newest, w.described)
}

// difference says what the newest description has other than the one in force.
func difference(was, now *bus.Describe) string {
	has := func(d *bus.Describe, id string) *schema.Unit {
		if i := slices.IndexFunc(d.Units, func(u schema.Unit) bool { return u.ID == id }); i >= 0 {
			return &d.Units[i]
		}
		return nil
	}
	var all []string
	for _, u := range was.Units {
		if again := has(now, u.ID); again == nil {
			all = append(all, "without unit "+u.ID)
		} else if !reflect.DeepEqual(*again, u) {
			all = append(all, "unit "+u.ID+" changed")
		}
	}
	for _, u := range now.Units {
		if has(was, u.ID) == nil {
			all = append(all, "new unit "+u.ID)
		}
	}
	if len(all) == 0 {
		return "its model, points, languages or intervals changed"
	}
	return strings.Join(all, ", ")
}
