package api

import (
	"fmt"

	"troupe/fleetd/audit"
	"troupe/fleetd/content"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// RolloutRequest is a content, the robots that shall have it, and how it reaches them.
type RolloutRequest struct {
	Name     string            `json:"name,omitempty" maxLength:"63" doc:"for people; default the content in words"`
	Content  content.Content   `json:"content" cli:"-"`
	Selector selector.Selector `json:"selector"`
	Spec     rollout.Spec      `json:"spec,omitzero" doc:"waves, gates and limits; default: a canary, then 10, 50 and 100 %" cli:"-"`
}

// NewRollout is a rollout to create. Digest, ExpectedCount and Supersede are what its plan showed: if the plan would be
// another one now, the request is refused.
type NewRollout struct {
	RolloutRequest
	Digest        string      `json:"digest,omitempty" maxLength:"64" doc:"refused if the content would have another digest now"`
	ExpectedCount *int        `json:"expected_count,omitempty" minimum:"0" doc:"refused unless exactly this many robots are selected"`
	Supersede     *int        `json:"supersede,omitempty" minimum:"0" doc:"how many robots it takes from open rollouts of the same kind; refused if others than these would be taken"`
	Start         bool        `json:"start,omitempty" doc:"start it at once; it waits for its approval if it needs one"`
	NotBefore     schema.Time `json:"not_before,omitzero" doc:"it starts by itself then" cli:"-"`
	audit.Attribution
}

// RolloutPlan is what a rollout would do.
type RolloutPlan struct {
	Content       content.Content     `json:"content" doc:"with the revisions that are assigned"`
	Text          string              `json:"text" doc:"the content in a few words"`
	Kind          string              `json:"kind" enum:"story,activities,config,mode,places"`
	Digest        string              `json:"digest" doc:"of the content"`
	Selector      string              `json:"selector"`
	Spec          rollout.Spec        `json:"spec" doc:"with the defaults"`
	Total         int                 `json:"total" doc:"robots selected"`
	Waves         []RolloutPlanWave   `json:"waves"`
	Refused       []RolloutRefusal    `json:"refused" doc:"robots that would refuse the content, at most 1000; they are left out, unless spec says that they are offered it"`
	RefusedTotal  int                 `json:"refused_total" doc:"how many robots would refuse the content"`
	Warnings      []RolloutRefusal    `json:"warnings" doc:"robots that would leave out a part of the content, at most 1000"`
	WarningsTotal int                 `json:"warnings_total" doc:"how many robots would leave out a part of the content"`
	Unchanged     SomeRobots          `json:"unchanged" doc:"robots that have the content already"`
	Pinned        SomeRobots          `json:"pinned" doc:"robots that keep what a person pinned"`
	Offline       SomeRobots          `json:"offline" doc:"robots that are not reachable now"`
	Superseding   []RolloutSuperseded `json:"superseding" doc:"robots that this rollout takes from open ones of the same kind"`
	ExpectedEnd   schema.Time         `json:"expected_end,omitzero" doc:"if nothing fails, and every robot is reachable"`
	Approval      bool                `json:"needs_approval" doc:"a second person has to approve it"`
}

// RolloutPlanWave is a wave of a plan.
type RolloutPlanWave struct {
	Number  int          `json:"number" doc:"from 0"`
	Name    string       `json:"name"`
	Total   int          `json:"total" doc:"robots"`
	Refused int          `json:"refused" doc:"robots among them that would refuse the content"`
	Robots  []string     `json:"robots" doc:"the first 5, in the order in which they are offered the content"`
	Gate    rollout.Gate `json:"gate"`
}

// RolloutRefusal is a robot that would refuse a content.
type RolloutRefusal struct {
	Robot  string `json:"robot"`
	Wave   int    `json:"wave"`
	Reason string `json:"reason" doc:"groups robots: misfit, unsupported_version"`
	Detail string `json:"detail"`
}

// SomeRobots is a number of robots, and the first of them.
type SomeRobots struct {
	Count  int      `json:"count"`
	Robots []string `json:"robots" doc:"the first 5"`
}

// RolloutSuperseded is robots that a rollout takes from another one.
type RolloutSuperseded struct {
	Rollout string `json:"rollout"`
	Name    string `json:"name"`
	Robots  int    `json:"robots"`
}

// RolloutSummary is a rollout without its waves.
type RolloutSummary struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	State      rollout.State  `json:"state" enum:"DRAFT,WAITING_FOR_APPROVAL,READY,SCHEDULED,RUNNING,PAUSED,SUCCEEDED,COMPLETED_WITH_FAILURES,ABORTED,ROLLING_BACK,ROLLED_BACK,ROLLBACK_INCOMPLETE"`
	Why        string         `json:"why,omitempty" doc:"why it is in this state: a person's reason, or a threshold"`
	Waits      string         `json:"waits,omitempty" doc:"what an open rollout waits for"`
	Cause      rollout.Cause  `json:"cause" enum:"person,assignment,policy,schedule,folder" doc:"who or what began it"`
	CauseID    string         `json:"cause_id,omitempty" doc:"the policy, the schedule or the folder"`
	Content    string         `json:"content" doc:"in a few words"`
	Kind       string         `json:"kind" enum:"story,activities,config,mode,places"`
	Digest     string         `json:"digest" doc:"of the content"`
	Selector   string         `json:"selector,omitempty"`
	Total      int            `json:"total" doc:"robots"`
	Counts     map[string]int `json:"counts" doc:"robots by their state"`
	Wave       int            `json:"wave" doc:"number of the present wave, from 0"`
	WaveCount  int            `json:"wave_count"`
	CreatedAt  schema.Time    `json:"created_at"`
	CreatedBy  string         `json:"created_by,omitempty"`
	ApprovedAt schema.Time    `json:"approved_at,omitzero"`
	ApprovedBy string         `json:"approved_by,omitempty"`
	NotBefore  schema.Time    `json:"not_before,omitzero" doc:"it starts by itself then"`
	StartedAt  schema.Time    `json:"started_at,omitzero"`
	EndedAt    schema.Time    `json:"ended_at,omitzero"`
	NextAt     schema.Time    `json:"next_at,omitzero" doc:"when something happens without news, such as the end of a soak"`
	Can        []string       `json:"can" doc:"what a person can do with it now: start, approve, pause, resume, retry, abort, rollback"`
}

