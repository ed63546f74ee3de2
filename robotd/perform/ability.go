package perform

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"troupe/robotd/act"
	"troupe/robotd/auto"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/score"
)

// abilityLanes has a lane for each kind of unit that abilities use, below all others.
var abilityLanes = [...]abilityLane{
	{"ability-led", schema.UnitLED, string(schema.AbilityBreathing)},
	{"ability-face", schema.UnitFace, string(schema.AbilityBlinking)},
	{"ability-head", schema.UnitHead, "looking around"},
}

type abilityLane struct {
	lane act.Lane
	kind schema.UnitKind
	does string // for people
}

// IsAbility reports whether a lane is one of abilities. What is performed there is no act, so
// nobody reports its begin and end; AbilityEnded raises an alert about failures.
func IsAbility(l act.Lane) bool { return strings.HasPrefix(string(l), "ability-") }

const (
	breath       = 4 * time.Second // a breath of the LEDs
	breathing    = time.Minute     // how long the LEDs breathe for one command
	breatheAgain = time.Second     // at the earliest: LEDs that refuse get no storm of commands
	blink        = 200 * time.Millisecond
	swayEvery    = 5 * time.Second
	swayRad      = 0.08
	swaySpeed    = 0.1
	lookSpeed    = 0.4
	lookAgain    = 0.05 // rad by which a person has to move for the head to follow
	headWithin   = 5 * time.Second
)

// blinkEvery are the pauses between blinks, in turn.
var blinkEvery = [...]time.Duration{4 * time.Second, 2500 * time.Millisecond, 6 * time.Second}

// blinkFaces are faces with closed eyes, the best first.
var blinkFaces = []string{"blink", "sleepy"}

// abilities is what the robot does by itself beside its acts, on units that nothing else uses.
type abilities struct {
	wanted    []schema.Ability
	running   []schema.Ability
	now       []schema.Ability // running in this step, to compare
	blinks    int
	sways     int
	blinkAt   time.Duration
	breatheAt time.Duration
	swayAt    time.Duration
	yaw       float64 // where the head was sent; anywhere = something else may have moved it since
	failing   [len(abilityLanes)]bool
}

// failedAlert is the kind of the alert about a unit that fails an ability; its source is the
// unit.
const failedAlert = "ability_failed"

// anywhere is the yaw of a head that something else has used; it is far from every yaw.
var anywhere = math.Inf(1)

// SetAbilities sets which abilities are performed from now on.
func (s *State) SetAbilities(names []schema.Ability) { s.abilities.wanted = names }

// Performs reports whether an ability is performed.
func (s *State) Performs(a schema.Ability) bool { return slices.Contains(s.abilities.running, a) }

// HasAbilities reports whether any ability is performed.
func (s *State) HasAbilities() bool { return len(s.abilities.running) > 0 }

// Abilities performs the abilities. It comes last, so that each unit goes first to whatever else
// wants it in this step.
func (t Step) Abilities() {
	s := &t.abilities
	s.now = s.now[:0]
	if len(s.wanted) == 0 {
		for i := range s.failing {
			t.clearAbilityAlert(i)
		}
	}
	if len(s.wanted)+len(s.running) == 0 {
		return
	}
	units := t.Body.Units()
	for _, a := range abilityLanes {
		i := slices.IndexFunc(units, func(u schema.Unit) bool { return u.Kind == a.kind })
		if i < 0 {
			continue
		}
		u := &units[i]
		if !t.isFree(a.lane, u) {
			t.Lanes.Cancel(a.lane, "", schema.ReasonResourceBusy)
			if a.kind == schema.UnitHead {
				s.yaw = anywhere
			}
			continue
		}
		switch a.kind {
		case schema.UnitLED:
			t.breathe(a.lane, u)
		case schema.UnitFace:
			t.blink(a.lane, u)
		case schema.UnitHead:
			t.look(a.lane, u)
		}
	}
	if !slices.Equal(s.now, s.running) {
		s.running = append(s.running[:0], s.now...)
		t.Out.Changed(effect.FlushSoon)
	}
}

// listIfWanted reports whether an ability is wanted, and if it is, lists it as running.
func (t Step) listIfWanted(a schema.Ability) bool {
	wanted := slices.Contains(t.abilities.wanted, a)
	if wanted {
		t.abilities.now = append(t.abilities.now, a)
	}
	return wanted
}

// isFree reports whether abilities may use a unit: nothing is frozen, no act uses it, and it
// may move if it does.
func (t Step) isFree(l act.Lane, u *schema.Unit) bool {
	return len(t.abilities.wanted) > 0 && t.auto.Status != schema.AutoNotActive && t.frozen != auto.FreezeAll &&
		(!u.Kind.Moves() || t.mayMove()) && !t.unusable(u.ID) && !t.Lanes.UsedAbove(l, u.ID)
}

