package scheduler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/command"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/fleetd/schedule"
	"troupe/fleetd/scheduler"
	"troupe/fleetd/selector"
	"troupe/fleetd/site"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
	"troupe/schema/testlog"
)

// world is a fleet of robots whose clock a test can set, and whose schedules run in fake time.
type world struct {
	*storetest.World
	schedules *change.Schedules
	shift     time.Duration         // of the clock
	sent      []string              // to robots: "r1 mode/set"
	ids       []string              // of sent
	broken    error                 // of the next transaction that saves commands
	save      func(*store.Tx) error // saves what that transaction did not
	silent    bool                  // saved commands are not begun, as if fleetd ended then
}

var admin = auth.Principal{ID: "anna", Kind: auth.KindToken, Rights: auth.All}

// inWorld runs a test with the robots r1 and r2, of which r1 is of the site berlin.
func inWorld(t *testing.T, start string, test func(w *world)) {
	t.Helper()
	storetest.InWorld(t, func(in *storetest.World) {
		at, err := time.Parse(time.RFC3339, start)
		if err != nil {
			t.Fatal(err)
		}
		w := &world{World: in, shift: time.Until(at)}
		w.schedules = &change.Schedules{Deps: change.Deps{
			Now: w.now, Store: func() (*store.Store, error) { return in.DB, nil }, Changed: func(context.Context, []string) {},
			Catalogue: func() library.Catalogue { return library.Catalogue{} }, Caps: func(string) *schema.Caps { return nil },
		}}
		w.Tx(func(tx *store.Tx) error {
			return tx.SetLabels(context.Background(), "r1", map[string]string{"site": "berlin"})
		})
		test(w)
	}, "r1", "r2")
}

func (w *world) now() (now time.Time) {
	w.Locked(func() { now = time.Now().Add(w.shift) })
	return now
}

func (w *world) setClock(by time.Duration) { w.Locked(func() { w.shift += by }) }

// instance starts a fleetd that runs schedules, and returns what ends it.
func (w *world) instance(name string, leads func() bool) (end func()) {
	log := slog.New(slog.NewTextHandler(testlog.Writer(w.T, name), nil))
	d := dispatch.New(dispatch.Deps{
		Log: log, Namespace: schema.DefaultNamespace, Name: name, Now: w.now, Failed: w.Failed, Leads: leads, Robots: w, Instances: w,
		DeferIfReleasing: func(command.Command) bool { return false },
		Store:            func() (dispatch.Store, error) { return w.DB, nil },
		Publish: func(_ context.Context, m link.Message) error {
			_, at, _ := schema.DefaultNamespace.Match(m.Topic)
			var envelope struct {
				ID string `json:"id"`
			}
			if err := json.Unmarshal(m.Payload, &envelope); err != nil {
				return err
			}
			w.Locked(func() {
				if at.Group != "sys" && !slices.Contains(w.ids, envelope.ID) { // an unanswered command is sent again under its id
					w.sent, w.ids = append(w.sent, at.RID+" "+at.Group+"/"+at.Verb), append(w.ids, envelope.ID)
				}
			})
			return nil
		},
	})
	c := commands{d, w}
	s := scheduler.New(scheduler.Deps{
		Log: log, Now: w.now, Leads: leads, Failed: func(what string, err error) {
			if !errors.Is(err, errBroken) && !errors.Is(err, store.ErrOutcomeUnknown) && !errors.Is(err, store.ErrBusy) &&
				!errors.Is(err, store.ErrConflict) {
				w.Failed(what, err)
			}
		}, Schedules: w.schedules, Loaded: w.Loaded, Targets: w.Targets, Resolve: w.Resolve, Save: c.Save, Begin: c.Begin, Resume: d.ResumeBatch,
	})
	if err := d.ResumeOwn(context.Background(), w.DB, w.now()); err != nil {
		w.Fatal(err)
	}
	endCommands := w.Start(d.Run)
	endSchedules := w.Start(func(ctx context.Context) { s.Run(ctx, w.DB) })
	return func() { endSchedules(); endCommands() }
}