// RolloutList is rollouts, the newest first.
type RolloutList struct {
	Rollouts []RolloutSummary `json:"rollouts"`
}

// RolloutDetail is a rollout with its waves and failures.
type RolloutDetail struct {
	RolloutSummary
	Version  int64            `json:"version" doc:"rises with each change"`
	Document content.Content  `json:"document" doc:"the content, without the body of places"`
	Spec     rollout.Spec     `json:"spec"`
	Waves    []RolloutWave    `json:"waves"`
	Failures []RolloutFailure `json:"failures" doc:"failed robots by reason, the most first"`
	Health   *RolloutHealth   `json:"health,omitempty" doc:"updated robots beside the others, while it runs"`
}

// RolloutWave is one wave of a rollout.
type RolloutWave struct {
	Number    int               `json:"number" doc:"from 0"`
	Name      string            `json:"name"`
	State     rollout.WaveState `json:"state" enum:"PLANNED,RUNNING,SOAKING,PASSED,FAILED,INCONCLUSIVE,SKIPPED"`
	Why       string            `json:"why,omitempty"`
	Gate      rollout.Gate      `json:"gate"`
	Total     int               `json:"total" doc:"robots"`
	Counts    map[string]int    `json:"counts" doc:"robots by their state"`
	StartedAt schema.Time       `json:"started_at,omitzero"`
	SoakFrom  schema.Time       `json:"soak_from,omitzero"`
	SoakUntil schema.Time       `json:"soak_until,omitzero"`
	EndedAt   schema.Time       `json:"ended_at,omitzero"`
}

// RolloutFailure is robots that failed for the same reason.
type RolloutFailure struct {
	Reason string             `json:"reason"`
	State  rollout.RobotState `json:"state" enum:"REJECTED,FAILED,TIMED_OUT,REVERTED,SILENT" doc:"of the first robot"`
	Count  int                `json:"count"`
	Detail string             `json:"detail" doc:"a robot's own sentence"`
	Robots []string           `json:"robots" doc:"the first 5"`
}

