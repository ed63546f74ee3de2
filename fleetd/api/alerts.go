package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/operation"
	"troupe/schema"
)

// RobotAlert is one alert of one robot, and who has seen it; or one of a rollout, which nobody acknowledges: it ends with
// a decision about the rollout.
type RobotAlert struct {
	Robot    string `json:"robot" doc:"empty if it is of a rollout, a schedule or the backups"`
	Rollout  string `json:"rollout,omitempty" doc:"the rollout that needs a person"`
	Schedule string `json:"schedule,omitempty" doc:"the schedule that was not run"`
	schema.Alert
	Acknowledged *Acknowledged `json:"acknowledged,omitempty" doc:"left out until somebody has seen it"`
}

// Acknowledged says who has seen an alert.
type Acknowledged struct {
	At   schema.Time `json:"at"`
	By   string      `json:"by,omitempty"`
	Note string      `json:"note,omitempty"`
}

type alertList struct {
	Alerts []RobotAlert `json:"alerts"`
}

// alertRank orders alerts, the worst first.
var alertRank = map[schema.AlertLevel]int{schema.AlertCritical: 0, schema.AlertError: 1, schema.AlertWarn: 2, schema.AlertInfo: 3}

// alertColumns are the columns of a table of alerts.
const alertColumns = "SINCE first_ts | ROBOT robot | ROLLOUT rollout | SCHEDULE schedule | LEVEL level | TYPE type | WHAT detail | ACKNOWLEDGED acknowledged.by | " +
	"NOTE acknowledged.note | ID id"

func (s *server) alerts(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-alerts", Method: http.MethodGet, Path: "/alerts", Tag: "robots", Right: auth.View,
		Summary: "List the alerts of robots, rollouts, schedules and backups, the worst first",
		Description: "An alert is a present problem that a robot reports, a rollout that needs a person, a schedule that was not run, or backups that are old; when it is over, it leaves " +
			"the list. Acknowledging one says that somebody has seen it, and changes nothing at the robot.",
		Use:     "alert list",
		Columns: alertColumns,
	}, func(ctx context.Context, in *struct {
		caller
		Robot  string `query:"robot" maxLength:"64" doc:"only of this robot"`
		Site   string `query:"site" maxLength:"63" doc:"only of robots whose label site is this"`
		Unseen bool   `query:"unacknowledged" doc:"only those that nobody has acknowledged"`
	}) (*answer[alertList], error) {
		sites, err := sitesOf(in.principal, in.Site)
		if err != nil {
			return nil, err
		}
		acks, err := s.Alerts.Acks(ctx)
		if err != nil {
			return nil, s.fail(err, "alerts")
		}
		seen := map[alertKey]*Acknowledged{}
		for _, a := range acks {
			seen[alertKey{a.Robot, a.Alert, a.First}] = acknowledged(a)
		}
		out := alertList{Alerts: []RobotAlert{}}
		if in.Robot == "" {
			of, err := s.rolloutAlerts(ctx, sites)
			if err != nil {
				return nil, s.fail(err, "alerts")
			}
			out.Alerts = append(out.Alerts, of...)
			if of, err = s.scheduleAlerts(ctx, in.principal, in.Site); err != nil {
				return nil, s.fail(err, "alerts")
			}
			out.Alerts = append(out.Alerts, of...)
			if in.Site == "" && in.principal.SeesAll() {
				if of, err = s.backupAlerts(ctx); err != nil {
					return nil, s.fail(err, "alerts")
				}
				out.Alerts = append(out.Alerts, of...)
			}
		}
		for _, r := range s.View.Robots() {
			if in.Robot != "" && r.ID != in.Robot || in.Site != "" && r.Labels[auth.SiteLabel] != in.Site || !in.principal.Sees(r.Labels) {
				continue
			}
			for _, a := range r.Alerts {
				ack := seen[alertKey{r.ID, a.ID, a.FirstTS}]
				if ack == nil || !in.Unseen {
					out.Alerts = append(out.Alerts, RobotAlert{Robot: r.ID, Alert: a, Acknowledged: ack})
				}
			}
		}
		slices.SortStableFunc(out.Alerts, func(a, b RobotAlert) int {
			return cmp.Or(cmp.Compare(alertRank[a.Level], alertRank[b.Level]), cmp.Compare(b.FirstTS, a.FirstTS))
		})
		return &answer[alertList]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "ack-alert", Method: http.MethodPost, Path: "/robots/{id}/alerts/{alert}/ack", Tag: "robots", Right: auth.Command,
		Summary:     "Acknowledge an alert, with a note",
		Description: "The alert stays until its cause is gone. Another acknowledgement replaces the first; the audit keeps both.",
		Audit:       audit.ActionAcknowledge,
		Use:         "alert ack ROBOT ALERT",
		Example:     "alert ack r1 a1 --note seen\nalert ack r1 a3 --note 'the wheel is being cleaned'",
		Columns:     alertColumns,
	}, func(ctx context.Context, in *struct {
		PathID
		Alert string `path:"alert" maxLength:"64"`
		Body  struct {
			By   string `json:"by,omitempty" maxLength:"63" doc:"the person, if nobody is signed in; else it is the account's name"`
			Note string `json:"note" maxLength:"256" pattern:"\\S" patternDescription:"a note" doc:"what is being done about it"`
		}
	}) (*answer[RobotAlert], error) {
		d, err := s.robot(in.ID)
		if err != nil {
			return nil, err
		}
		if !in.principal.Sees(d.Labels) {
			return nil, robotNotFound(in.ID)
		}
		i := slices.IndexFunc(d.Alerts, func(a schema.Alert) bool { return a.ID == in.Alert })
		if i < 0 {
			return nil, KindNotFound.Problem("robot "+in.ID+" has no alert "+in.Alert+" now", "it may be over; fleetd alert list shows the present ones")
		}
		ack, err := s.Alerts.Ack(ctx, in.principal, in.ID, d.Alerts[i], audit.Attribution{Who: actingName(in.principal, in.Body.By), Why: in.Body.Note})
		if err != nil {
			return nil, s.fail(err, "robot "+in.ID)
		}
		return &answer[RobotAlert]{RobotAlert{Robot: in.ID, Alert: d.Alerts[i], Acknowledged: acknowledged(ack)}}, nil
	})
}

type alertKey struct {
	robot, alert string
	first        schema.Time
}

func acknowledged(a change.AlertAck) *Acknowledged {
	return &Acknowledged{At: schema.TimeOf(a.At), By: a.By, Note: a.Note}
}
