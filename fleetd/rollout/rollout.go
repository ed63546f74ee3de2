// Package rollout decides how a content reaches many robots: in waves, with gates between them. It decides only: the
// caller gathers facts, and saves what changes in the transaction that assigns the content, so that a process that ends
// between any two statements goes on where the last transaction stopped.
//
// A plan and its rows:
//
//	func (Spec) Complete() (Spec, []schema.Problem)             // with defaults; NewPlan does it, too
//	func NewPlan(Ask) (Plan, []schema.Problem)                  // waves, and who is left out and why
//	func (Plan) Rollout(New) (Rollout, []Robot)                 // rows: READY, WAITING_FOR_APPROVAL, SCHEDULED or RUNNING
//
// Steps of the leader, once a second and after news:
//
//	func NewRun(Rollout, []Robot) *Run                          // from rows; after an error it is made again
//	func Step(*Run, now time.Time, Facts) Changes               // judges robots, then waves, then offers
//	func Assigned(*Run, Changes, map[string]Given, now time.Time) Changes
//
// For Changes.Offers and for each of Changes.Restore the caller plans an assignment within the same transaction, tells
// Assigned what each robot got (robots that are not in the map were not given anything, and are tried again), and saves
// what Assigned returns. Without offers, Changes of Step are saved as they are. After the commit the caller sets
// Run.Rollout.Version to the saved one.
//
// Decisions of people, by any instance of fleetd:
//
//	func Decide(*Run, Decision, now time.Time) (Changes, []schema.Problem)
//
// Decide changes the rollout and its waves. Unless Decision.NeedsRobots, NewRun(rollout, nil) will do. Step does the
// rest, such as cancelling the robots of a rollout that was aborted: until then Rollout.EndedAt is zero, and NextAt is due.
//
// An assignment to robots at once is a rollout, too: NewPlan with Spec.AllAtOnce, Plan.Rollout with Start, and Step with
// empty Facts, which offers the content to every robot in the transaction of the assignment.
//
// For people: Rollout.Waits says what an open rollout waits for, Run.Health compares updated robots with the others.
package rollout

