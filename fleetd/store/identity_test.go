package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/enrol"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

func token(digest, robot string, second int) enrol.Token {
	return enrol.Token{Digest: digest, Robot: robot, Serial: "B-7 „x“", CreatedAt: at(second), CreatedBy: "anna", ExpiresAt: at(second + 3600)}
}

func certificate(serial, robot string, second int) enrol.Certificate {
	return enrol.Certificate{Serial: serial, Robot: robot, How: enrol.ByToken, PEM: "-----BEGIN " + serial, IssuedAt: at(second),
		NotBefore: at(second - 3600), NotAfter: at(second + 7776000)}
}

func addTokens(t testing.TB, s *store.Store, tokens ...enrol.Token) {
	t.Helper()
	for _, one := range tokens {
		transact(t, s, func(tx *store.Tx) error { return tx.AddToken(t.Context(), one) })
	}
}

func addCertificates(t testing.TB, s *store.Store, all ...enrol.Certificate) {
	t.Helper()
	transact(t, s, func(tx *store.Tx) error {
		for _, c := range all {
			if err := tx.AddCertificate(t.Context(), c); err != nil {
				return err
			}
		}
		return nil
	})
}

func tokensAreReadBack(t *testing.T, address string) {
	s := storetest.Open(t, address)
	first, second, other := token("d1", "r7", 1), token("d2", "r7", 5), token("d3", "r8", 2)
	other.Labels = map[string]string{"site": "lobby"}
	addTokens(t, s, first, other, second)
	first.ExpiresAt = at(5) // the second token replaced it
	wantEqual(t, "the tokens of r7", must[[]enrol.Token](t)(s.Tokens(t.Context(), "r7")), []enrol.Token{second, first})
	wantEqual(t, "another robot's", must[enrol.Token](t)(s.Token(t.Context(), "d3")), other)
	_, err := s.Token(t.Context(), "d9")
	wantErr(t, "an unknown token", err, store.ErrNotFound)
	wantErr(t, "the same digest again", s.Tx(t.Context(), func(tx *store.Tx) error { return tx.AddToken(t.Context(), first) }),
		store.ErrConflict)
}

// Of several concurrent uses of one token, one succeeds.
func tokenIsUsedOnce(t *testing.T, address string) {
	s := storetest.Open(t, address)
	addTokens(t, s, token("d1", "r7", 1))
	const askers = 6
	results := make(chan error, askers)
	for i := range askers {
		go func() {
			for {
				err := s.Tx(t.Context(), func(tx *store.Tx) error {
					return tx.UseToken(t.Context(), "d1", fmt.Sprintf("key%d", i), fmt.Sprintf("c%d", i), at(2))
				})
				if errors.Is(err, store.ErrBusy) {
					continue
				}
				results <- err
				return
			}
		}()
	}
	used := 0
	for range askers {
		if err := <-results; err == nil {
			used++
		} else {
			wantErr(t, "too late", err, store.ErrConflict)
		}
	}
	if used != 1 {
		t.Errorf("the token was used %d times", used)
	}
	if got := must[enrol.Token](t)(s.Token(t.Context(), "d1")); !got.UsedAt.Equal(at(2)) || got.Key == "" || got.Certificate == "" {
		t.Errorf("%+v", got)
	}
}

func certificatesAreReadBack(t *testing.T, address string) {
	s := storetest.Open(t, address)
	old, newer := certificate("a1", "r7", 1), certificate("a2", "r7", 9)
	newer.How = enrol.ByRenewal
	addCertificates(t, s, old, certificate("b1", "r8", 3), newer)
	wantEqual(t, "the certificates of r7", must[[]enrol.Certificate](t)(s.Certificates(t.Context(), "r7")), []enrol.Certificate{newer, old})
	wantErr(t, "the same serial number again", s.Tx(t.Context(), func(tx *store.Tx) error { return tx.AddCertificate(t.Context(), old) }),
		store.ErrConflict)
}

