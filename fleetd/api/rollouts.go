package api

import (
	"context"
	"net/http"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/fleetd/rollout"
)

// rolloutColumns are the columns of a table of rollouts.
const rolloutColumns = "ID id | STATE state | WAVE WaveText() | ROBOTS ProgressText() | CONTENT content | CREATED created_at | BY " +
	"created_by | WHY why"

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
	State string `query:"state" maxLength:"63" doc:"only robots in this state, such as CONFIRMED; failed = in any state of a failure"`
	Wave  string `query:"wave" maxLength:"63" doc:"only robots of this wave: its name, or its number from 0"`
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
		More:        compressed,
		Columns:     rolloutColumns,
		None:        "no rollouts",
	}, func(ctx context.Context, in *RolloutQuery) (*answer[RolloutList], error) {
		return s.listRollouts(ctx, in)
	})
	operation.Register(t, operation.Row{
		ID: "get-rollout", Method: http.MethodGet, Path: "/rollouts/{id}", Tag: "rollouts", Right: auth.View,
		Summary: "Get one rollout with its waves and failures",
		Use:     "rollout get ID",
		More:    compressed,
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
		More:    compressed,
		Example: "rollout robots 0198c0de --state failed",
		Columns: "ROBOT robot | WAVE wave_name | STATE state | PHASE phase | REVISION rev | HAD had | SINCE changed_at | WHY why",
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
			ID: string(d.on) + "-rollout", Method: http.MethodPost, Path: "/rollouts/{id}/" + string(d.on), Tag: "rollouts", Right: auth.Assign,
			Summary: d.summary, Description: d.description, Audit: d.action,
			Use: "rollout " + string(d.on) + " ID", Example: "rollout " + string(d.on) + " 0198c0de",
		}, func(ctx context.Context, in *idAndBody[Decision]) (*answer[RolloutDetail], error) {
			return s.decideRollout(ctx, in.principal, in.ID, rollout.Decision{On: d.on}, in.Body)
		})
	}
}

// decisions are what people decide about a rollout, besides its start and its approval.
var decisions = []struct {
	on                   rollout.Event
	action               audit.Action
	summary, description string
}{
	{rollout.OnPause, audit.ActionRolloutPause, "Pause a rollout",
		"No robot is offered the content any more until it is resumed; robots that were offered it go on."},
	{rollout.OnResume, audit.ActionRolloutResume, "Resume a rollout", "It goes on where it was paused, also if a threshold paused it."},
	{rollout.OnRetry, audit.ActionRolloutRetry, "Offer the content to the failed robots again", "They get it as a new revision."},
	{rollout.OnAbort, audit.ActionRolloutAbort, "End a rollout early",
		"No more robots are offered the content; robots that were offered it keep it, unless it is rolled back."},
	{rollout.OnRollback, audit.ActionRolloutRollback, "Give the robots of a rollout back what they had",
		"Each robot gets what it had itself, failed robots first."},
}

// rolloutAnswer is a rollout with the ETag of its version and of the health of its robots.
type rolloutAnswer struct {
	Status int
	ETag   string `header:"ETag"`
	Body   RolloutDetail
}
