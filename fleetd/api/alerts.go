package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"troupe/fleetd/alerts"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/operation"
	"troupe/schema"
)

// RobotAlert is one alert of one robot, a rollout or a schedule, and who has seen it.
type RobotAlert struct {
	Robot    string `json:"robot" doc:"empty if it is of a rollout, a schedule, the backups or a stop button"`
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
const alertColumns = "SINCE first_ts | ROBOT robot | ROLLOUT rollout | SCHEDULE schedule | LEVEL level | TYPE type | WHAT detail | " +
	"ACKNOWLEDGED acknowledged.by | " +
	"NOTE acknowledged.note | ID id"

func (s *server) alerts(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-alerts", Method: http.MethodGet, Path: "/alerts", Tag: "robots", Right: auth.View,
		Summary: "List the alerts of robots, rollouts, schedules, backups and stop buttons, the worst first",
		Description: "An alert is a present problem that a robot reports, a rollout that needs a person, a schedule that was not run, " +
			"backups that are old, or a stop button that does not answer; when it is over, it leaves " +
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
		acked, err := s.AlertSource.Acknowledged(ctx)
		if err != nil {
			return nil, s.fail(err, "alerts")
		}
		all, err := s.alertsFor(ctx, in.principal, sites, in.Robot, in.Site)
		if err != nil {
			return nil, s.fail(err, "alerts")
		}
		out := alertList{Alerts: []RobotAlert{}}
		for _, a := range all {
			one := robotAlert(a)
			if ack, is := acked[a.Key()]; is {
				one.Acknowledged = acknowledged(ack)
			}
			if one.Acknowledged == nil || !in.Unseen {
				out.Alerts = append(out.Alerts, one)
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
		Body  ackRequest
	}) (*answer[RobotAlert], error) {
		d, err := s.robot(in.ID)
		if err != nil {
			return nil, err
		}
		if !in.principal.Sees(d.Labels) {
			return nil, robotNotFound(in.ID)
		}
		return s.ackAlert(ctx, in.principal, alerts.OfRobot(d.Robot), in.Alert, "robot "+in.ID, in.Body)
	})
	operation.Register(t, operation.Row{
		ID: "ack-fleet-alert", Method: http.MethodPost, Path: "/alerts/{alert}/ack", Tag: "robots", Right: auth.Command,
		Summary:     "Acknowledge an alert of a rollout or a schedule, with a note",
		Description: "The alert stays until its cause is gone. Another acknowledgement replaces the first; the audit keeps both.",
		Audit:       audit.ActionAcknowledge,
		Use:         "alert ack-fleet ALERT",
		Example:     "alert ack-fleet schedule-morning --note seen",
		Columns:     alertColumns,
	}, func(ctx context.Context, in *struct {
		caller
		Alert string `path:"alert" maxLength:"128"`
		Body  ackRequest
	}) (*answer[RobotAlert], error) {
		sites, err := sitesOf(in.principal, "")
		if err != nil {
			return nil, err
		}
		all, err := s.alertsOfNoRobot(ctx, in.principal, sites, "")
		if err != nil {
			return nil, s.fail(err, "alerts")
		}
		return s.ackAlert(ctx, in.principal, all, in.Alert, "the fleet", in.Body)
	})
}

// ackRequest is who acknowledges an alert, and what they note.
type ackRequest struct {
	By   string `json:"by,omitempty" maxLength:"63" doc:"the person, if nobody is signed in; else it is the account's name"`
	Note string `json:"note" maxLength:"256" pattern:"\\S" patternDescription:"a note" doc:"what is being done about it"`
}

// ackAlert acknowledges one of these alerts.
func (s *server) ackAlert(ctx context.Context, p auth.Principal, among []alerts.Alert, id, of string,
	w ackRequest) (*answer[RobotAlert], error) {
	i := slices.IndexFunc(among, func(a alerts.Alert) bool { return a.ID == id })
	if i < 0 {
		return nil, KindNotFound.Problem(of+" has no alert "+id+" now", "it may be over; fleetd alert list shows the present ones")
	}
	ack, err := s.Alerts.Ack(ctx, p, among[i].Robot, among[i].Alert, audit.Attribution{Who: actingName(p, w.By), Why: w.Note})
	if err != nil {
		return nil, s.fail(err, of)
	}
	out := robotAlert(among[i])
	out.Acknowledged = acknowledged(ack)
	return &answer[RobotAlert]{out}, nil
}

// alertsOfNoRobot lists the alerts of rollouts and schedules that a principal sees.
func (s *server) alertsOfNoRobot(ctx context.Context, p auth.Principal, sites []string, site string) ([]alerts.Alert, error) {
	all, err := s.AlertSource.OfRollouts(ctx, sites)
	if err != nil {
		return nil, err
	}
	of, err := s.AlertSource.OfSchedules(ctx, func(row change.Schedule) bool {
		return seesSchedule(p, row) && (site == "" || isAbout(row, site))
	})
	if all = append(all, of...); err != nil || site != "" || !p.SeesAll() {
		return all, err
	}
	of, err = s.AlertSource.OfBackups(ctx)
	return slices.Concat(all, of, s.AlertSource.OfButtons()), err
}

// alertsFor lists the alerts that a principal sees, of one robot and of one site if they are named.
func (s *server) alertsFor(ctx context.Context, p auth.Principal, sites []string, robot, site string) (all []alerts.Alert, err error) {
	if robot == "" {
		if all, err = s.alertsOfNoRobot(ctx, p, sites, site); err != nil {
			return nil, err
		}
	}
	for _, a := range s.AlertSource.OfRobots() {
		if robot != "" && a.Robot != robot || site != "" && a.Labels[auth.SiteLabel] != site || !p.Sees(a.Labels) {
			continue
		}
		all = append(all, a)
	}
	return all, nil
}

func robotAlert(a alerts.Alert) RobotAlert {
	return RobotAlert{Robot: a.Robot, Rollout: a.Rollout, Schedule: a.Schedule, Alert: a.Alert}
}

func acknowledged(a change.AlertAck) *Acknowledged {
	return &Acknowledged{At: schema.TimeOf(a.At), By: a.By, Note: a.Note}
}