import (
	"time"

	"troupe/fleetd/content"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// Rollout is one content on its way to selected robots.
type Rollout struct {
	ID      string
	Version int64 // rises with each change of the rollout, its waves or its robots; a change of another version is a conflict
	Name    string
	State   State
	Why     string // why it is in this state: a person's reason, a threshold, a window
	Cause   Cause
	CauseID string          // the policy, schedule or folder; empty if there is none
	Content content.Content // resolved: revisions are given
	Digest  string          // of Content
	Robots  string          // the selector, for people
	Spec    Spec            // complete: defaults are filled in
	Seed    uint64          // orders the robots of a wave
	Wave    int             // number of the running wave, from 0
	Waves   []Wave

	CreatedAt  time.Time
	CreatedBy  string
	ApprovedAt time.Time
	ApprovedBy string
	NotBefore  time.Time // it starts by itself then; zero = when somebody starts it
	StartedAt  time.Time
	EndedAt    time.Time
	NextAt     time.Time // when Step has to run without any news; zero = only news change something
}

// Cause is who or what started a rollout.
type Cause string

// The causes. An assignment is a rollout of one wave without gates.
const (
	ByPerson     Cause = "person"
	ByAssignment Cause = "assignment"
	ByPolicy     Cause = "policy"
	BySchedule   Cause = "schedule"
	ByFolder     Cause = "folder"
)

// Wave is a part of the robots, which comes after the waves before it.
type Wave struct {
	Number    int // from 0
	Name      string
	State     WaveState
	Why       string
	Gate      Gate
	Total     int // robots
	StartedAt time.Time
	SoakFrom  time.Time
	EndedAt   time.Time
	Counts    map[RobotState]int // always equal a recount of the robots
}

// Robot is one robot of a rollout.
type Robot struct {
	ID    string
	Wave  int
	Place int // in its wave
	State RobotState
	Phase schema.DeployPhase // that it reported last about Rev
	Why   string             // the robot's own sentence, or what fleetd waits for or gave up
	Group string             // groups failures: a reason code such as misfit
	Rev   int64              // of the desired document that it was offered; 0 = none yet
	Had   *content.Content   // what it had before; nil until it is offered
	Tries int                // offers

	ChangedAt time.Time // of State
	OfferedAt time.Time
	ActiveAt  time.Time // when it first reported the content active, after the last offer
	RetryAt   time.Time // the earliest next offer, of a robot in DEFERRED; zero = not known
	// Spent is how long it was online in its present phase, until SpentAt: time during which it is offline does not count.
	Spent    time.Duration
	SpentAt  time.Time     // since when it is online in its present phase, beyond Spent; zero = the clock does not run
	RetryFor time.Duration // the wait before the next offer after a failure
}

// Gate is what the robots of a wave have to show before the next wave begins.
type Gate struct {
	SuccessPercent    float64 `json:"success_percent" minimum:"0" maximum:"100" doc:"of the reachable robots that have to be CONFIRMED"`
	MaxFailurePercent float64 `json:"max_failure_percent" minimum:"0" maximum:"100" doc:"of the robots that failed or have the content active: with more, the rollout pauses; 0 = no failure"`
	MinDecided        int     `json:"min_decided" minimum:"0" doc:"with fewer robots that failed or have the content active, the wave is INCONCLUSIVE instead of FAILED"`
	SoakS             int64   `json:"soak_s" minimum:"0" maximum:"604800" doc:"seconds between the two reports of a robot that is CONFIRMED, and for which the wave is watched after its robots have the content"`
	// What a person accepted by resuming the rollout after the wave failed or could not be decided.
	AcceptedFailures int  `json:"accepted_failures,omitempty" doc:"failed robots that do not count any more, because a person resumed the rollout"`
	Waived           bool `json:"waived,omitempty" doc:"a person resumed the rollout: neither the health nor the part of confirmed robots is looked at"`
}

// WaveSpec asks for one wave: exactly one of Count, Percent and Robots. Complete checks its bounds, and those of Spec, so that a
// request is told everything that is wrong at once.
type WaveSpec struct {
	Name    string             `json:"name,omitempty"`
	Count   int                `json:"count,omitempty" doc:"so many of the robots that no earlier wave has"`
	Percent float64            `json:"percent,omitempty" doc:"so that this and all earlier waves have this part of all robots, rounded up"`
	Max     int                `json:"max,omitempty" doc:"of a percent or a selector: at most so many robots; 0 = no limit"`
	Robots  *selector.Selector `json:"selector,omitempty" doc:"these of the robots that no earlier wave has, such as a test site"`
	// Gate fields that differ from the default of the wave.
	SuccessPercent    *float64 `json:"success_percent,omitempty"`
	MaxFailurePercent *float64 `json:"max_failure_percent,omitempty"`
	MinDecided        *int     `json:"min_decided,omitempty"`
	SoakS             *int64   `json:"soak_s,omitempty"`
}

// OfflinePolicy says what becomes of robots that are not reachable when their turn comes.
type OfflinePolicy string

const (
	OfflineWait OfflinePolicy = "wait" // they are offered the content when they return; the rollout goes on without them
	OfflineSkip OfflinePolicy = "skip" // they end as EXPIRED_OFFLINE at once
	OfflineFail OfflinePolicy = "fail" // they count as failed
)

// PinnedPolicy says what becomes of robots whose content of this kind a person pinned.
type PinnedPolicy string

const (
	PinnedLeave   PinnedPolicy = "leave"   // they keep what they have
	PinnedReplace PinnedPolicy = "replace" // they get the content and stay pinned, to it
)

// RefusedPolicy says what becomes of robots of which the plan says that they will refuse the content.
type RefusedPolicy string

const (
	RefusedLeave RefusedPolicy = "leave" // they are offered nothing, and end as LEFT_OUT
	RefusedOffer RefusedPolicy = "offer" // they are offered it, and decide themselves
)

// Spec is how a rollout goes. Zero values stand for the defaults.
type Spec struct {
	Waves []WaveSpec `json:"waves,omitempty" doc:"robots that no wave has are the last one; default: a canary of 1 %, 1 to 5 robots, then 10, 50 and 100 %"`
	// AllAtOnce is one wave without gates, as an assignment is.
	AllAtOnce bool `json:"all_at_once,omitempty" doc:"one wave without gates and without a limit of offers"`

	OffersPerMin    int `json:"offers_per_min,omitempty" doc:"default 60; doubled by each wave that passed"`
	MaxOffersPerMin int `json:"max_offers_per_min,omitempty" doc:"default 960"`

	AcceptS   int64 `json:"accept_s,omitempty" doc:"seconds online until a robot reports about the offer; default 120"`
	FetchS    int64 `json:"fetch_s,omitempty" doc:"seconds online for fetching and checking; default 600"`
	ActivateS int64 `json:"activate_s,omitempty" doc:"seconds online from ready to active; default 120"`
	ConfirmS  int64 `json:"confirm_s,omitempty" doc:"seconds from active to the second report, a soak apart; default 300 and the soak"`

	Offline        OfflinePolicy `json:"offline,omitempty" enum:"wait,skip,fail" doc:"robots that are not reachable; default wait"`
	OfflineExpiryS int64         `json:"offline_expiry_s,omitempty" doc:"seconds after which robots that stay away end as EXPIRED_OFFLINE; default 30 days"`
	Pinned         PinnedPolicy  `json:"pinned,omitempty" enum:"leave,replace" doc:"robots that a person pinned; default leave"`
	Refused        RefusedPolicy `json:"refused,omitempty" enum:"leave,offer" doc:"robots that the plan says will refuse the content; default leave"`
	InWindows      bool          `json:"in_windows,omitempty" doc:"only in the maintenance windows of each robot's site"`
	OnlyIdle       bool          `json:"only_idle,omitempty" doc:"only robots that do not perform"`
	Retries        *int          `json:"retries,omitempty" doc:"offers after failures that may pass: transport, full disk, busy; default 3"`
	WatchHealth    *bool         `json:"watch_health,omitempty" doc:"compare the updated robots with the others before the next wave; default true"`
}
