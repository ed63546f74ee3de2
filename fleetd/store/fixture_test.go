package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/command"
	"troupe/fleetd/decommission"
	"troupe/fleetd/enrol"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// revision is a published revision with its own bytes.
func revision(kind library.Kind, id string, rev int64) library.Revision {
	body := fmt.Appendf(nil, "%s %s %d \x00\xff", kind, id, rev) // arbitrary bytes
	sum := sha256.Sum256(body)
	return library.Revision{Kind: kind, ID: id, Rev: rev, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(body)), Body: body,
		CreatedAt: at(int(rev)), CreatedBy: "anna", Why: "because of „it“"}
}

func entry(kind library.Kind, id string, rev int64) library.Entry {
	return library.Entry{
		Kind: kind, ID: id, Draft: []byte("draft: ü\n"), DraftRev: 1, DraftSHA256: "d", Rev: rev, ChangedAt: at(1), ChangedBy: "anna",
		Problems: []schema.Problem{{Pointer: "/a~1b", Severity: schema.SeverityWarning, Code: "c", Detail: "d", Hint: "h"}},
	}
}

func desiredStory(robot string, desired int64, story string, rev int64) library.Default {
	return library.Default{Robot: robot, DesiredRev: desired, Story: story, Rev: rev, Apply: schema.ApplyNextAct,
		Document: fmt.Appendf(nil, `{"rev":%d}`, desired), ChangedAt: at(2), ChangedBy: "anna"}
}

// published is the story s1 with revisions up to rev.
func published(rev int64) library.Changes {
	c := library.Changes{Entries: []library.Entry{entry(library.KindStory, "s1", rev)}}
	for r := int64(1); r <= rev; r++ {
		c.Revisions = append(c.Revisions, revision(library.KindStory, "s1", r))
	}
	return c
}

func apply(t testing.TB, s *store.Store, c library.Changes) {
	t.Helper()
	transact(t, s, func(tx *store.Tx) error { return tx.Apply(t.Context(), c, at(3)) })
}

// fill adds rows to every table.
func fill(t testing.TB, s *store.Store) {
	t.Helper()
	robots(t, s, "r1", "r2", "r3")
	c := published(2)
	c.Defaults = []library.Default{desiredStory("r1", 1, "s1", 1), desiredStory("r2", 4, "", 0)}
	c.Defaults[1].Apply = ""
	c.Outbox = []library.Message{{Topic: schema.TopicBlob, Target: c.Revisions[0].SHA256},
		{Topic: schema.TopicDesiredStory, Target: "r1", Payload: []byte(`{"rev":1}`)}}
	c.Notes = []library.Note{{Who: "anna", What: "assign", Target: "s1", Detail: "r1"}}
	c.Files = []library.File{file("gong", small)}
	c.Assets = []library.Asset{asset("gong", c.Files[0], 2)}
	apply(t, s, c)
	transact(t, s, func(tx *store.Tx) error {
		if err := tx.SetLabels(t.Context(), "r1", map[string]string{"site": "museum"}); err != nil {
			return err
		}
		b, commands := batch("b1", "r1", "r2")
		return tx.AddBatch(t.Context(), b, commands)
	})
	addTokens(t, s, token("d1", "r1", 7))
	addCertificates(t, s, certificate("a1", "r1", 8))
	if err := s.SaveDocuments(t.Context(),
		[]store.Document{{Robot: "r1", Kind: schema.TopicState, Body: []byte(`{"a":1}`), ReceivedAt: at(5)}}); err != nil {
		t.Fatal(err)
	}
	if err := s.AddEvents(t.Context(),
		[]store.Event{{Robot: "r1", Boot: "b", Seq: 1, Type: "mode_changed", Body: []byte(`{}`), ReceivedAt: at(6)}}); err != nil {
		t.Fatal(err)
	}
}