func revoke(t testing.TB, s *store.Store, robot string, now time.Time) {
	t.Helper()
	transact(t, s, func(tx *store.Tx) error {
		held, err := tx.Certificates(t.Context(), robot)
		if err != nil {
			return err
		}
		if err := tx.Revoke(t.Context(), enrol.Revoke(held, robot, "anna", "stolen", now)); err != nil {
			return err
		}
		return tx.EnqueueRevocation(t.Context(), s.FleetID(), now)
	})
}

func fleetRevokedIsImported(t *testing.T, address string) {
	s := storetest.Open(t, address)
	addCertificates(t, s, certificate("a1", "r7", 1), certificate("a2", "r8", 2))
	revoke(t, s, "r7", at(10))
	transact(t, s, func(tx *store.Tx) error {
		if err := tx.ImportRevocation(t.Context(),
			schema.Revoked{Rev: 30, Names: []string{"r7", "r9"}, Serials: []string{"a1", "a2", "c3", "no serial"}}, at(20)); err != nil {
			return err
		}
		return tx.EnqueueRevocation(t.Context(), s.FleetID(), at(20))
	})
	rev, payload, err := s.Revocation(t.Context())
	if err != nil || rev != 31 {
		t.Errorf("revision %d, %v", rev, err)
	}
	list, problems := schema.Decode[schema.Revoked](payload)
	if len(problems) > 0 || list.Rev != 31 {
		t.Errorf("%+v, %v", list, problems)
	}
	wantEqual(t, "names", list.Names, []string{"r7", "r9"})
	wantEqual(t, "certificates", list.Serials, []string{"a1", "a2", "c3"})
	if b := must[[]enrol.RevokedName](t)(s.RevokedNames(t.Context())); !b[0].At.Equal(at(10)) || b[0].By != "anna" {
		t.Errorf("a robot whose name was revoked before has a new date: %+v", b)
	}
}

func fullFleetRevokedIsAudited(t *testing.T, address string) {
	s := storetest.Open(t, address)
	var names []string
	for n := range 5000 {
		names = append(names, fmt.Sprintf("r%062d", n))
	}
	transact(t, s, func(tx *store.Tx) error {
		if err := tx.ImportRevocation(t.Context(), schema.Revoked{Rev: 30, Names: names}, at(20)); err != nil {
			return err
		}
		return tx.EnqueueRevocation(t.Context(), s.FleetID(), at(20))
	})
	if notes := must[[]audit.Entry](t)(s.Audit(t.Context(), store.AuditQuery{})); len(notes) != 1 || notes[0].What != "revoke" ||
		!strings.Contains(notes[0].Detail, "full") {
		t.Errorf("audit entries %+v", notes)
	}
}

func revocationCoversTokensAndCertificates(t *testing.T, address string) {
	s := storetest.Open(t, address)
	addCertificates(t, s, certificate("a1", "r7", 1), certificate("a2", "r7", 2), certificate("b1", "r8", 3))
	addTokens(t, s, token("d1", "r7", 4), token("d2", "r8", 4))
	revoke(t, s, "r7", at(10))
	revoke(t, s, "r7", at(20)) // the dates of the first revocation stay
	for _, c := range must[[]enrol.Certificate](t)(s.Certificates(t.Context(), "r7")) {
		if !c.RevokedAt.Equal(at(10)) || c.RevokedBy != "anna" || c.RevokedWhy != "stolen" {
			t.Errorf("%+v", c)
		}
	}
	if c := must[[]enrol.Certificate](t)(s.Certificates(t.Context(), "r8"))[0]; !c.RevokedAt.IsZero() {
		t.Errorf("another robot's certificate is revoked: %+v", c)
	}
	if one := must[enrol.Token](t)(s.Token(t.Context(), "d1")); one.ExpiresAt.After(at(10)) {
		t.Error("its unused token is still valid")
	}
	if one := must[enrol.Token](t)(s.Token(t.Context(), "d2")); !one.ExpiresAt.After(at(10)) {
		t.Error("another robot's token has expired")
	}
	wantEqual(t, "the revoked names", must[[]enrol.RevokedName](t)(s.RevokedNames(t.Context())),
		[]enrol.RevokedName{{Robot: "r7", At: at(10), By: "anna", Why: "stolen"}})
	if n := len(must[[]enrol.Certificate](t)(s.Revoked(t.Context(), at(10)))); n != 2 {
		t.Errorf("%d revoked certificates, want 2", n)
	}
	if n := len(must[[]enrol.Certificate](t)(s.Revoked(t.Context(), at(9000000)))); n != 0 {
		t.Errorf("%d expired certificates are listed as revoked", n)
	}
	transact(t, s, func(tx *store.Tx) error {
		for _, want := range []bool{true, false} {
			if was, err := tx.RestoreName(t.Context(), "r7"); err != nil || was != want {
				t.Errorf("restored: %v, %v", was, err)
			}
		}
		return nil
	})
}

