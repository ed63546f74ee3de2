package view

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/library"
	"troupe/fleetd/presence"
	"troupe/fleetd/store"
	"troupe/schema"
)

// View is the newest of everything that is known of robots, in memory: what the
// API shows and the stream tells. It is a cache: what robots say comes again at
// every connect, what fleetd decided is read from the database.
type View struct {
	deps Deps

	mu     sync.Mutex
	fleetd presence.Fleetd
	// fleetID is the fleet's name to robots; empty until the database is open.
	fleetID string
	robots  map[string]*entry
	feeds   map[*Feed]struct{}
	sent    latency
	clients clients
}

// Deps is what a view needs.
type Deps struct {
	Namespace schema.Namespace
	Name      string // of this instance
	Now       func() time.Time
}

// entry is one robot.
type entry struct {
	adopted bool // the database knows it
	kept    store.Robot
	facts   presence.Facts
	shown   presence.Status
	line    api.Robot // as lists and feeds show it; nobody changes what it points to

	heartbeat *schema.Heartbeat
	state     *schema.State
	modes     *schema.Modes
	caps      *schema.Caps
	acts      *schema.Acts
	reported  *schema.ReportedStory
	event     *schema.Event
	stateAt   time.Time
	ahead     time.Duration // fleetd's clock, of the robot's, by its newest live state
	behind    time.Time     // since when the heartbeat tells of a newer state; zero = it does not
	outdated  bool          // long enough to say so

	documents map[schema.TopicKind]store.Document     // exact bytes
	numbers   map[schema.TopicKind]schema.ReportedRev // by the topic of the desired state
	unsaved   map[schema.TopicKind]bool
}

func New(d Deps) *View {
	return &View{deps: d, fleetd: presence.Fleetd{Since: d.Now()}, robots: map[string]*entry{}, feeds: map[*Feed]struct{}{}, clients: clients{}}
}

// of returns the entry of a robot, made if need be.
func (v *View) of(id string) *entry {
	e := v.robots[id]
	if e == nil {
		e = &entry{documents: map[schema.TopicKind]store.Document{}, unsaved: map[schema.TopicKind]bool{}}
		e.kept.Labels = map[string]string{}
		v.robots[id] = e
	}
	return e
}

// document is the newest of that kind that a robot told.
func (v *View) Document(id string, kind schema.TopicKind) []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.robots[id]; e != nil {
		return e.documents[kind].Body
	}
	return nil
}

// catalogue joins what the robots say that their bodies can play and show. Where
// one takes any name, or none has said it, nothing is known.
func (v *View) Catalogue() library.Catalogue {
	v.mu.Lock()
	defer v.mu.Unlock()
	var sounds, faces names
	for _, e := range v.robots {
		if !e.adopted || e.caps == nil {
			continue
		}
		for _, u := range e.caps.Units {
			switch u.Kind {
			case schema.UnitSpeaker:
				sounds.join(u.Sounds)
			case schema.UnitFace:
				faces.join(u.Faces)
			}
		}
	}
	return library.Catalogue{Sounds: sounds.list(), Faces: faces.list()}
}

// names joins the catalogues of units; one without names takes any.
type names struct {
	any   bool
	known map[string]bool
}

func (n *names) join(catalogue []string) {
	if n.known == nil {
		n.known = map[string]bool{}
	}
	n.any = n.any || len(catalogue) == 0
	for _, name := range catalogue {
		n.known[name] = true
	}
}

func (n *names) list() []string {
	if n.any || n.known == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.known))
}

// change runs do on the robot's entry, computes its presence anew and marks what
// changed.
func (v *View) change(id string, now time.Time, do func(*entry)) PresenceChange {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.of(id)
	before := e.shown.View
	do(e)
	e.compare(now)
	e.shown, e.outdated = presence.Of(e.facts, v.fleetd, now), e.isBehind(now)
	v.mark(id, e)
	return PresenceChange{id, before, e.shown.View}
}

// connected notes that fleetd's own connection came or went.
func (v *View) Connected(up bool, now time.Time) []PresenceChange {
	v.mu.Lock()
	v.fleetd = presence.Fleetd{Connected: up, Since: now}
	v.mu.Unlock()
	return v.Tick(now)
}

// PresenceChange is a robot whose presence is another than before.
type PresenceChange struct {
	Robot         string
	before, after presence.View
}

// Came reports whether the robot can be reached from now on.
func (c PresenceChange) Came() bool { return c.after.Reachable() && !c.before.Reachable() }

// Left reports whether the robot could be reached until now.
func (c PresenceChange) Left() bool { return c.before.Reachable() && !c.after.Reachable() }

// tick lets time pass: presence is a function of it.
func (v *View) Tick(now time.Time) (turned []PresenceChange) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, e := range v.robots {
		s := presence.Of(e.facts, v.fleetd, now)
		behind := e.isBehind(now)
		if s.View == e.shown.View && s.Why == e.shown.Why && behind == e.outdated { // Why tells Disputed too
			continue
		}
		if s.View != e.shown.View {
			turned = append(turned, PresenceChange{id, e.shown.View, s.View})
		}
		e.shown, e.outdated = s, behind
		v.mark(id, e)
	}
	return turned
}

// known takes in what the database says of all robots.
func (v *View) Known(robots []store.Robot) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range robots {
		e := v.of(r.ID)
		same := e.adopted && sameRobot(e.kept, r)
		e.adopted, e.kept = true, r
		if !same {
			v.mark(r.ID, e)
		}
	}
}

// Sync takes in all robots of the database, and forgets those that it has no more.
func (v *View) Sync(robots []store.Robot) {
	v.Known(robots)
	v.forgetOthers(robots)
}

// reachable reports whether what is sent to the robot now should arrive.
func (v *View) Reachable(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.robots[id]
	return e != nil && e.shown.View.Reachable()
}

// adopted reports whether the database knows the robot.
func (v *View) Adopted(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.robots[id]
	return e != nil && e.adopted
}

// Labels are a robot's labels, as the database has them.
func (v *View) Labels(id string) map[string]string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.robots[id]; e != nil {
		return maps.Clone(e.kept.Labels)
	}
	return nil
}

// unsavedDocuments hands out the documents of adopted robots that the database
// does not have yet; notSaved takes back what it could not take.
func (v *View) unsavedDocuments() []store.Document {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []store.Document
	for _, e := range v.robots {
		if !e.adopted {
			continue
		}
		for kind := range e.unsaved {
			out = append(out, e.documents[kind])
		}
		clear(e.unsaved)
	}
	return out
}

func (v *View) notSaved(documents []store.Document) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, d := range documents {
		if e := v.robots[d.Robot]; e != nil { // else it was forgotten meanwhile
			e.unsaved[d.Kind] = true
		}
	}
}

// unknown lists the robots that are there and that the database does not know.
func (v *View) unknownRobots() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []string
	for id, e := range v.robots {
		if !e.adopted && e.facts.State != "" {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// list returns all robots by id.
func (v *View) Robots() []api.Robot {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := make([]api.Robot, 0, len(v.robots))
	for _, e := range v.robots {
		out = append(out, e.line)
	}
	slices.SortFunc(out, func(a, b api.Robot) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// detail returns everything about one robot.
func (v *View) Robot(id string) (api.Detail, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.robots[id]
	if e == nil {
		return api.Detail{}, false
	}
	return api.Detail{
		Robot: e.line, Heartbeat: e.heartbeat, State: e.state, Modes: e.modes, Caps: e.caps, Acts: e.acts, Reported: e.reported,
	}, true
}
