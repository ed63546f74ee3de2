// Package alerts lists the present alerts of the fleet: those that robots report, those that fleetd raises about them, and
// those of rollouts, schedules, backups and stop buttons, each with who has acknowledged it.
package alerts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/notify"
	"troupe/fleetd/presence"
	"troupe/fleetd/rollout"
	"troupe/fleetd/schedule"
	"troupe/fleetd/stopbutton"
	"troupe/fleetd/view"
	"troupe/schema"
)

// Source lists alerts.
type Source struct {
	Now       func() time.Time
	View      *view.View
	Acks      *change.Alerts
	Rollouts  *change.Rollouts
	Schedules *change.Schedules
	Backups   *change.Backups
	BackupAge BackupAge
	Buttons   *stopbutton.Buttons
}

// BackupAge says from which age the newest backup is an alert.
type BackupAge struct {
	Max      time.Duration // 0 = never
	Expected bool          // also if none was ever made
}

// Alert is one alert of a robot, a rollout, a schedule, the backups or a stop button.
type Alert struct {
	Robot    string
	Rollout  string
	Schedule string
	Labels   map[string]string // of the robot
	schema.Alert
}

// Key is by what an acknowledgement names an alert: robots count their ids from 1 again after a start.
type Key struct {
	Robot, ID string
	First     schema.Time
}

// Key is that of the alert.
func (a Alert) Key() Key { return Key{a.Robot, a.ID, a.FirstTS} }

// Acknowledged returns who has acknowledged which alerts.
func (s *Source) Acknowledged(ctx context.Context) (map[Key]change.AlertAck, error) {
	all, err := s.Acks.Acks(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[Key]change.AlertAck, len(all))
	for _, a := range all {
		out[Key{a.Robot, a.Alert, a.First}] = a
	}
	return out, nil
}

// OfRobot lists the alerts of one robot.
func OfRobot(r view.Robot) []Alert {
	own := slices.Clone(r.Alerts)
	if r.Adopted && r.Presence.Status == string(presence.Lost) {
		own = append(own, schema.Alert{
			ID: "fleetd-lost", Type: schema.AlertRobotLost, Level: schema.AlertError, Source: "presence", FirstTS: r.Presence.Since,
			Detail: r.Presence.Why,
			Hint:   "look whether it has power and network; what it does without a link follows from its settings",
		})
	}
	if r.Adopted && len(r.Latches) > 0 {
		oldest := slices.MinFunc(r.Latches, func(a, b schema.StopLatch) int { return cmp.Compare(a.Since, b.Since) })
		own = append(own, schema.Alert{
			ID: "fleetd-stopped", Type: schema.AlertRobotStopped, Level: schema.AlertWarn, Source: "stop", FirstTS: oldest.Since,
			Detail: fmt.Sprintf("stopped by %s: %s", cmp.Or(oldest.Asker(), "somebody"), cmp.Or(oldest.Why, "no reason given")),
			Hint:   "when it is safe: fleetd stop release " + oldest.ID + " --why REASON",
			Params: schema.AlertParams{By: oldest.Asker(), Why: oldest.Why},
		})
	}
	out := make([]Alert, len(own))
	for i, a := range own {
		out[i] = Alert{Robot: r.ID, Labels: r.Labels, Alert: a}
	}
	return out
}

// OfRobots lists the alerts of all robots.
func (s *Source) OfRobots() (out []Alert) {
	for _, r := range s.View.Robots() {
		out = append(out, OfRobot(r.Robot)...)
	}
	return out
}

const (
	maxAlertingRollouts = 200
	// incompleteFor is for how long a rollback that some robots could not follow is an alert.
	incompleteFor = 7 * 24 * time.Hour
	// scheduleFor is for how long an instant that was not run is an alert.
	scheduleFor = 7 * 24 * time.Hour
)

