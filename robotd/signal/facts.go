package signal

import (
	"maps"
	"strings"
	"time"

	"troupe/robotd/clock"
	"troupe/schema/cond"
	"troupe/schema/interrupts"
)

// Known is what the rest of the robot knows, for the keys of conditions. What is empty is
// missing.
type Known struct {
	Mode, Safety, Story, Act string
	Intent                   string
	Location                 string
	Labels                   map[string]string // shared, read-only
	Battery                  float64
	Charging, HasBattery     bool
	MakesSound               bool           // the robot itself does: what it hears then is no signal
	Zone                     *time.Location // where the robot is
}

// Values are the signals of the body and the facts of conditions.
type Values struct {
	slots       []slot
	pulses      bool // one happened since the last step
	listChanged bool // what List returns has changed since the last call of Changed
	next        time.Duration

	known    Known
	quarter  int64 // of an hour, on the wall; the local hour changes with it
	happened map[string]moment

	changes int64             // count of changes, which shows a reader whether there were any since it last looked
	stamps  map[string]moment // of the last change of each key
	now     time.Duration     // of the newest step
	facts   cond.Facts
	since   map[string]float64 // in facts, for those who ask now
}

// moment is when something happened, and the count of changes then.
type moment struct {
	at    time.Duration
	stamp int64
}

func newValues() Values {
	v := Values{happened: map[string]moment{}, stamps: map[string]moment{}, since: map[string]float64{}, quarter: -1}
	v.facts = cond.Facts{cond.Since: v.since}
	v.sensed()
	return v
}

// Step takes what else is known, and makes values of the readings that have lasted long
// enough.
func (v *Values) Step(now clock.Now, k Known) {
	v.now = now.Mono
	v.next = v.takeLasting(now.Mono)
	was := &v.known
	v.text("mode", was.Mode, k.Mode)
	v.text("safety", was.Safety, k.Safety)
	v.text("story", was.Story, k.Story)
	v.text("act", was.Act, k.Act)
	v.text("location", was.Location, k.Location)
	v.text("intent", was.Intent, k.Intent)
	if !maps.Equal(was.Labels, k.Labels) {
		v.set("labels", k.Labels, len(k.Labels) > 0)
	}
	if was.Battery != k.Battery || was.HasBattery != k.HasBattery {
		v.set("battery", k.Battery, k.HasBattery)
	}
	if was.Charging != k.Charging || was.HasBattery != k.HasBattery {
		v.set("charging", k.Charging, k.HasBattery)
	}
	if quarter := int64(now.Wall) / (15 * 60 * 1000); quarter != v.quarter || was.Zone != k.Zone {
		v.quarter = quarter
		zone := time.UTC
		if k.Zone != nil {
			zone = k.Zone
		}
		local := time.UnixMilli(int64(now.Wall)).In(zone)
		v.set("hour", int64(local.Hour()), true)
		v.set("weekday", strings.ToLower(local.Weekday().String()[:3]), true)
	}
	v.known = k
}

// Note notes that an event of the robot happened, for the function since_s of conditions.
func (v *Values) Note(now time.Duration, name string) {
	if _, known := v.happened[name]; known || len(v.happened) < maxNames {
		v.changes++
		v.happened[name] = moment{now, v.changes}
	}
}

// Facts are the facts now. They are valid until the next call.
func (v *Values) Facts(now time.Duration) cond.Facts {
	for name, m := range v.happened {
		v.since[name] = (now - m.at).Seconds()
	}
	return v.facts
}

// Changes counts the changes of all facts: a reader that saw the same count has seen
// everything but the passing of time.
func (v *Values) Changes() int64 { return v.changes }

// Age is how long a key has had its value, or none.
func (v *Values) Age(key string) time.Duration { return v.now - v.stamps[key].at }

// People is how many people the robot sees, if it can see them.
func (v *Values) People() (n int64, known bool) {
	n, known = v.facts["people"].(int64)
	return n, known
}

func (v *Values) text(key, was, is string) {
	if was != is {
		v.set(key, is, is != "")
	}
}

// set gives a key its value, or none.
func (v *Values) set(key string, value any, known bool) {
	v.changes++
	v.stamps[key] = moment{v.now, v.changes}
	if known {
		v.facts[key] = value
	} else {
		delete(v.facts, key)
	}
}

// sensed makes facts of the signals. A robot that reports no touch is not touched; one
// that never reported how many people there are does not see them, and of one that never
// reported that it is dark nobody knows.
func (v *Values) sensed() {
	touch, area, sound, newest := false, "", false, time.Duration(-1)
	noise, people, sees, dark, light := 0.0, 0.0, false, false, false
	for i := range v.slots {
		switch s := &v.slots[i]; s.Signal {
		case interrupts.Touch:
			if s.On && s.Since > newest {
				touch, area, newest = true, s.Name, s.Since
			}
		case interrupts.Sound:
			sound, noise = s.On, s.Level
		case interrupts.Dark:
			dark, light = s.On, !s.On
		case interrupts.People:
			sees, people = true, s.Level
		}
	}
	v.fact("touch", touch, true)
	v.fact("touch_area", area, touch)
	v.fact("sound", sound, true)
	v.fact("noise_db", noise, noise > 0)
	v.fact("people", int64(people), sees)
	v.fact("dark", dark, dark || light)
}

// fact is set, except that it changes nothing if the key has the value already.
func (v *Values) fact(key string, value any, known bool) {
	if was, is := v.facts[key]; is != known || known && was != value {
		v.set(key, value, known)
	}
}