func fleetRevokedIsPublished(t *testing.T, address string) {
	s := storetest.Open(t, address)
	if rev, payload, err := s.Revocation(t.Context()); rev != 0 || payload != nil || err != nil {
		t.Fatalf("a new fleet has fleet/revoked %d %s %v", rev, payload, err)
	}
	addCertificates(t, s, certificate("a1", "r7", 1))
	revoke(t, s, "r7", at(10))
	revoke(t, s, "r8", at(11)) // has no certificate
	rev, payload, err := s.Revocation(t.Context())
	if err != nil || rev != 2 {
		t.Fatalf("list %d, %v", rev, err)
	}
	list, problems := schema.Decode[schema.Revoked](payload)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	wantEqual(t, "the list", list, schema.Revoked{Rev: 2, FleetID: s.FleetID(), Names: []string{"r7", "r8"}, Serials: []string{"a1"},
		TS: schema.TimeOf(at(11))})
	unsent := must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0))
	if len(unsent) != 2 || unsent[1].Topic != schema.TopicRevoked || unsent[1].Target != "" || string(unsent[1].Payload) != string(payload) {
		t.Errorf("the outbox holds %+v", unsent)
	}
	wantEqual(t, "what a new broker receives first", must[[]store.Outgoing](t)(s.RetainedDocuments(t.Context()))[0],
		store.Outgoing{Topic: schema.TopicRevoked, Payload: payload})
}

func archivedRobotIsAdoptedAgain(t *testing.T, address string) {
	s := storetest.Open(t, address)
	fill(t, s)
	desired := func() (n int) {
		for _, o := range must[[]store.Outgoing](t)(s.RetainedDocuments(t.Context())) {
			if o.Target == "r1" {
				n++
			}
		}
		return n
	}
	if desired() != 1 {
		t.Fatal("r1 has no desired document before, so this test proves nothing")
	}
	archive(t, s, "r1", at(50))
	_, err := s.Robot(t.Context(), "r1")
	wantErr(t, "a robot that left", err, store.ErrNotFound)
	if n := len(must[[]store.Robot](t)(s.Robots(t.Context(), selector.All()))); n != 2 {
		t.Errorf("%d robots are left, want 2", n)
	}
	if n := len(must[[]store.Document](t)(s.Documents(t.Context(), "r1"))); n != 0 {
		t.Errorf("%d of its documents are still listed", n)
	}
	if n := len(must[[]store.Event](t)(s.Events(t.Context(), store.EventQuery{Robot: "r1"}))); n != 1 {
		t.Error("its events are gone")
	}
	if desired() != 0 {
		t.Error("it still has desired documents")
	}
	sent := len(must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0)))
	if added := must[bool](t)(s.AddRobot(t.Context(), "r1", at(60))); !added {
		t.Error("it was not added again")
	}
	r := must[store.Robot](t)(s.Robot(t.Context(), "r1"))
	if r.DesiredRev < 1 || !r.FirstSeen.Equal(storetest.Start) {
		t.Errorf("it was added as a new robot: %+v", r)
	}
	if desired() != 1 {
		t.Error("its desired documents are not listed for a new broker")
	}
	if n := len(must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0))); n != sent+1 {
		t.Errorf("%d desired documents were enqueued when it was added again", n-sent)
	}
	// Its desired revision continues from before, since the robot remembers it.
	apply(t, s, library.Changes{Defaults: []library.Default{desiredStory("r1", r.DesiredRev+1, "s1", 1)}})
}