func always() bool { return true }

var errBroken = errors.New("the transaction was cut off")

// commands is a dispatcher that can fail.
type commands struct {
	*dispatch.Dispatcher
	w *world
}

func (c *commands) Save(ctx context.Context, tx *store.Tx, b command.Batch, all []command.Command) (*dispatch.Handle, error) {
	t, err := c.Dispatcher.Save(ctx, tx, b, all)
	c.w.Locked(func() {
		if c.w.broken != nil {
			err, c.w.broken = c.w.broken, nil
			c.w.save = func(tx *store.Tx) error { _, err := c.Dispatcher.Save(context.Background(), tx, b, all); return err }
		}
	})
	return t, err
}

func (c *commands) Begin(t *dispatch.Handle) {
	silent := false
	if c.w.Locked(func() { silent = c.w.silent }); !silent {
		c.Dispatcher.Begin(t)
	}
}

// World as robots and instances.
func (w *world) Reachable(string) bool                         { return true }
func (w *world) Adopted(string) bool                           { return true }
func (w *world) Has(string) bool                               { return true }
func (w *world) Gone(string, time.Time) bool                   { return false }
func (w *world) Loaded() bool                                  { return true }
func (w *world) Resolve(s selector.Selector) selector.Selector { return s }
func (w *world) Targets(s selector.Selector, _ bool) (all []command.Target, _ []string) {
	for _, id := range []string{"r1", "r2"} {
		if s.All || slices.Contains(s.IDs, id) {
			all = append(all, command.Target{Robot: id, Present: true})
		}
	}
	return all, nil
}

var everyRobot = selector.All()

func daily(times string) schedule.Schedule {
	return schedule.Schedule{Times: schedule.Times{Cron: times, Zone: "Europe/Berlin"}, Action: schedule.Action{Mode: "ato"},
		Selector: &everyRobot}
}

// put saves a schedule.
func (w *world) put(id string, s schedule.Schedule, p auth.Principal) {
	w.Helper()
	_, _, found, err := w.schedules.PutSchedule(context.Background(), p, store.Schedule{ID: id, Schedule: s}, false,
		audit.Attribution{Who: "anna"})
	if err != nil || len(found) > 0 {
		w.Fatalf("schedule %s is refused: %v %v", id, found, err)
	}
}

// runs are the runs, the oldest first, as "OUTCOME local-time: why".
func (w *world) runs() (all []string) {
	w.Helper()
	rows, err := w.DB.ScheduleRuns(context.Background(), store.ScheduleRunQuery{})
	if err != nil {
		w.Fatal(err)
	}
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		w.Fatal(err)
	}
	for _, r := range slices.Backward(rows) {
		text := fmt.Sprintf("%s %s", r.Outcome, r.Instant.In(zone).Format("02 15:04"))
		if r.Why != "" {
			text += ": " + r.Why
		}
		all = append(all, text)
	}
	return all
}

