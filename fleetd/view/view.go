package view

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"troupe/fleetd/library"
	"troupe/fleetd/presence"
	"troupe/fleetd/store"
	"troupe/schema"
	"troupe/schema/score"
)

// View keeps the newest documents of all robots, and what follows from them. It is a cache:
// the broker delivers robots' retained documents at every connect, and the database has what
// fleetd decided.
type View struct {
	deps Deps

	mu     sync.Mutex
	fleetd presence.Fleetd
	// fleetID is empty until the database is open.
	fleetID string
	robots  map[string]*entry
	feeds   map[*Feed]struct{}
	sent    latency
	clients clients
	shared  sharedParts // has its own lock

	reads          atomic.Int64 // of robots' rows, numbered in the order in which they began
	reloaded       int64        // the newest read of all robots
	lastReadFailed atomic.Bool  // the last read failed
}

// Deps is what a View needs.
type Deps struct {
	Namespace schema.Namespace
	Name      string // of this instance
	Now       func() time.Time
}

// entry is what is known of one robot.
type entry struct {
	adopted    bool        // the database has a row of it
	dbRow      store.Robot // of the database
	read       int64       // the read that dbRow is from
	facts      presence.Facts
	assessment presence.Assessment // of facts, at the last change or Tick
	changedAt  time.Time           // when the entry was changed last
	summary    Robot               // as lists and feeds show it; what it points to is never changed
	shared     *Row                // summary, for readers; nil until somebody reads it

	heartbeat          *schema.Heartbeat
	state              *schema.State
	modes              *schema.Modes
	caps               *schema.Caps
	acts               *schema.Acts
	reported           *schema.ReportedStory
	reportedActivities *schema.ReportedSet
	event              *schema.Event
	stateAt            time.Time
	ahead              time.Duration // by how much fleetd's clock is ahead of the robot's
	aheadOf            string        // the run of robotd for which that is so
	outdatedSince      time.Time     // since when its heartbeat names a newer state than has arrived; zero = it does not
	outdated           bool          // for longer than outdatedGrace

	notHeld      []string // stops that are latched for the robot and that it does not report, for longer than notHeldAfter
	notHeldSince map[string]time.Time
	alertSince   map[string]schema.Time // when fleetd raised its own alerts about the robot, by id

	documents    map[schema.TopicKind]store.Document     // exact bytes
	reportedRevs map[schema.TopicKind]schema.ReportedRev // by the topic of the desired document
	reports      map[schema.TopicKind]*reported          // for rollouts, by the topic of the desired document
	recent       recentEvents
	unsaved      map[schema.TopicKind]bool
}

// New makes a view without robots.
func New(d Deps) *View {
	return &View{deps: d, fleetd: presence.Fleetd{Since: d.Now()}, robots: map[string]*entry{}, feeds: map[*Feed]struct{}{},
		clients: clients{}}
}

// ensureEntry returns the entry of a robot, and makes it if there is none.
func (v *View) ensureEntry(id string) *entry {
	e := v.robots[id]
	if e == nil {
		e = &entry{documents: map[schema.TopicKind]store.Document{}, unsaved: map[schema.TopicKind]bool{}}
		e.dbRow.Labels = map[string]string{}
		v.robots[id] = e
	}
	return e
}

// Document is the newest document of that kind that a robot published, as its exact bytes.
func (v *View) Document(id string, kind schema.TopicKind) []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.robots[id]; e != nil {
		return e.documents[kind].Body
	}
	return nil
}

// Caps returns the capabilities that a robot has published; nil = none yet.
func (v *View) Caps(id string) *schema.Caps {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.robots[id]; e != nil {
		return e.caps
	}
	return nil
}

