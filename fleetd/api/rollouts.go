package api

import (
	"context"
	"net/http"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
)

// rolloutColumns are the columns of a table of rollouts.
const rolloutColumns = "ID id | STATE state | WAVE WaveText() | ROBOTS ProgressText() | CONTENT content | CREATED created_at | BY created_by | WHY why"

// RolloutQuery selects rollouts.
type RolloutQuery struct {
	caller
	State string `query:"state" enum:"open,DRAFT,WAITING_FOR_APPROVAL,READY,SCHEDULED,RUNNING,PAUSED,SUCCEEDED,COMPLETED_WITH_FAILURES,ABORTED,ROLLING_BACK,ROLLED_BACK,ROLLBACK_INCOMPLETE" doc:"only those in this state; open = those that have not ended"`
	Robot string `query:"robot" maxLength:"64" doc:"only those of this robot"`
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"20" doc:"at most this many"`
}

// RolloutRobotsQuery selects robots of a rollout.
type RolloutRobotsQuery struct {
	PathID
	State string `query:"state" doc:"only robots in this state, such as FAILED; failed = in one of the states of failures"`
	Wave  int    `query:"wave" minimum:"-1" default:"-1" doc:"only robots of this wave, from 0; -1 = of all"`
	After string `query:"after" maxLength:"64" doc:"only robots behind this one, as next of the answer before says"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"200" doc:"at most this many"`
}

func (s *server) rollouts(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "plan-rollout", Method: http.MethodPost, Path: "/rollouts/plan", Tag: "rollouts", Right: auth.Assign, ReadOnly: true,
		Summary: "Show what a rollout would do",
		Description: "Its waves, the robots that would refuse the content and why, those that it would take from open rollouts, and when " +
			"it would end. Nothing is saved. The digest and the counts can be sent with the request that creates it.",
		Use:     "rollout plan [ROBOT...]",
		Example: "rollout plan --story museum --all\nrollout plan --story museum --all --canary 1 --waves 50% --soak 10m",
		Long: "Show what a rollout would do: its waves, the robots that would refuse the content and why, and when it would\n" +
			"end. Nothing is saved. The flags are those of fleetd rollout create.",
	}, func(ctx context.Context, in *bodyOf[RolloutRequest]) (*answer[RolloutPlan], error) {
		return s.planRollout(ctx, in.principal, in.Body)
	})
	operation.Register(t, operation.Row{
		ID: "create-rollout", Method: http.MethodPost, Path: "/rollouts", Tag: "rollouts", Right: auth.Assign,
		Summary: "Create a rollout: a content for robots, in waves",
		Description: "It waits until somebody starts it, unless start is set; above the number of robots that fleetd is started with, a " +
			"second person has to approve it first. Send the digest and the counts that the plan showed.",
		Audit:   audit.ActionRollout,
		Use:     "rollout create [ROBOT...]",
		Example: "rollout create --story museum --all --canary 1 --start --why summer",
	}, func(ctx context.Context, in *bodyOf[NewRollout]) (*answer[RolloutDetail], error) {
		return s.createRollout(ctx, in.principal, in.Body)
	})
	operation.Register(t, operation.Row{
		ID: "list-rollouts", Method: http.MethodGet, Path: "/rollouts", Tag: "rollouts", Right: auth.View,
		Summary:     "List rollouts, the newest first",
		Description: "Every assignment is a rollout of one wave, so this is the history of what robots were given.",
		Use:         "rollout list",
		Columns:     rolloutColumns,
		None:        "no rollouts",
	}, func(ctx context.Context, in *RolloutQuery) (*answer[RolloutList], error) {
		return s.listRollouts(ctx, in)
	})
	operation.Register(t, operation.Row{
		ID: "get-rollout", Method: http.MethodGet, Path: "/rollouts/{id}", Tag: "rollouts", Right: auth.View,
		Summary: "Get one rollout with its waves and failures",
		Use:     "rollout get ID",
		Example: "rollout get 0198c0de",
	}, func(ctx context.Context, in *struct {
		PathID
		IfNoneMatch string `header:"If-None-Match" doc:"the ETag of the answer that you have"`
	}) (*rolloutAnswer, error) {
		return s.getRollout(ctx, in.principal, in.ID, in.IfNoneMatch)
	})
	operation.Register(t, operation.Row{
		ID: "list-rollout-robots", Method: http.MethodGet, Path: "/rollouts/{id}/robots", Tag: "rollouts", Right: auth.View,
		Summary: "List the robots of a rollout",
		Use:     "rollout robots ID",
		Example: "rollout robots 0198c0de --state failed",
		Columns: "ROBOT robot | WAVE wave | STATE state | PHASE phase | REVISION rev | HAD had | SINCE changed_at | WHY why",
		None:    "no robots",
	}, func(ctx context.Context, in *RolloutRobotsQuery) (*answer[RolloutRobots], error) {
		return s.listRolloutRobots(ctx, in)
	})
	operation.Register(t, operation.Row{
		ID: "approve-rollout", Method: http.MethodPost, Path: "/rollouts/{id}/approve", Tag: "rollouts", Right: auth.Approve,
		Summary: "Approve a rollout of somebody else",
		Description: "The request names the digest of the content, so what was looked at is what robots get. Who created the rollout " +
			"cannot approve it.",
		Audit:   audit.ActionRolloutApprove,
		Use:     "rollout approve ID DIGEST",
		Example: "rollout approve 0198c0de 9f86d081884c",
	}, func(ctx context.Context, in *idAndBody[Approval]) (*answer[RolloutDetail], error) {
		return s.approveRollout(ctx, in.principal, in.ID, in.Body)
	})
	operation.Register(t, operation.Row{
		ID: "start-rollout", Method: http.MethodPost, Path: "/rollouts/{id}/start", Tag: "rollouts", Right: auth.Assign,
		Summary: "Start a rollout", Description: "Its first wave begins, now or at a time.", Audit: audit.ActionRolloutStart,
		Use: "rollout start ID", Example: "rollout start 0198c0de",
	}, func(ctx context.Context, in *idAndBody[Start]) (*answer[RolloutDetail], error) {
		return s.startRollout(ctx, in.principal, in.ID, in.Body)
	})
	for _, d := range decisions {
		operation.Register(t, operation.Row{
			ID: d.word + "-rollout", Method: http.MethodPost, Path: "/rollouts/{id}/" + d.word, Tag: "rollouts", Right: auth.Assign,
			Summary: d.summary, Description: d.description, Audit: d.action,
			Use: "rollout " + d.word + " ID", Example: "rollout " + d.word + " 0198c0de",
		}, func(ctx context.Context, in *idAndBody[Decision]) (*answer[RolloutDetail], error) {
			return s.decideRollout(ctx, in.principal, in.ID, d, in.Body)
		})
	}
}

// decision is what a person can decide about a rollout with one word.
type decision struct {
	word                 string
	action               audit.Action
	summary, description string
}

var decisions = []decision{
	{"pause", audit.ActionRolloutPause, "Pause a rollout", "No robot is offered the content any more until it is resumed; robots that were offered it go on."},
	{"resume", audit.ActionRolloutResume, "Resume a rollout", "It goes on where it was paused, also if a threshold paused it."},
	{"retry", audit.ActionRolloutRetry, "Offer the content to the failed robots again", "They get it as a new revision."},
	{"abort", audit.ActionRolloutAbort, "End a rollout early", "No more robots are offered the content; robots that were offered it keep it, unless it is rolled back."},
	{"rollback", audit.ActionRolloutRollback, "Give the robots of a rollout back what they had", "Each robot gets what it had itself, failed robots first."},
}

func (s *server) contentPins(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-pins", Method: http.MethodGet, Path: "/pins", Tag: "rollouts", Right: auth.View,
		Summary:     "List what people pinned on robots",
		Description: "A pinned robot keeps what it has of that kind: policies and rollouts leave it.",
		Use:         "pin list",
		Columns:     "ROBOT robot | KIND kind | SINCE at | BY by | WHY why",
		None:        "nothing is pinned",
	}, func(ctx context.Context, in *struct {
		caller
		Robot string `query:"robot" maxLength:"64" doc:"only of this robot"`
	}) (*answer[ContentPins], error) {
		return s.listPins(ctx, in.principal, in.Robot)
	})
	operation.Register(t, operation.Row{
		ID: "set-pin", Method: http.MethodPut, Path: "/robots/{id}/pins/{kind}", Tag: "rollouts", Right: auth.Assign,
		Summary: "Pin what a robot has of one kind", Audit: audit.ActionPin,
		Description: "Policies and rollouts then leave it as it is, until the pin is removed.",
		Use:         "pin set ROBOT KIND", Example: "pin set r1 story --why show",
		Done: "{id} keeps its {kind}",
	}, func(ctx context.Context, in *struct {
		PinID
		Body audit.Attribution
	}) (*answer[ContentPin], error) {
		return s.setPin(ctx, in.principal, in.PinID, in.Body)
	})
	operation.Register(t, operation.Row{
		ID: "remove-pin", Method: http.MethodDelete, Path: "/robots/{id}/pins/{kind}", Tag: "rollouts", Right: auth.Assign,
		Summary: "Remove the pin of a robot", Audit: audit.ActionUnpin,
		Description: "Its policy decides again what it has.",
		Use:         "pin remove ROBOT KIND", Example: "pin remove r1 story",
		Done: "policies and rollouts may change the {kind} of {id} again",
	}, func(ctx context.Context, in *struct {
		PinID
		AttributionQuery
	}) (*struct{}, error) {
		return nil, s.removePin(ctx, in.principal, in.PinID, in.attribution(in.principal))
	})
}

// PinID names what a robot has of one kind.
type PinID struct {
	PathID
	Kind string `path:"kind" enum:"story,activities,config,mode,places"`
}

// rolloutAnswer is a rollout with the ETag of its version.
type rolloutAnswer struct {
	ETag string `header:"ETag"`
	Body RolloutDetail
}
