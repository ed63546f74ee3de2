package store

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/command"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/stop"
	"troupe/fleetd/store/pgtest"
	"troupe/schema"
	"troupe/schema/score"
)

func eachDatabase(t *testing.T, test func(t *testing.T, address func() string)) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, func() string { return "sqlite:" + filepath.Join(t.TempDir(), "fleet.db") })
	})
	t.Run("postgres", func(t *testing.T) { test(t, func() string { return pgtest.Start(t) }) })
}

var noon = time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)

// fleetOf adds robots, each with settings, labels and a released stop. Ten of them have the
// story x, which contains the act a with the sound gong. The others have a latched stop, and
// hold other stories.
func fleetOf(t *testing.T, s *Store, robots, stories int) (ids []string) {
	t.Helper()
	for i := range robots {
		ids = append(ids, fmt.Sprintf("r%05d", i))
	}
	others := ids[min(10, robots):]
	if err := s.Tx(t.Context(), func(tx *Tx) error {
		robot := []column[string]{text("id", func(id string) string { return id })}
		for _, query := range []string{
			`INSERT INTO robots (id, first_seen, last_seen) SELECT id, 1, 1 FROM given`,
			`INSERT INTO labels (robot, key, value) SELECT id, 'site', 'museum' FROM given`,
			`INSERT INTO desired (robot, kind, rev, payload, changed_at, changed_by) SELECT id, 'desired_config', 1, '{}', 1, '' FROM given`,
			`INSERT INTO stops (id, robot, level, asked_by, why, asked_at, released_at, released_by, released_why, client)
				SELECT 's-0', id, 'stop', '', '', 1, 2, '', '', '' FROM given`,
			`INSERT INTO desired (robot, kind, rev, payload, changed_at, changed_by) SELECT id, 'desired_stop', 1, '{}', 1, '' FROM given`,
		} {
			if _, err := writeRows(t.Context(), tx, ids, robot, query); err != nil {
				return err
			}
		}
		if _, err := writeRows(t.Context(), tx, others, robot, `INSERT INTO stops (id, robot, level, asked_by, why, asked_at, released_at, released_by, released_why, client)
			SELECT 's-9', id, 'stop', '', '', 1, 0, '', '', '' FROM given`); err != nil {
			return err
		}
		if err := putAsset(t, tx, "gong", "1"); err != nil {
			return err
		}
		for _, text := range []string{actA, "act: b\nactions: [{type: wait, start_ms: 0, end_ms: 1000}]\n", storyText("x", "a", "b"),
			storyText("z", "a", "b")} {
			if err := publishText(t, tx, text); err != nil {
				return err
			}
		}
		if err := assign(t, tx, "x", selector.IDs(ids[:min(10, robots)]...)); err != nil {
			return err
		}
		if err := tx.Apply(t.Context(), otherStories(others, stories), noon); err != nil || s.SingleInstance() {
			return err
		}
		_, err := tx.exec(t.Context(), "ANALYZE") // a server does that by itself within a minute
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return ids
}

const actA = "act: a\nactions: [{type: sound, start_ms: 0, timeout_ms: 900, sound: gong}]\n"

func storyText(id string, acts ...string) string {
	text := "story: " + id + "\nname: {en: Story}\nrepeat: loop\nacts:\n"
	for _, act := range acts {
		text += "  - {act: " + act + "}\n"
	}
	return text
}

// otherStories returns stories of the act b, each published and with a draft of the act c,
// which does not exist, and robots that hold them.
func otherStories(robots []string, n int) (c library.Changes) {
	act, _ := score.ParseAct([]byte("act: b\nactions: [{type: wait, start_ms: 0, end_ms: 1000}]\n"))
	for i := range n {
		id := fmt.Sprintf("other-%d", i)
		story, _ := score.ParseStory([]byte(storyText(id, "b")))
		body, sum, err := score.EncodePublishedStory(story, map[string]score.Act{"b": act}, 1)
		if err != nil {
			panic(err)
		}
		c.Entries = append(c.Entries, library.Entry{Kind: library.KindStory, ID: id, Draft: []byte(storyText(id, "c")), DraftRev: 1, Rev: 1,
			ChangedAt: noon})
		c.Revisions = append(c.Revisions,
			library.Revision{Kind: library.KindStory, ID: id, Rev: 1, SHA256: sum, Size: int64(len(body)), Body: body, CreatedAt: noon})
	}
	for i, robot := range robots {
		c.Defaults = append(c.Defaults,
			library.Default{Robot: robot, DesiredRev: 1, Story: fmt.Sprintf("other-%d", i%n), Rev: 1, Apply: schema.ApplyNextAct,
				Document: []byte("{}"), ChangedAt: noon})
	}
	return c
}

var anna = audit.Attribution{Who: "anna", At: noon}

// publishText saves and publishes an act or a story.
func publishText(t *testing.T, tx *Tx, text string) error {
	kind, id, _ := strings.Cut(strings.SplitN(text, "\n", 2)[0], ": ")
	if err := plan(t, tx, library.ForDraft(library.Kind(kind), []byte(text)), selector.Selector{},
		func(rows library.Rows) (library.Changes, []schema.Problem) {
			saved, problems := library.Save(rows, library.Kind(kind), []byte(text), nil, anna)
			return saved.Changes, problems
		}); err != nil {
		return err
	}
	return publish(t, tx, library.Kind(kind), id)
}

func putAsset(t *testing.T, tx *Tx, name, text string) error {
	return plan(t, tx, library.ForPutAsset(name), selector.Selector{}, func(rows library.Rows) (library.Changes, []schema.Problem) {
		up, problems := library.PutAsset(rows, name,
			[]byte("RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x01\x00\x00\x00"+text),
			anna)
		return up.Changes, problems
	})
}

func plan(t *testing.T, tx *Tx, read library.Reading, robots selector.Selector,
	decide func(library.Rows) (library.Changes, []schema.Problem)) error {
	rows, err := tx.LibraryFor(t.Context(), read, robots)
	if err != nil {
		return err
	}
	c, problems := decide(rows)
	if len(problems) > 0 {
		return fmt.Errorf("the plan has problems: %v", problems)
	}
	return tx.Apply(t.Context(), c, noon)
}

func publish(t *testing.T, tx *Tx, kind library.Kind, id string) error {
	return plan(t, tx, library.ForPublish(kind, id), selector.Selector{}, func(rows library.Rows) (library.Changes, []schema.Problem) {
		p, problems := library.Publish(rows, kind, id, nil, anna)
		return p.Changes, problems
	})
}

// assign sets the default story as the API does.
func assign(t *testing.T, tx *Tx, story string, sel selector.Selector) error {
	meant, err := tx.Robots(t.Context(), sel)
	if err != nil {
		return err
	}
	var ids []string
	for _, r := range meant {
		ids = append(ids, r.ID)
	}
	return plan(t, tx, library.ForAssignment(story, 0), sel, func(rows library.Rows) (library.Changes, []schema.Problem) {
		a, problems := library.Assign(rows, library.Assignment{Story: story, Robots: ids}, anna)
		if len(a.Updated) != len(ids) {
			t.Errorf("%d of %d robots get a document", len(a.Updated), len(ids))
		}
		return a.Changes, problems
	})
}

// changesOfTen are changes that concern ten robots, one act and one story, in this order.
func changesOfTen(t *testing.T, ten []string) []namedChange {
	by := audit.Attribution{Who: "anna", At: noon}
	stops := func(need stop.Need, plan func(stop.Rows) (stop.Changes, error)) func(tx *Tx) error {
		return func(tx *Tx) error {
			rows, err := tx.StopsFor(t.Context(), need)
			if err != nil {
				return err
			}
			c, err := plan(rows)
			if err != nil {
				return err
			}
			if len(c.Documents) != 10 || c.Documents[0].Rev < noon.UnixMilli() {
				t.Errorf("%d robots get a stop document", len(c.Documents))
			}
			return tx.ApplyStops(t.Context(), c, noon)
		}
	}
	order := stop.Request{ID: "s-1", Level: schema.StopStop, Robots: ten, At: noon}
	remove := func(tx *Tx) error {
		return plan(t, tx, library.ForDelete(library.KindAct, "a"), selector.Selector{},
			func(rows library.Rows) (library.Changes, []schema.Problem) {
				r, problems := library.Delete(rows, library.KindAct, "a", &library.Expect{Stories: 2, Robots: 10}, anna)
				return r.Changes, problems
			})
	}
	return []namedChange{
		{"assign", func(tx *Tx) error { return assign(t, tx, "z", selector.IDs(ten...)) }},
		{"settings", func(tx *Tx) error {
			rows, err := tx.DesiredRows(t.Context(), schema.TopicDesiredConfig, selector.IDs(ten...))
			if err != nil {
				return err
			}
			c, problems := desired.Labels(rows, by)
			if len(problems) > 0 || len(c.Updated) != 10 {
				t.Errorf("settings for %v: %v", c.Updated, problems)
			}
			return tx.ApplyDesired(t.Context(), c, by)
		}},
		{"labels", func(tx *Tx) error {
			labels := map[string]map[string]string{}
			for _, id := range ten {
				labels[id] = map[string]string{"site": "hall", "floor": "2"}
			}
			return tx.SetLabelsOf(t.Context(), labels)
		}},
		{"who pinned ten robots", func(tx *Tx) error {
			if err := tx.SetPins(t.Context(), []Pin{{Robot: ten[0], Topic: schema.TopicDesiredStory, At: noon}}); err != nil {
				return err
			}
			pins, err := tx.Pins(t.Context(), PinQuery{IDs: ten})
			if len(pins) != 1 {
				t.Errorf("pins %+v", pins)
			}
			return err
		}},
		{"stop", stops(stop.Need{Requests: []stop.Request{order}},
			func(rows stop.Rows) (stop.Changes, error) { return stop.Persist(rows, []stop.Request{order}, noon) })},
		{"release", stops(stop.Need{Release: []string{"s-1"}}, func(rows stop.Rows) (stop.Changes, error) {
			c, problems, err := stop.Release(rows, []string{"s-1"}, stop.Elsewhere{}, "anna", "", noon)
			if len(problems) > 0 {
				t.Error(problems)
			}
			return c, err
		})},
		{"a rollout", func(tx *Tx) error {
			if err := tx.AddRollouts(t.Context(), rolloutTo("o1", 0, ten)); err != nil {
				return err
			}
			_, err := tx.NewestStarts(t.Context())
			return err
		}},
		{"a step of a rollout", func(tx *Tx) error {
			o, err := tx.Rollout(t.Context(), "o1")
			if err != nil {
				return err
			}
			robots, err := tx.RolloutRobots(t.Context(), RolloutRobotQuery{Rollout: "o1"})
			if err != nil {
				return err
			}
			if _, err := tx.Offerable(t.Context(), o, ten); err != nil {
				return err
			}
			return tx.SaveRollout(t.Context(), rollout.Changes{Rollout: o, Robots: robots})
		}},
		{"publish a story", func(tx *Tx) error { return publishText(t, tx, storyText("x", "a", "b", "a")) }},
		{"publish an act", func(tx *Tx) error { return publishText(t, tx, strings.ReplaceAll(actA, "900", "800")) }},
		{"put an asset", func(tx *Tx) error { return putAsset(t, tx, "gong", "2") }},
		{"list assets", func(tx *Tx) error {
			return plan(t, tx, library.ForUses(), selector.Selector{}, func(rows library.Rows) (library.Changes, []schema.Problem) {
				uses, problems := library.Uses(rows)
				if len(uses["gong"]) != 2 || len(uses["gong"][1].Robots) != 10 {
					t.Errorf("uses of gong: %v", uses["gong"])
				}
				return library.Changes{}, problems
			})
		}},
		{"delete an act", remove},
		{"recover an act", func(tx *Tx) error {
			return plan(t, tx, library.ForRecover(library.KindAct, "a"), selector.Selector{},
				func(rows library.Rows) (library.Changes, []schema.Problem) {
					saved, problems := library.Recover(rows, library.KindAct, "a", anna)
					return saved.Changes, problems
				})
		}},
		{"publish a story again", func(tx *Tx) error { return publishText(t, tx, storyText("x", "b")) }},
		{"delete an asset", func(tx *Tx) error {
			return plan(t, tx, library.ForDeleteAsset("gong"), selector.Selector{}, func(rows library.Rows) (library.Changes, []schema.Problem) {
				return library.DeleteAsset(rows, "gong", anna)
			})
		}},
		{"delete a story", func(tx *Tx) error {
			return plan(t, tx, library.ForDelete(library.KindStory, "z"), selector.Selector{},
				func(rows library.Rows) (library.Changes, []schema.Problem) {
					r, problems := library.Delete(rows, library.KindStory, "z", &library.Expect{Stories: 1, Robots: 10, Clear: []string{"z"}}, anna)
					return r.Changes, problems
				})
		}},
	}
}

type namedChange struct {
	what string
	do   func(tx *Tx) error
}

// The cost of a change of ten robots depends neither on the size of the fleet nor on that of
// its library.
func TestCostOfAChangeDoesNotGrowWithTheFleet(t *testing.T) {
	eachDatabase(t, func(t *testing.T, address func() string) {
		type cost struct{ statements, rows int64 }
		var sizes []map[string]cost
		var times []map[string]time.Duration
		for _, size := range []struct{ robots, stories int }{{10, 10}, {10_000, 1000}} {
			s, c := openCounted(t, address())
			ten := fleetOf(t, s, size.robots, size.stories)[:10]
			costs, took := map[string]cost{}, map[string]time.Duration{}
			for _, change := range changesOfTen(t, ten) {
				began := time.Now()
				statements, rows := c.of(t, func() error { return s.Tx(t.Context(), change.do) })
				costs[change.what], took[change.what] = cost{statements, rows}, time.Since(began)
			}
			sizes, times = append(sizes, costs), append(times, took)
		}
		for what, few := range sizes[0] {
			many := sizes[1][what]
			t.Logf("%s: %d statements and %d rows read in %.1f ms with 10 robots and 10 stories, %d and %d in %.1f ms with 10,000 and 1,000", what,
				few.statements, few.rows, times[0][what].Seconds()*1e3, many.statements, many.rows, times[1][what].Seconds()*1e3)
			if few != many || few.rows == 0 || few.rows > 100 {
				t.Errorf("%s costs %+v with 10 robots and 10 stories, and %+v with 10,000 and 1,000", what, few, many)
			}
		}
	})
}

// Up to rowsAtOnce rows are written by one statement.
func TestBatchIsOneStatement(t *testing.T) {
	eachDatabase(t, func(t *testing.T, address func() string) {
		s, c := openCounted(t, address())
		ids := fleetOf(t, s, rowsAtOnce, 1)
		batch := 0
		write := func(n int) map[string]int64 {
			batch++
			var documents []Document
			var events []Event
			var commands []command.Command
			var messages []library.Message
			for i, id := range ids[:n] {
				documents = append(documents, Document{Robot: id, Kind: schema.TopicState, Body: []byte("{}"),
					ReceivedAt: noon.Add(time.Duration(batch) * time.Second)})
				events = append(events, Event{Robot: id, Boot: "b", Seq: int64(batch), ReceivedAt: noon})
				commands = append(commands, command.Command{ID: fmt.Sprintf("c%d-%d", batch, i), Batch: fmt.Sprint(batch), Robot: id,
					State: command.Queued})
				messages = append(messages, library.Message{Topic: schema.TopicDesiredStory, Target: id})
			}
			counted := map[string]int64{}
			for _, call := range []struct {
				what string
				do   func() error
			}{
				{"documents", func() error { return s.SaveDocuments(t.Context(), documents) }},
				{"events", func() error { return s.AddEvents(t.Context(), events) }},
				{"a batch of commands", func() error {
					return s.Tx(t.Context(), func(tx *Tx) error { return tx.AddBatch(t.Context(), command.Batch{ID: fmt.Sprint(batch)}, commands) })
				}},
				{"labels", func() error {
					labels := map[string]map[string]string{}
					for _, id := range ids[:n] {
						labels[id] = map[string]string{"batch": fmt.Sprint(batch)}
					}
					return s.Tx(t.Context(), func(tx *Tx) error { return tx.SetLabelsOf(t.Context(), labels) })
				}},
				{"new robots", func() error {
					var joining []string
					for i := range n {
						joining = append(joining, fmt.Sprintf("new%d-%d", batch, i))
					}
					return s.Tx(t.Context(), func(tx *Tx) error {
						added, err := tx.AddRobots(t.Context(), joining, noon)
						if len(added) != n {
							t.Errorf("%d of %d robots added", len(added), n)
						}
						return err
					})
				}},
				{"results", func() error { return s.SaveCommands(t.Context(), commands) }},
				{"outbox", func() error {
					return s.Tx(t.Context(), func(tx *Tx) error { return tx.Apply(t.Context(), library.Changes{Outbox: messages}, noon) })
				}},
				{"marks in the outbox", func() error {
					var seqs []int64
					for seq := range int64(n) {
						seqs = append(seqs, seq+1)
					}
					return s.MarkSent(t.Context(), seqs, noon)
				}},
			} {
				counted[call.what], _ = c.of(t, call.do)
			}
			return counted
		}
		few, many := write(10), write(rowsAtOnce)
		most := map[string]int64{
			"outbox":              3, // its numbers, its rows, the robots that they touch
			"new robots":          4, // the robots; the counter of changes, the robots that it touches; their desired documents
			"labels":              4, // those from before, the new ones; the counter of changes, the robots that it touches
			"a batch of commands": 4, // itself, its commands; the head of the audit, an entry there
		}
		bounds := int64(0)
		if s.dialect.shared {
			bounds = 1 // boundLocks
		}
		for what, n := range few {
			if n <= bounds || n-bounds > max(2, most[what]) || n != many[what] {
				t.Errorf("%s: %d statements for 10 rows, %d for %d", what, n, many[what], rowsAtOnce)
			}
		}
	})
}