// Catalogue joins the sounds and faces that robots' capabilities list. A kind is nil if some
// robot accepts any name, or if no robot lists any.
func (v *View) Catalogue() library.Catalogue {
	v.mu.Lock()
	defer v.mu.Unlock()
	byKind := map[score.AssetKind]*names{score.AssetSound: {}, score.AssetFace: {}}
	for _, e := range v.robots {
		if !e.adopted || e.caps == nil {
			continue
		}
		for _, u := range e.caps.Units {
			for _, row := range score.KindOf(u.Kind).Actions {
				for _, f := range row.Fields {
					if f.File != "" && !(f.MayLack && len(f.Names(&u)) == 0) {
						byKind[f.File].join(f.Names(&u))
					}
				}
			}
		}
	}
	return library.Catalogue{Sounds: byKind[score.AssetSound].list(), Faces: byKind[score.AssetFace].list()}
}

// names joins the catalogues of units; a unit without one accepts any name.
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

// change runs do on the robot's entry, computes its presence and its summary again.
func (v *View) change(id string, now time.Time, do func(*entry)) PresenceChange {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.ensureEntry(id)
	before := e.assessment.Status
	do(e)
	e.noteOutdated(now)
	e.assessment, e.outdated = presence.Assess(e.facts, v.fleetd, now), e.isOutdated(now)
	v.updateSummary(id, e)
	return PresenceChange{id, before, e.assessment.Status}
}

// Connected records that fleetd's own connection came up or went down.
func (v *View) Connected(up bool, now time.Time) []PresenceChange {
	v.mu.Lock()
	v.fleetd = presence.Fleetd{Connected: up, Since: now}
	v.mu.Unlock()
	return v.Tick(now)
}

// PresenceChange is a robot whose presence changed.
type PresenceChange struct {
	Robot         string
	before, after presence.Status
}

// BecameReachable reports whether the robot became reachable.
func (c PresenceChange) BecameReachable() bool { return c.after.Reachable() && !c.before.Reachable() }

// BecameUnreachable reports whether the robot became unreachable.
func (c PresenceChange) BecameUnreachable() bool { return c.before.Reachable() && !c.after.Reachable() }

// Tick computes the presence of all robots again: it depends on the time.
func (v *View) Tick(now time.Time) (changes []PresenceChange) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, e := range v.robots {
		s := presence.Assess(e.facts, v.fleetd, now)
		outdated := e.isOutdated(now)
		was := e.assessment
		if s.Status == was.Status && s.Why == was.Why && s.RoundTrip == was.RoundTrip && outdated == e.outdated { // Why differs if Disputed does
			continue
		}
		if s.Status != was.Status {
			changes = append(changes, PresenceChange{id, was.Status, s.Status})
		}
		e.assessment, e.outdated = s, outdated
		v.updateSummary(id, e)
	}
	return changes
}

// Reachable reports whether the robot is reachable.
func (v *View) Reachable(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.robots[id]
	return e != nil && e.assessment.Status.Reachable()
}

// Adopted reports whether the robot belongs to the fleet.
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
		return maps.Clone(e.dbRow.Labels)
	}
	return nil
}

// unsavedDocuments returns the documents of adopted robots that the database does not have
// yet, and counts them as saved; notSaved takes that back.
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

// unknownRobots lists the robots that have published a presence and that the database does
// not know.
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

// Robots lists all robots, in the order of their ids.
func (v *View) Robots() []*Row {
	out := v.rows()
	slices.SortFunc(out, func(a, b *Row) int { return strings.Compare(a.ID, b.ID) })
	return out
}

func (v *View) rows() []*Row {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := make([]*Row, 0, len(v.robots))
	for _, e := range v.robots {
		out = append(out, e.row())
	}
	return out
}

// Robot returns everything about one robot.
func (v *View) Robot(id string) (Detail, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.robots[id]
	if e == nil {
		return Detail{}, false
	}
	return Detail{
		Robot: e.summary, Heartbeat: e.heartbeat, State: e.state, Modes: e.modes, Caps: e.caps, Acts: e.acts, Reported: e.reported,
	}, true
}