// change makes a change of every kind.
func change(t testing.TB, tx *store.Tx) {
	c := library.Changes{
		Entries:   []library.Entry{entry(library.KindStory, "s1", 3), entry(library.KindAct, "a1", 0)},
		Revisions: []library.Revision{revision(library.KindStory, "s1", 3)},
		Defaults:  []library.Default{desiredStory("r1", 2, "s1", 3), desiredStory("r3", 1, "s1", 1)},
		Outbox:    []library.Message{{Topic: schema.TopicDesiredStory, Target: "r1", Payload: []byte(`{"rev":2}`)}},
		Notes:     []library.Note{{Who: "anna", What: "assign", Target: "s1", Detail: "r1 r3"}},
	}
	c.Files = []library.File{file("bell", large)}
	c.Assets = []library.Asset{asset("bell", c.Files[0], 9)}
	c.Removed = []string{"gong"}
	if err := tx.Apply(t.Context(), c, at(9)); err != nil {
		t.Error(err)
	}
	if err := tx.SetLabels(t.Context(), "r2", map[string]string{"site": "shop"}); err != nil {
		t.Error(err)
	}
	if err := tx.AddToken(t.Context(), token("d2", "r1", 9)); err != nil {
		t.Error(err)
	}
	if err := tx.Revoke(t.Context(), enrol.Revoke([]enrol.Certificate{certificate("a1", "r1", 8)}, "r1", "anna", "", at(9))); err != nil {
		t.Error(err)
	}
	if err := tx.BeginDecommission(t.Context(), "r2", "anna", "", at(9)); err != nil {
		t.Error(err)
	}
	b, commands := batch("b2", "r3")
	if err := tx.AddBatch(t.Context(), b, commands); err != nil {
		t.Error(err)
	}
}

func batch(id string, robots ...string) (command.Batch, []command.Command) {
	b := command.Batch{ID: id, Verb: "mode/set", Args: map[string]any{"mode": "ato"}, Selector: "--all", Total: len(robots), CreatedAt: at(4),
		By: "anna", Source: audit.Source{Principal: "local"}, Why: "opening"}
	var commands []command.Command
	for _, robot := range robots {
		commands = append(commands, command.Command{
			ID: id + "-" + robot, Batch: id, Owner: "fleetd-a", Robot: robot, Verb: b.Verb, Payload: []byte(`{"id":"x"}`), CreatedAt: at(4),
			ExpiresAt: at(34),
			State:     command.Queued, Because: "made",
		})
	}
	return b, commands
}

// everything is the results of all queries.
type everything struct {
	Robots    []store.Robot
	Documents []store.Document
	Events    []store.Event
	Acts      []library.Entry
	Stories   []library.Entry
	Revisions []library.Revision
	Defaults  []library.Default
	Unsent    []store.Outgoing
	Desired   []store.Outgoing
	Batches   []command.Batch
	Commands  []command.Command
	Audit     []audit.Entry
	Assets    []library.Asset

	Tokens        []enrol.Token
	Certificates  []enrol.Certificate
	RevokedNames  []enrol.RevokedName
	Decommissions []decommission.Decommission
}

func dump(t testing.TB, s *store.Store) everything {
	t.Helper()
	ctx := t.Context()
	return everything{
		Robots:    must[[]store.Robot](t)(s.Robots(ctx, selector.All())),
		Documents: must[[]store.Document](t)(s.Documents(ctx, "")),
		Events:    must[[]store.Event](t)(s.Events(ctx, store.EventQuery{})),
		Acts:      must[[]library.Entry](t)(s.Entries(ctx, library.KindAct, true)),
		Stories:   must[[]library.Entry](t)(s.Entries(ctx, library.KindStory, true)),
		Revisions: must[[]library.Revision](t)(s.Revisions(ctx, library.KindStory, "s1")),
		Defaults:  defaults(t, s),
		Unsent:    must[[]store.Outgoing](t)(s.Unsent(ctx, 0, 0)),
		Desired:   must[[]store.Outgoing](t)(s.RetainedDocuments(ctx)),
		Batches:   must[[]command.Batch](t)(s.Batches(ctx, store.BatchQuery{})),
		Commands:  must[[]command.Command](t)(s.Commands(ctx, store.CommandQuery{})),
		Audit:     must[[]audit.Entry](t)(s.Audit(ctx, store.AuditQuery{})),
		Assets:    must[[]library.Asset](t)(s.Assets(ctx)),

		Tokens:        must[[]enrol.Token](t)(s.Tokens(ctx, "r1")),
		Certificates:  must[[]enrol.Certificate](t)(s.Certificates(ctx, "r1")),
		RevokedNames:  must[[]enrol.RevokedName](t)(s.RevokedNames(ctx)),
		Decommissions: must[[]decommission.Decommission](t)(s.Decommissions(ctx, true)),
	}
}

// defaults lists the newest desired story of each robot.
func defaults(t testing.TB, s *store.Store) (all []library.Default) {
	t.Helper()
	transact(t, s, func(tx *store.Tx) error {
		rows, err := tx.LibraryFor(t.Context(), readStories, selector.All())
		all = rows.Defaults
		return err
	})
	return all
}

// seconds is the inverse of at.
func seconds(t time.Time) int { return int(t.Sub(storetest.Start).Seconds()) }