// RolloutHealth compares the robots that have the content with the others of the fleet.
type RolloutHealth struct {
	Updated HealthCounts `json:"updated"`
	Rest    HealthCounts `json:"rest"`
	Worse   string       `json:"worse,omitempty" doc:"in which way the updated robots are worse off"`
}

// HealthCounts are numbers of robots, and of what happened to them in the last five minutes.
type HealthCounts struct {
	Robots     int `json:"robots"`
	Offline    int `json:"offline"`
	Critical   int `json:"critical" doc:"robots with an alert of level critical"`
	Latched    int `json:"latched" doc:"robots with a latched stop"`
	Acts       int `json:"acts" doc:"acts that ended"`
	ActErrors  int `json:"act_errors" doc:"acts that failed"`
	Interrupts int `json:"interrupts"`
}

// RolloutRobot is one robot of a rollout.
type RolloutRobot struct {
	Robot     string             `json:"robot"`
	Wave      int                `json:"wave" doc:"from 0"`
	WaveName  string             `json:"wave_name"`
	State     rollout.RobotState `json:"state" enum:"PLANNED,DEFERRED,WAITING_OFFLINE,OFFERED,ACTIVE,CONFIRMED,REJECTED,FAILED,TIMED_OUT,REVERTED,SILENT,UNCHANGED,LEFT_OUT,SUPERSEDED,CANCELLED,EXPIRED_OFFLINE,DECOMMISSIONED,PINNED,RESTORING,RESTORED,NOT_RESTORED"`
	Phase     string             `json:"phase,omitempty" doc:"that it reported last"`
	Why       string             `json:"why,omitempty" doc:"the robot's own sentence, or what it waits for"`
	Reason    string             `json:"reason,omitempty" doc:"groups failures"`
	Rev       int64              `json:"rev,omitempty" doc:"of the desired document that it was offered"`
	Had       string             `json:"had,omitempty" doc:"what it had before, in a few words"`
	Tries     int                `json:"tries,omitempty" doc:"offers"`
	ChangedAt schema.Time        `json:"changed_at,omitzero"`
}

// RolloutRobots is robots of a rollout, in the order of waves and of offers.
type RolloutRobots struct {
	Robots []RolloutRobot `json:"robots"`
	Next   string         `json:"next,omitempty" doc:"for the parameter after; left out after the last robot"`
}

// Decision is what a person decides about a rollout.
type Decision struct {
	ExpectedCount *int `json:"expected_count,omitempty" minimum:"0" doc:"refused unless exactly this many robots are affected"`
	audit.Attribution
}

// Start starts a rollout.
type Start struct {
	Decision
	NotBefore schema.Time `json:"not_before,omitzero" doc:"it starts by itself then, instead of now" cli:"-"`
}

// Approval approves the content of a rollout.
type Approval struct {
	Digest string `json:"digest" minLength:"1" maxLength:"64" doc:"of the content that was looked at; refused if the rollout has another one"`
	audit.Attribution
}

// ContentPin is that a robot keeps what it has of one kind: policies and rollouts leave it.
type ContentPin struct {
	Robot string      `json:"robot"`
	Kind  string      `json:"kind" enum:"story,activities,config,mode,places"`
	At    schema.Time `json:"at"`
	By    string      `json:"by,omitempty"`
	Why   string      `json:"why,omitempty"`
}

// ContentPins are the pins of robots.
type ContentPins struct {
	Pins []ContentPin `json:"pins"`
}

// WaveText says which of its waves a rollout is at: 2 of 4.
func (r *RolloutSummary) WaveText() string {
	if r.StartedAt == 0 {
		return fmt.Sprintf("none of %d", r.WaveCount)
	}
	return fmt.Sprintf("%d of %d", min(r.Wave+1, r.WaveCount), r.WaveCount)
}

// ProgressText says how many of the robots of a rollout have the content, and how many failed.
func (r *RolloutSummary) ProgressText() string {
	has, failed := 0, 0
	for state, n := range r.Counts {
		switch {
		case rollout.RobotState(state) == rollout.Confirmed, rollout.RobotState(state) == rollout.Unchanged:
			has += n
		case rollout.RobotState(state).HasFailed():
			failed += n
		}
	}
	text := fmt.Sprintf("%d of %d", has, r.Total)
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text
}
