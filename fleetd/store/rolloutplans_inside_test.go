package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/content"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// fleetWithRollouts adds robots and rollouts to all of them, each of a canary of five and a wave of the others. Of these, the
// first robots are offered the content.
func fleetWithRollouts(t testing.TB, s *Store, robots, rollouts int) (ids []string) {
	t.Helper()
	for i := range robots {
		ids = append(ids, fmt.Sprintf("r%05d", i))
	}
	if err := s.Tx(t.Context(), func(tx *Tx) error {
		robot := []column[string]{text("id", func(id string) string { return id })}
		for _, query := range []string{
			`INSERT INTO robots (id, first_seen, last_seen) SELECT id, 1, 1 FROM given`,
			`INSERT INTO labels (robot, key, value) SELECT id, 'site', 'museum' FROM given`,
			`INSERT INTO pins (robot, topic, at, by_who, why) SELECT id, 'desired_mode', 1, '', '' FROM given`,
		} {
			if _, err := writeRows(t.Context(), tx, ids, robot, query); err != nil {
				return err
			}
		}
		for i := range rollouts {
			if err := tx.AddRollouts(t.Context(), rolloutTo(fmt.Sprintf("o%03d", i), i, ids)); err != nil {
				return err
			}
		}
		if s.SingleInstance() {
			return nil
		}
		_, err := tx.exec(t.Context(), "ANALYZE")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return ids
}

// rolloutTo is a running rollout to robots; of ten, one is open.
func rolloutTo(id string, i int, robots []string) NewRollout {
	o := NewRollout{Rollout: rollout.Rollout{
		ID: id, State: rollout.Running, Content: content.Content{Story: &content.Story{ID: "x",
			Rev: 1}}, CreatedAt: noon.Add(time.Duration(i) * time.Minute), StartedAt: noon.Add(time.Duration(i) * time.Minute), Wave: 1,
	}}
	if i%10 > 0 {
		o.State, o.EndedAt = rollout.Succeeded, o.StartedAt.Add(time.Hour)
	}
	counts := []map[rollout.RobotState]int{{}, {}}
	for n, robot := range robots {
		m := rollout.Robot{ID: robot, Place: n, State: rollout.Planned}
		if n >= 5 {
			m.Wave = 1
		}
		if n < 10 {
			m.State, m.Group, m.Why = rollout.Failed, "no_space", "no space"
		}
		counts[m.Wave][m.State]++
		o.Members = append(o.Members, m)
	}
	o.Waves = []rollout.Wave{{State: rollout.WavePassed, Counts: counts[0], Total: 5}, {Number: 1, State: rollout.WaveRunning,
		Counts: counts[1], Total: len(robots) - 5}}
	return o
}

// Every query about rollouts and pins finds its rows by an index, whatever the planner expects of its size.
func TestQueriesOfRolloutsUseIndexes(t *testing.T) {
	eachDatabase(t, func(t *testing.T, address func() string) {
		s, c := openCounted(t, address())
		ids := fleetWithRollouts(t, s, 200, 30)
		ctx, story, one := t.Context(), schema.TopicDesiredStory, 1
		inTx := func(do func(tx *Tx) error) func() error { return func() error { return s.Tx(ctx, do) } }
		o, err := s.Rollout(ctx, "o010")
		if err != nil {
			t.Fatal(err)
		}
		of := func(q RolloutQuery) func() error {
			return func() error { _, err := s.Rollouts(ctx, q); return err }
		}
		robots := func(q RolloutRobotQuery) func() error {
			q.Rollout = o.ID
			return func() error { _, err := s.RolloutRobots(ctx, q); return err }
		}
		for _, test := range []struct {
			what string
			do   func() error
		}{
			{"all rollouts", of(RolloutQuery{})}, {"open rollouts", of(RolloutQuery{Open: true})}, {"paused rollouts",
				of(RolloutQuery{State: rollout.Paused})},
			{"rollouts of a robot", of(RolloutQuery{Robot: "r00001"})}, {"rollouts of a site", of(RolloutQuery{Sites: []string{"museum"}})},
			{"one of a site", of(RolloutQuery{ID: o.ID, Sites: []string{"museum"}})},
			{"versions of open rollouts", func() error { _, err := s.OpenRollouts(ctx); return err }},
			{"a version", func() error { _, err := s.RolloutVersionOf(ctx, o.ID); return err }},
			{"newest starts", func() error { _, err := s.NewestStarts(ctx); return err }},
			{"later rollouts", func() error { _, err := s.NewerRollouts(ctx, o); return err }},
			{"robots", robots(RolloutRobotQuery{})}, {"a page of robots", robots(RolloutRobotQuery{After: "r00020", Limit: 10})},
			{"robots of a wave", robots(RolloutRobotQuery{Wave: &one, After: "r00020", Limit: 10})},
			{"failed robots", robots(RolloutRobotQuery{States: rollout.Failures, After: "r00002", Limit: 10})},
			{"failures by reason", func() error { _, err := s.RolloutFailures(ctx, o.ID, rollout.Failures); return err }},
			{"robots of open rollouts", func() error {
				_, err := s.RobotsOfOpenRollouts(ctx, story, selector.IDs(ids[:50]...), []rollout.RobotState{rollout.Planned})
				return err
			}},
			{"what keeps robots from an offer", inTx(func(tx *Tx) error { _, err := tx.Offerable(ctx, o, ids[:10]); return err })},
			{"a new rollout", inTx(func(tx *Tx) error { return tx.AddRollouts(ctx, rolloutTo("o999", 999, ids[:20])) })},
			{"a step", inTx(func(tx *Tx) error {
				return tx.SaveRollout(ctx, rollout.Changes{Rollout: o, Robots: []rollout.Robot{{ID: ids[20], State: rollout.Offered},
					{ID: ids[21], State: rollout.Offered}}})
			})},
			{"pins of a robot", func() error { _, err := s.Pins(ctx, PinQuery{Robot: ids[0]}); return err }},
			{"pins of a kind", func() error { _, err := s.Pins(ctx, PinQuery{Topic: story}); return err }},
			{"new pins", inTx(func(tx *Tx) error { return tx.SetPins(ctx, []Pin{{Robot: ids[0], Topic: story}}) })},
			{"a removed pin", inTx(func(tx *Tx) error { return tx.RemovePin(ctx, ids[0], story) })},
			{"old rollouts", func() error { _, err := s.PruneRollouts(ctx, noon.Add(100*time.Minute), 10); return err }},
		} {
			explained := 0
			for _, q := range c.queries(t, test.do) {
				plan := explain(t, s, q)
				if explained++; plan == "" {
					t.Errorf("%s: no plan of %s", test.what, q.text)
				}
				for line := range strings.Lines(plan) {
					if scansTable(line) {
						t.Errorf("%s reads a whole table:\n%s\n%s", test.what, q.text, plan)
					}
				}
			}
			if explained == 0 {
				t.Errorf("%s: no query was seen", test.what)
			}
		}
	})
}

// queryText is a statement with its arguments; a prepared one has none here.
type queryText struct {
	text string
	args []any
}

// queries returns the statements about tables of rollouts that do executes.
func (c *counts) queries(t *testing.T, do func() error) (all []queryText) {
	t.Helper()
	c.note = func(query string, args []driver.NamedValue) {
		if !strings.Contains(query, "rollout") && !strings.Contains(query, "pins") {
			return
		}
		q := queryText{text: query}
		for _, a := range args {
			q.args = append(q.args, a.Value)
		}
		all = append(all, q)
	}
	defer func() { c.note = nil }()
	if err := do(); err != nil {
		t.Fatal(err)
	}
	return all
}

// explain returns the plan of a statement, one line for each step.
func explain(t *testing.T, s *Store, q queryText) (plan string) {
	t.Helper()
	ctx := t.Context()
	if s.dialect.name == "sqlite" {
		if q.args == nil { // prepared: SQLite plans it without values
			q.args = make([]any, strings.Count(q.text, "$"))
			for i := range q.args {
				q.args[i] = ""
			}
			q.args = q.args[:placeholders(q.text)]
		}
		return lines(t, ctx, s, "EXPLAIN QUERY PLAN "+q.text, q.args, 4)
	}
	conn, err := s.pools.write.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, "SET LOCAL enable_seqscan = off"); err != nil { // a small table would not use its index
		t.Fatal(err)
	}
	rows, err := tx.QueryContext(ctx, "EXPLAIN "+q.text, q.args...)
	if err != nil {
		t.Fatalf("%s: %v", q.text, err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan += line + "\n"
	}
	return plan
}

// placeholders is the number of different arguments of a statement.
func placeholders(query string) (n int) {
	for i := 1; strings.Contains(query, fmt.Sprintf("$%d", i)); i++ {
		n = i
	}
	return n
}

func lines(t *testing.T, ctx context.Context, s *Store, query string, args []any, columns int) (all string) {
	t.Helper()
	rows, err := s.pools.write.QueryContext(ctx, query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		values := make([]any, columns)
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		all += fmt.Sprintln(*values[columns-1].(*any))
	}
	return all
}

// scansTable reports whether a step of a plan reads a whole table that grows with the fleet or with time.
func scansTable(step string) bool {
	for _, table := range []string{"rollouts", "rollout_robots", "rollout_waves", "pins", "robots", "labels", "desired"} {
		if strings.Contains(step, "Seq Scan on "+table+" ") {
			return true
		}
	}
	step = strings.TrimSpace(step)
	if rest, ok := strings.CutPrefix(step, "SCAN "); ok {
		return !strings.Contains(rest, "INDEX") && !strings.Contains(rest, "VIRTUAL TABLE") && !strings.Contains(rest, "CONSTANT ROW") &&
			len(strings.Fields(rest)) == 1 && !strings.HasPrefix(rest, "(") && rest != "given" && rest != "g"
	}
	return false
}