// OfRollouts lists the alerts of rollouts that need a person, of these sites; none = of every site.
func (s *Source) OfRollouts(ctx context.Context, sites []string) ([]Alert, error) {
	open, err := s.Rollouts.List(ctx, change.RolloutQuery{Open: true, Sites: sites, Limit: maxAlertingRollouts})
	if err != nil {
		return nil, err
	}
	incomplete, err := s.Rollouts.List(ctx, change.RolloutQuery{State: rollout.RollbackIncomplete, Sites: sites, Limit: maxAlertingRollouts})
	if err != nil {
		return nil, err
	}
	var out []Alert
	for _, r := range slices.Concat(open, incomplete) {
		what := r.Content.String()
		if r.Name != what {
			what = r.Name + " (" + what + ")"
		}
		why := cmp.Or(r.Why, r.Waits())
		a := schema.Alert{ID: "rollout-" + r.ID, Source: "rollout", Detail: what + ": " + why, FirstTS: timeOf(r.CreatedAt),
			Params: schema.AlertParams{Name: what, Why: why}}
		failed := slices.IndexFunc(r.Waves, func(w rollout.Wave) bool {
			return w.State == rollout.WaveFailed || w.State == rollout.WaveInconclusive
		})
		switch {
		case r.State == rollout.WaitingForApproval:
			a.Type, a.Level, a.Hint = schema.AlertRolloutApproval, schema.AlertInfo, "fleetd rollout get "+r.ID+" shows it; fleetd rollout approve "+
				r.ID+" DIGEST lets it start"
		case r.State == rollout.Paused && failed >= 0:
			a.Type, a.Level, a.FirstTS = schema.AlertRolloutPaused, schema.AlertError, timeOf(r.Waves[failed].EndedAt)
			a.Hint = fmt.Sprintf("look at its failures with fleetd rollout get %[1]s; then fleetd rollout rollback %[1]s, or resume, retry or abort",
				r.ID)
		case r.State == rollout.RollbackIncomplete && s.Now().Sub(r.EndedAt) < incompleteFor:
			a.Type, a.Level, a.FirstTS = schema.AlertRollbackIncomplete, schema.AlertError, timeOf(r.EndedAt)
			a.Hint = fmt.Sprintf("fleetd rollout robots %[1]s --state NOT_RESTORED names the robots; fleetd rollout rollback %[1]s tries them again",
				r.ID)
		default:
			continue
		}
		out = append(out, Alert{Rollout: r.ID, Alert: a})
	}
	return out, nil
}

// OfSchedules lists the alerts of schedules whose newest instant was missed or failed, of those that keep names.
func (s *Source) OfSchedules(ctx context.Context, keep func(change.Schedule) bool) (out []Alert, err error) {
	all, last, err := s.Schedules.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range all {
		run, has := last[row.ID]
		if !has || run.Outcome == schedule.Done || run.At.Before(row.ChangedAt) || s.Now().Sub(run.At) > scheduleFor || !keep(row) {
			continue
		}
		a := schema.Alert{
			ID: "schedule-" + row.ID, Source: "schedule", FirstTS: timeOf(run.At), Type: schema.AlertScheduleMissed, Level: schema.AlertWarn,
			Detail: fmt.Sprintf("schedule %s, %s at %s: %s", row.ID, row.Action, run.Instant.UTC().Format("2006-01-02 15:04 UTC"), run.Why),
			Hint:   "fleetd schedule runs --schedule " + row.ID + " lists its runs; do it yourself, if it is still wanted",
		}
		if run.Outcome == schedule.Failed {
			a.Type, a.Level = schema.AlertScheduleFailed, schema.AlertError
		}
		out = append(out, Alert{Schedule: row.ID, Alert: a})
	}
	return out, nil
}