func (w *world) want(what string, got []string, want ...string) {
	w.Helper()
	if !slices.Equal(got, want) {
		w.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func (w *world) messages() (all []string) {
	w.Locked(func() { all = slices.Clone(w.sent) })
	slices.Sort(all)
	return all
}

func TestScheduleRunsAtItsInstant(t *testing.T) {
	inWorld(t, "2026-12-01T08:59:00+01:00", func(w *world) {
		defer w.instance("fleetd", always)()
		w.put("morning", daily("0 9 * * *"), admin)
		w.Sleep(59 * time.Second)
		w.want("sent before its instant", w.messages())
		w.Sleep(2 * time.Second)
		w.want("sent", w.messages(), "r1 mode/set", "r2 mode/set")
		w.want("runs", w.runs(), "done 01 09:00")
		w.Sleep(time.Hour)
		w.want("sent an hour later", w.messages(), "r1 mode/set", "r2 mode/set")
		row, err := w.DB.Schedule(context.Background(), "morning")
		if err != nil || row.NextAt.Format(time.RFC3339) != "2026-12-02T08:00:00Z" {
			t.Errorf("it runs next at %v: %v", row.NextAt, err)
		}
		notes, err := w.DB.Audit(context.Background(), store.AuditQuery{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(notes, func(e audit.Entry) bool { return e.What == "command mode/set" && e.Of == "" })
		if i < 0 || notes[i].Who != "schedule morning" || notes[i].Principal != "anna" || notes[i].Via != audit.ViaSchedule {
			t.Errorf("the audit says %+v", notes[max(i, 0)])
		}
	})
}

func TestMissedInstants(t *testing.T) {
	for _, row := range []struct {
		name string
		s    schedule.Schedule
		sent []string
		runs []string
	}{
		{"skipped", daily("0 9 * * *"), nil, []string{
			"missed 01 09:00: fleetd came to it 51h0m1s late; missed ones are skipped",
			"missed 02 09:00: fleetd came to it 27h0m1s late; missed ones are skipped",
			"missed 03 09:00: fleetd came to it 3h0m1s late; missed ones are skipped"}},
		{"the newest is run", schedule.Schedule{Missed: schedule.RunOnce, WithinS: 4 * 3600}, []string{"r1 mode/set", "r2 mode/set"}, []string{
			"missed 01 09:00: fleetd came to it 51h0m1s late, when a later one was due",
			"missed 02 09:00: fleetd came to it 27h0m1s late, when a later one was due", "done 03 09:00"}},
		{"the newest is too old", schedule.Schedule{Missed: schedule.RunOnce, WithinS: 3600}, nil, []string{
			"missed 01 09:00: fleetd came to it 51h0m1s late; missed ones are run up to 1h0m0s late",
			"missed 02 09:00: fleetd came to it 27h0m1s late; missed ones are run up to 1h0m0s late",
			"missed 03 09:00: fleetd came to it 3h0m1s late; missed ones are run up to 1h0m0s late"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			inWorld(t, "2026-12-01T08:00:00+01:00", func(w *world) {
				s := daily("0 9 * * *")
				s.Missed, s.WithinS = row.s.Missed, row.s.WithinS
				w.put("morning", s, admin)
				w.Sleep(52*time.Hour + time.Second) // fleetd is down
				defer w.instance("fleetd", always)()
				w.Sleep(time.Second)
				w.want("sent", w.messages(), row.sent...)
				w.want("runs", w.runs(), row.runs...)
			})
		})
	}
}

// The clock is set ahead over an instant, and back again: that instant is decided once.
func TestClockThatIsSet(t *testing.T) {
	inWorld(t, "2026-12-01T08:00:00+01:00", func(w *world) {
		defer w.instance("fleetd", always)()
		w.put("hourly", daily("0 * * * *"), admin)
		w.Sleep(time.Minute)
		w.setClock(3 * time.Hour) // 11:01
		w.Sleep(2 * time.Second)
		missed := []string{"missed 01 09:00: fleetd came to it 2h1m1s late; missed ones are skipped",
			"missed 01 10:00: fleetd came to it 1h1m1s late; missed ones are skipped"}
		w.want("runs after the clock was set ahead", w.runs(), append(missed,
			"missed 01 11:00: fleetd came to it 1m1s late; missed ones are skipped")...)
		w.setClock(-3 * time.Hour) // 08:01
		w.Sleep(3*time.Hour + 58*time.Minute)
		if got := w.runs(); len(got) != 3 {
			t.Errorf("instants that were missed run again when the clock was set back: %q", got)
		}
		w.Sleep(2 * time.Minute) // 12:01
		w.want("sent at the first instant that was not decided", w.messages(), "r1 mode/set", "r2 mode/set")
		w.setClock(-5 * time.Minute) // 11:56
		w.Sleep(10 * time.Minute)
		w.want("sent when the instant comes again", w.messages(), "r1 mode/set", "r2 mode/set")
	})
}

// A schedule that was saved while the clock was ahead runs at the next instant of the right clock.
func TestScheduleOfAClockThatWasAhead(t *testing.T) {
	inWorld(t, "2026-12-01T08:00:00+01:00", func(w *world) {
		defer w.instance("fleetd", always)()
		w.setClock(365 * 24 * time.Hour)
		w.put("morning", daily("0 9 * * *"), admin)
		w.Sleep(2 * time.Second)
		w.setClock(-365 * 24 * time.Hour)
		w.Sleep(62 * time.Minute)
		w.want("runs", w.runs(), "done 01 09:00")
	})
}

// Whatever computes its next instant again: one that was decided is not run again, and one that is due stays due.
func TestInstantWhenAScheduleIsSavedAgain(t *testing.T) {
	inWorld(t, "2026-12-01T08:00:00+01:00", func(w *world) {
		defer w.instance("fleetd", always)()
		w.put("morning", daily("0 9 * * *"), admin)
		w.Sleep(time.Minute) // the schedule is seen before the clock is set
		w.setClock(3 * time.Hour)
		w.Sleep(2 * time.Second)
		w.setClock(-3 * time.Hour)
		w.put("morning", daily("0 9 * * *"), admin)
		w.Sleep(2 * time.Hour)
		w.want("runs", w.runs(), "missed 01 09:00: fleetd came to it 2h1m1s late; missed ones are skipped")
		w.want("sent", w.messages())
	})
	inWorld(t, "2026-12-01T08:00:00+01:00", func(w *world) {
		c := schedule.Calendar{Site: site.Site{Zone: "Europe/Berlin", Hours: site.Week{Tue: []string{"09:00-18:00"}}},
			Open: &schedule.Action{Performance: "start"}}
		w.putSite("berlin", c, false)
		w.put("morning", daily("0 9 * * *"), admin)
		w.Sleep(time.Hour + time.Second)
		c.Hours.Tue = []string{"09:00-17:00"}
		w.putSite("berlin", c, false)
		w.put("morning", daily("0 9 * * *"), admin)
		defer w.instance("fleetd", always)()
		w.Sleep(time.Second)
		w.want("sent", w.messages(), "r1 auto/start", "r1 mode/set", "r2 mode/set")
	})
}

func TestFollowerRunsNothing(t *testing.T) {
	inWorld(t, "2026-12-01T08:59:59+01:00", func(w *world) {
		w.put("morning", daily("0 9 * * *"), admin)
		defer w.instance("fleetd", func() bool { return false })()
		w.Sleep(time.Minute)
		w.want("runs", w.runs())
	})
}

func TestScheduleWhenClocksChange(t *testing.T) {
	for _, row := range []struct {
		name, start string
		want        []string
	}{
		{"an hour is skipped", "2027-03-28T01:00:00+01:00", []string{"done 28 03:00", "done 29 02:30"}},
		{"an hour comes twice", "2026-10-25T01:00:00+02:00", []string{"done 25 02:30", "done 26 02:30"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			inWorld(t, row.start, func(w *world) {
				defer w.instance("fleetd", always)()
				w.put("night", daily("30 2 * * *"), admin)
				w.Sleep(4 * time.Hour)
				w.want("runs in the night", w.runs(), row.want[:1]...)
				w.setClock(19*time.Hour + 30*time.Minute)
				w.Sleep(4 * time.Hour)
				w.want("runs in two nights", w.runs(), row.want...)
			})
		})
	}
}

// Two instances of which each believes that it leads, which should not be, and one that takes over at the instant.
func TestInstantRunsOnceWithTwoInstances(t *testing.T) {
	inWorld(t, "2026-12-01T08:59:30+01:00", func(w *world) {
		w.put("morning", daily("0 9 * * *"), admin)
		defer w.instance("fleetd-a", always)()
		defer w.instance("fleetd-b", always)()
		w.Sleep(time.Minute)
		w.want("sent by two leaders", w.messages(), "r1 mode/set", "r2 mode/set")
		w.want("runs", w.runs(), "done 01 09:00")
	})
	inWorld(t, "2026-12-01T08:59:30+01:00", func(w *world) {
		w.put("morning", daily("0 9 * * *"), admin)
		first := w.instance("fleetd-a", always)
		w.Sleep(29*time.Second + 900*time.Millisecond)
		first()
		w.Sleep(10 * time.Second) // until the lock of the dead leader has expired
		defer w.instance("fleetd-b", always)()
		w.Sleep(time.Minute)
		w.want("sent by the next leader", w.messages(), "r1 mode/set", "r2 mode/set")
		w.want("runs", w.runs(), "done 01 09:00")
	})
}

// fleetd ends in its transaction, or between its commit and the first message.
func TestInstantRunsOnceWhenFleetdEnds(t *testing.T) {
	inWorld(t, "2026-12-01T08:59:59+01:00", func(w *world) {
		w.put("morning", daily("0 9 * * *"), admin)
		w.broken = errBroken
		defer w.instance("fleetd", always)()
		w.Sleep(3 * time.Second)
		w.want("sent after a transaction was cut off", w.messages(), "r1 mode/set", "r2 mode/set")
		w.want("runs", w.runs(), "done 01 09:00")
	})
	inWorld(t, "2026-12-01T08:59:59+01:00", func(w *world) {
		w.put("morning", daily("0 9 * * *"), admin)
		w.silent = true
		first := w.instance("fleetd", always)
		w.Sleep(2 * time.Second)
		first()
		w.want("sent before the end", w.messages())
		w.Locked(func() { w.silent = false })
		defer w.instance("fleetd", always)()
		w.Sleep(5 * time.Second)
		w.want("sent after the restart", w.messages(), "r1 mode/set", "r2 mode/set")
		w.want("runs", w.runs(), "done 01 09:00")
	})
	inWorld(t, "2026-12-01T08:59:59+01:00", func(w *world) {
		w.put("morning", daily("0 9 * * *"), admin)
		w.silent = true
		first := w.instance("fleetd", always)
		w.Sleep(2 * time.Second)
		first()
		w.Locked(func() { w.silent = false })
		w.Sleep(time.Minute) // longer than the command is valid
		defer w.instance("fleetd", always)()
		w.Sleep(5 * time.Second)
		w.want("sent long after it was meant", w.messages())
	})
}

// The database did not say whether it committed, and another instance leads from then on, which does not know of the commands.
func TestCommandsOfAnUnknownCommitAreSentWithoutLeading(t *testing.T) {
	inWorld(t, "2026-12-01T08:59:59+01:00", func(w *world) {
		w.put("morning", daily("0 9 * * *"), admin)
		w.broken = store.ErrOutcomeUnknown
		defer w.instance("fleetd", func() (leads bool) { w.Locked(func() { leads = w.broken != nil }); return leads })()
		w.Sleep(3 * time.Second)
		w.want("sent before the commit is seen", w.messages())
		w.Tx(w.save)
		w.Sleep(3 * time.Second)
		w.want("sent", w.messages(), "r1 mode/set", "r2 mode/set")
	})
}

// What is refused is the outcome of the run. A schedule has the rights and sites of its author, and no more.
func TestScheduleActsAsItsAuthor(t *testing.T) {
	inWorld(t, "2026-12-01T08:59:59+01:00", func(w *world) {
		ofSite := admin
		ofSite.Sites = []string{"berlin"}
		w.put("berlin", daily("0 9 * * *"), ofSite)
		releaser := admin
		releaser.Rights = auth.View | auth.Assign
		w.put("releaser", daily("1 9 * * *"), releaser)
		nobody := daily("2 9 * * *")
		robots := selector.Labelled(selector.Label{Key: "site", Value: "paris"})
		nobody.Selector = &robots
		w.put("nobody", nobody, admin)
		defer w.instance("fleetd", always)()
		w.Sleep(3 * time.Minute)
		w.want("sent", w.messages(), "r1 mode/set")
		w.want("runs", w.runs(), "done 01 09:00", "failed 01 09:01: anna, who saved the schedule, had no right to command",
			"failed 01 09:02: no robot matches -l site=paris")
	})
}

func TestScheduleAssigns(t *testing.T) {
	inWorld(t, "2026-12-01T08:59:59+01:00", func(w *world) {
		s := daily("0,1 9 * * *")
		s.Action = schedule.Action{Assign: &content.Content{Mode: &desired.Mode{Mode: "ato"}}}
		w.put("morning", s, admin)
		w.Tx(func(tx *store.Tx) error {
			return tx.SetPins(context.Background(), []store.Pin{{Robot: "r2", Topic: schema.TopicDesiredMode, At: w.now(), By: "ben"}})
		})
		defer w.instance("fleetd", always)()
		w.Sleep(2 * time.Second)
		w.want("runs", w.runs(), "done 01 09:00: 1 are pinned, and keep what they have")
		newest, err := w.DB.NewestDesired(context.Background(), schema.TopicDesiredMode, selector.All())
		if err != nil || len(newest) != 1 || !strings.Contains(string(newest["r1"].Payload), `"ato"`) {
			t.Errorf("the desired modes are %v: %v", newest, err)
		}
		all, err := w.DB.Rollouts(context.Background(), store.RolloutQuery{})
		if err != nil || len(all) != 1 || all[0].Cause != rollout.BySchedule || all[0].CauseID != "morning" || all[0].Waves[0].Total != 1 {
			t.Errorf("the assignment is the rollout %+v: %v", all, err)
		}
		w.Tx(func(tx *store.Tx) error {
			return tx.SetPins(context.Background(), []store.Pin{{Robot: "r1", Topic: schema.TopicDesiredMode, At: w.now(), By: "ben"}})
		})
		w.Sleep(time.Minute)
		w.want("runs", w.runs(), "done 01 09:00: 1 are pinned, and keep what they have", "done 01 09:01: 2 are pinned, and keep what they have")
	})
}

func TestScheduleStartsARollout(t *testing.T) {
	inWorld(t, "2026-12-01T08:59:59+01:00", func(w *world) {
		o := rollout.Rollout{ID: "o1", State: rollout.Ready, Content: content.Content{Mode: &desired.Mode{Mode: "ato"}}, CreatedAt: w.now(),
			CreatedBy: "anna",
			Waves:     []rollout.Wave{{State: rollout.WavePlanned, Total: 1}}}
		w.Tx(func(tx *store.Tx) error {
			return tx.AddRollouts(context.Background(), store.NewRollout{Rollout: o, Members: []rollout.Robot{{ID: "r1", State: rollout.Planned}}})
		})
		for id, cron := range map[string]string{"first": "0 9 * * *", "again": "1 9 * * *"} {
			w.put(id, schedule.Schedule{Times: schedule.Times{Cron: cron, Zone: "Europe/Berlin"}, Action: schedule.Action{Rollout: "o1"}}, admin)
		}
		defer w.instance("fleetd", always)()
		w.Sleep(2 * time.Minute)
		started, err := w.DB.Rollout(context.Background(), "o1")
		if err != nil || started.State != rollout.Running {
			t.Errorf("the rollout is %s: %v", started.State, err)
		}
		if got := w.runs(); len(got) != 2 || got[0] != "done 01 09:00" ||
			!strings.HasPrefix(got[1], "failed 01 09:01: start is not possible: the rollout is RUNNING") {
			t.Errorf("the runs are %q", got)
		}
	})
}

// A robot that is stopped refuses: the run says so, and nothing is tried again.
func TestRobotThatRefusesIsInTheRun(t *testing.T) {
	inWorld(t, "2026-12-01T08:59:59+01:00", func(w *world) {
		w.put("morning", daily("0 9 * * *"), admin)
		end := w.instance("fleetd", always)
		w.Sleep(2 * time.Second)
		end()
		rows, err := w.DB.ScheduleRuns(context.Background(), store.ScheduleRunQuery{})
		if err != nil || len(rows) != 1 || rows[0].Robots != 2 || rows[0].Batch == "" {
			t.Fatalf("the runs are %+v: %v", rows, err)
		}
		sent, err := w.DB.Commands(context.Background(), store.CommandQuery{Batch: rows[0].Batch, Robot: "r1"})
		if err != nil || len(sent) != 1 {
			t.Fatal(sent, err)
		}
		c := sent[0]
		c.State, c.Because, c.EndedAt = command.Rejected, "answered", w.now()
		c.Answer = &schema.Ack{ID: &c.ID, Verb: c.Verb, Session: "s", TS: schema.TimeOf(w.now()), Status: schema.StatusRejected,
			Reason: schema.ReasonBadRequest, Detail: "a stop is latched"}
		if err := w.DB.SaveCommands(context.Background(), []command.Command{c}); err != nil {
			t.Fatal(err)
		}
		answers, err := w.DB.Answers(context.Background(), []string{rows[0].Batch})
		if got := answers[rows[0].Batch]; err != nil || got.Counts[command.Rejected] != 1 || len(got.Refused) != 1 ||
			got.Refused[0] != (store.NotDone{Robot: "r1", State: command.Rejected, Why: "a stop is latched"}) {
			t.Errorf("the run says %+v: %v", got, err)
		}
	})
}

func (w *world) putSite(id string, c schedule.Calendar, dryRun bool) change.SiteChange {
	w.Helper()
	done, found, err := w.schedules.PutSite(context.Background(), admin, store.Site{ID: id, Calendar: c}, dryRun,
		audit.Attribution{Who: "anna"})
	if err != nil || len(found) > 0 {
		w.Fatalf("site %s is refused: %v %v", id, found, err)
	}
	return done
}

func TestSiteOpensAndCloses(t *testing.T) {
	inWorld(t, "2026-12-01T08:00:00+01:00", func(w *world) {
		defer w.instance("fleetd", always)()
		c := schedule.Calendar{Site: site.Site{Zone: "Europe/Berlin", Hours: site.Week{Tue: []string{"09:00-18:00"},
			Wed: []string{"09:00-18:00"}}},
			Open: &schedule.Action{Performance: "start"}, Close: &schedule.Action{Performance: "stop"}}
		if done := w.putSite("berlin", c, true); len(done.Written) != 2 {
			t.Errorf("a dry run would write %v", done.Written)
		}
		if _, err := w.DB.Site(context.Background(), "berlin"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a dry run wrote the site: %v", err)
		}
		w.putSite("berlin", c, false)
		before := daily("0 0 1 1 *")
		before.Times = schedule.Times{Event: "opening", Site: "berlin", OffsetS: -600}
		before.Action = schedule.Action{Mode: "mnl"}
		w.put("warm-up", before, admin)
		w.Sleep(61 * time.Minute)
		w.want("sent until it is open", w.messages(), "r1 auto/start", "r1 mode/set", "r2 mode/set")
		c.Hours.Tue = []string{"09:00-10:00"}
		c.Hours.Wed = []string{"10:00-18:00"}
		if done := w.putSite("berlin", c, false); !slices.Equal(done.Moved, []string{"warm-up"}) {
			t.Errorf("other hours move %v", done.Moved)
		}
		w.Sleep(time.Hour)
		w.want("runs", w.runs(), "done 01 08:50", "done 01 09:00", "done 01 10:00")
		row, err := w.DB.Schedule(context.Background(), "warm-up")
		if err != nil || row.NextAt.Format(time.RFC3339) != "2026-12-02T08:50:00Z" {
			t.Errorf("before the opening is at %v: %v", row.NextAt, err)
		}

		if _, _, found, err := w.schedules.PutSchedule(context.Background(), admin,
			store.Schedule{ID: "berlin-open", Schedule: daily("0 9 * * *")}, false, audit.Attribution{}); err != nil || len(found) != 1 ||
			found[0].Code != change.CodeOfCalendar {
			t.Errorf("a schedule of a calendar is changed: %v %v", found, err)
		}
		if found, err := w.schedules.DeleteSite(context.Background(), admin, "berlin", audit.Attribution{}); err != nil || len(found) != 1 ||
			found[0].Code != change.CodeInUse {
			t.Errorf("a site with schedules is deleted: %v %v", found, err)
		}
		if found, err := w.schedules.DeleteSchedule(context.Background(), admin, "warm-up", audit.Attribution{}); err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
		if found, err := w.schedules.DeleteSite(context.Background(), admin, "berlin", audit.Attribution{}); err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
		if all, err := w.DB.Schedules(context.Background()); err != nil || len(all) > 0 {
			t.Errorf("schedules of a deleted site: %v %v", all, err)
		}
	})
}

func TestSitesAreRefusedAsAWhole(t *testing.T) {
	inWorld(t, "2026-12-01T08:00:00+01:00", func(w *world) {
		w.put("berlin-open", daily("0 9 * * *"), admin)
		good := site.Site{Zone: "Europe/Berlin", Hours: site.Week{Tue: []string{"09:00-18:00"}}}
		for _, row := range []struct {
			id   string
			c    schedule.Calendar
			want string
		}{
			{"a/b", schedule.Calendar{Site: good}, " bad_id"},
			{"berlin", schedule.Calendar{Site: good, Open: &schedule.Action{Mode: "ato"}}, " taken"},
			{"paris", schedule.Calendar{Site: site.Site{Zone: "Mars"}, Open: &schedule.Action{},
				Close: &schedule.Action{Assign: &content.Content{Story: &content.Story{ID: "none"}}}},
				"/close/assign/story/id not_found, /open one_of, /zone unknown_zone"},
			{"paris", schedule.Calendar{Site: good, Close: &schedule.Action{Rollout: "o9"}}, "/close/rollout not_found"},
		} {
			_, found, err := w.schedules.PutSite(context.Background(), admin, store.Site{ID: row.id, Calendar: row.c}, false, audit.Attribution{})
			var got []string
			for _, p := range found {
				got = append(got, p.Pointer+" "+p.Code)
			}
			if err != nil || strings.Join(got, ", ") != row.want {
				t.Errorf("%s: %q %v, want %q", row.id, strings.Join(got, ", "), err, row.want)
			}
		}
		if all, err := w.DB.Sites(context.Background()); err != nil || len(all) > 0 {
			t.Errorf("refused sites were written: %v %v", all, err)
		}
	})
}

func TestWindowsOfSites(t *testing.T) {
	inWorld(t, "2026-12-01T08:00:00+01:00", func(w *world) {
		s := scheduler.New(scheduler.Deps{Log: slog.New(slog.DiscardHandler), Now: w.now, Leads: always, Failed: w.Failed,
			Schedules: w.schedules, Loaded: w.Loaded, Targets: w.Targets, Resolve: w.Resolve})
		berlin := map[string]string{"site": "berlin"}
		if open, _ := s.Windows(berlin, w.now()); open {
			t.Error("a window is open before the sites were read")
		}
		defer w.Start(func(ctx context.Context) { s.Run(ctx, w.DB) })()
		w.putSite("berlin", schedule.Calendar{Site: site.Site{Zone: "Europe/Berlin", Windows: []site.Window{{Span: "22:00-05:00"}}}}, false)
		w.Sleep(2 * time.Second)
		if open, opens := s.Windows(berlin, w.now()); open || opens.UTC().Format(time.RFC3339) != "2026-12-01T21:00:00Z" {
			t.Errorf("in the morning a window is open: %v, the next opens at %v", open, opens)
		}
		if open, _ := s.Windows(berlin, w.now().Add(15*time.Hour)); !open {
			t.Error("at night no window is open")
		}
		for _, labels := range []map[string]string{nil, {"site": "paris"}} {
			if open, _ := s.Windows(labels, w.now()); !open {
				t.Errorf("robots with the labels %v wait for a window that does not exist", labels)
			}
		}
		w.Tx(func(tx *store.Tx) error { // as after the data of time zones lost a name
			return tx.PutSite(context.Background(), store.Site{ID: "paris", Calendar: schedule.Calendar{Site: site.Site{Zone: "Europe/Lutetia"}}})
		})
		w.Sleep(2 * time.Second)
		if open, _ := s.Windows(map[string]string{"site": "paris"}, w.now()); open {
			t.Error("a window is open of a site that cannot be read")
		}
	})
}