// AbilityEnded raises an alert for a unit that fails what the robot does by itself, and clears
// it when the unit does it again. No act names that unit, so nothing else would show it.
func (t Step) AbilityEnded(o *act.Effect) {
	i := slices.IndexFunc(abilityLanes[:], func(a abilityLane) bool { return a.lane == o.Lane })
	switch {
	case o.Outcome == act.EntryCompleted:
		t.clearAbilityAlert(i)
	case o.Outcome != act.EntryFailed || o.Reason == schema.ReasonStopped || o.Reason == schema.ReasonSafetyDisabled ||
		o.Reason == schema.ReasonSuperseded:
	default:
		id := t.abilityUnit(i)
		t.abilities.failing[i] = true
		t.Out.Do(effect.RaiseAlert{Kind: failedAlert, Level: schema.AlertWarn, Source: id,
			Detail: "unit " + id + " fails " + abilityLanes[i].does + ": " + cmp.Or(o.Detail, o.Reason.Describe().Text),
			Hint:   "repair the unit or its adapter, whose log may say more; the robot tries again by itself",
			Params: schema.AlertParams{Reason: o.Reason}})
	}
}

// clearAbilityAlert clears the alert about the unit of a lane, if there is one.
func (t Step) clearAbilityAlert(i int) {
	if t.abilities.failing[i] {
		t.abilities.failing[i] = false
		t.Out.Clear(failedAlert, t.abilityUnit(i))
	}
}

// abilityUnit returns the id of the unit of a lane. The body has that unit, because only then a
// command is pushed to the lane.
func (t Step) abilityUnit(i int) string {
	units := t.Body.Units()
	return units[slices.IndexFunc(units, func(u schema.Unit) bool { return u.Kind == abilityLanes[i].kind })].ID
}

func (t Step) breathe(l act.Lane, u *schema.Unit) {
	s := &t.abilities
	switch {
	case !t.listIfWanted(schema.AbilityBreathing):
		t.Lanes.Cancel(l, "", schema.ReasonStopped)
	case t.Lanes.Idle(l) && t.Now.Mono >= s.breatheAt:
		s.breatheAt = t.Now.Mono + breatheAgain
		t.replaceAction(l, score.Action{Unit: u.ID, EndMS: new(breathing.Milliseconds()), Do: score.LED{Pattern: "breathe",
			PeriodMS: breath.Milliseconds()}})
	}
}

func (t Step) blink(l act.Lane, u *schema.Unit) {
	s := &t.abilities
	i := slices.IndexFunc(blinkFaces, func(f string) bool { return slices.Contains(u.Faces, f) })
	switch {
	case i < 0:
	case !t.listIfWanted(schema.AbilityBlinking):
		t.Lanes.Cancel(l, "", schema.ReasonStopped)
	case t.Lanes.Idle(l) && t.Now.Mono >= s.blinkAt:
		s.blinkAt = t.Now.Mono + blinkEvery[s.blinks%len(blinkEvery)]
		s.blinks++
		t.replaceAction(l, score.Action{EndMS: new(blink.Milliseconds()), Do: score.Face{Face: blinkFaces[i]}})
	}
}

// look turns the head to the nearest person, or lets it sway around straight ahead.
func (t Step) look(l act.Lane, u *schema.Unit) {
	s := &t.abilities
	aware, sways := t.listIfWanted(schema.AbilityAwareness), t.listIfWanted(schema.AbilityBackgroundMovement)
	yaw, speed := 0.0, swaySpeed
	switch {
	case !aware && !sways:
		t.Lanes.Cancel(l, "", schema.ReasonStopped)
		return
	case aware && t.People > 0:
		yaw, speed = t.Bearing, lookSpeed
		s.swayAt = t.Now.Mono + swayEvery
	case sways && t.Now.Mono >= s.swayAt:
		s.swayAt = t.Now.Mono + swayEvery
		s.sways++
		fallthrough
	case sways:
		yaw = swayRad * float64(s.sways%3-1)
	}
	if r := u.YawRad; r != nil {
		yaw = min(max(yaw, r.Min), r.Max)
	}
	if math.Abs(yaw-s.yaw) >= lookAgain {
		s.yaw = yaw
		t.replaceAction(l, score.Action{Unit: u.ID, TimeoutMS: new(headWithin.Milliseconds()), Do: score.Head{Axes: score.Axes{YawRad: new(yaw)},
			Speed: new(speed)}})
	}
}

// replaceAction performs one action in place of the one that the lane performs.
func (t Step) replaceAction(l act.Lane, do score.Action) {
	t.Lanes.Push(l, act.Entry{ID: "ability", Clear: true, Act: &score.Act{ID: string(l), Actions: []score.Action{do}}})
}