// OfBackups is the alert that the newest backup is old. Without a setting it begins only once somebody has made a
// backup, so that a fleet that is backed up by other means has none.
func (s *Source) OfBackups(ctx context.Context) ([]Alert, error) {
	if s.BackupAge.Max == 0 {
		return nil, nil
	}
	newest, made, err := s.Backups.Newest(ctx)
	if err != nil {
		return nil, err
	}
	due := newest.Add(s.BackupAge.Max)
	if now := s.Now(); !made && !s.BackupAge.Expected || now.Before(due) {
		return nil, nil
	}
	at, limit := newest.UTC().Format("2006-01-02 15:04 UTC"), days(s.BackupAge.Max)
	a := schema.Alert{
		ID: "backup", Source: "backup", Type: schema.AlertBackupOld, Level: schema.AlertWarn, FirstTS: timeOf(due),
		Detail: fmt.Sprintf("the newest backup is of %s, and one is expected every %s", at, limit),
		Hint: "on fleetd's computer, look at systemctl status fleetd-backup, or make one with fleetd backup FILE; the setting " +
			"backup-max-age-days says how old it may be",
		Params: schema.AlertParams{Made: timeOf(newest), Days: int(s.BackupAge.Max / (24 * time.Hour))},
	}
	if !made {
		a.Detail = fmt.Sprintf("no backup was made since the database was created at %s, and one is expected every %s", at, limit)
		a.Params.Made = 0
	}
	return []Alert{{Alert: a}}, nil
}

// OfButtons are the alerts of stop buttons that do not answer.
func (s *Source) OfButtons() (out []Alert) {
	for _, b := range s.Buttons.List(s.Now()) {
		if b.SilentAt.IsZero() {
			continue
		}
		heard := "no heartbeat of it has arrived since fleetd started"
		if !b.HeardAt.IsZero() {
			heard = "its last heartbeat arrived at " + schema.TimeOf(b.HeardAt).String()
		}
		hint := "look whether it has power and network, and try it when it is back; until then stop the robots with another button, the " +
			"console or fleetd stop --all"
		if !b.Listed {
			hint += "; a button that was taken away is forgotten when fleetd restarts"
		}
		out = append(out, Alert{Alert: schema.Alert{
			ID: "button-" + b.Name, Source: b.Name, Type: schema.AlertButtonSilent, Level: schema.AlertError, FirstTS: timeOf(b.SilentAt),
			Detail: "the stop button " + b.Name + " does not answer: " + heard, Hint: hint,
		}})
	}
	return out
}

func days(d time.Duration) string {
	if n := int(d / (24 * time.Hour)); n != 1 {
		return fmt.Sprint(n, " days")
	}
	return "day"
}

// OfFleet lists the alerts that are of no robot.
func (s *Source) OfFleet(ctx context.Context) ([]Alert, error) {
	rollouts, err := s.OfRollouts(ctx, nil)
	if err != nil {
		return nil, err
	}
	schedules, err := s.OfSchedules(ctx, func(change.Schedule) bool { return true })
	if err != nil {
		return nil, err
	}
	backups, err := s.OfBackups(ctx)
	return slices.Concat(rollouts, schedules, backups, s.OfButtons()), err
}

// ForNotifications lists what notifications are about, with the robots of which nothing is known now: what they had
// before counts until then.
func (s *Source) ForNotifications(ctx context.Context) (in notify.Input, err error) {
	acked, err := s.Acknowledged(ctx)
	if err != nil {
		return in, err
	}
	all, err := s.OfFleet(ctx)
	if err != nil {
		return in, err
	}
	in.Unsure = map[string]bool{}
	for _, r := range s.View.Robots() {
		if r.Presence.Status == string(presence.Unknown) {
			in.Unsure[r.ID] = true
		}
		all = append(all, OfRobot(r.Robot)...)
	}
	for _, a := range all {
		_, seen := acked[a.Key()]
		in.Alerts = append(in.Alerts, notify.Alert{
			Robot: a.Robot, Rollout: a.Rollout, Schedule: a.Schedule, Site: a.Labels[auth.SiteLabel], ID: a.ID, Type: a.Type, Level: a.Level,
			Source: a.Source,
			Since:  a.FirstTS, Detail: a.Detail, Hint: a.Hint, Acked: seen,
		})
	}
	return in, nil
}

func timeOf(t time.Time) schema.Time {
	if t.IsZero() {
		return 0
	}
	return schema.TimeOf(t)
}
