package store_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
)

// conform holds a database to what fleetd relies on; address names an empty database
// each time. A database that passes can carry a fleet.
func conform(t *testing.T, address func(t *testing.T) string) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, address string)
	}{
		{"the fleet id is made once and kept", fleetIDIsKept},
		{"a restart finds everything", restartFindsEverything},
		{"an error leaves nothing behind", errorLeavesNothing},
		{"a lost caller leaves nothing behind", lostCallerLeavesNothing},
		{"writers at once lose nothing", writersAtOnce},
		{"a reader in a transaction sees one moment", oneMoment},

		{"a robot is known from its first word", robotsAreKnown},
		{"labels are replaced", labelsAreReplaced},
		{"the newest document counts", newestDocumentCounts},
		{"an event is kept once", eventsAreKeptOnce},
		{"events are found", eventsAreFound},
		{"a selector means the same in SQL as in memory", selectorsAgree},

		{"the library comes back as it was written", libraryComesBack},
		{"a plan sees what is current and what is performed", planSeesEnough},
		{"a plan gets what it needs", plansGetWhatTheyNeed},
		{"a revision is never changed", revisionsAreImmutable},
		{"a default story was published", defaultsWerePublished},
		{"a desired state only rises", desiredRevisionsRise},
		{"a desired state that was overtaken is told above it", overtakenDesiredDocumentsAreRenumbered},
		{"a draft is not overwritten by an older one", draftsRise},
		{"two authors at once: one of them is told", twoAuthors},
		{"plans are carried out", plansAreCarriedOut},
		{"assigners and deleters at once leave no robot with a deleted act", assignersAndDeleters},

		{"an asset comes back as it was written", assetsComeBack},
		{"a file is read in parts", filesAreReadInParts},
		{"the files of a performed story are told, the large ones not", filesOfStoriesAreTold},
		{"bytes that nothing leads to are forgotten", unneededFilesAreForgotten},
		{"the files of a set are told and kept with it", filesOfSetsAreKept},
		{"the broker forgets a blob a day after the last desired state that needed it", blobsAreCountedOverDesiredDocuments},

		{"stops are held until they are released", stopsAreHeldAndReleased},
		{"stops are held whatever they say", stopsAreHeldWhateverTheySay},
		{"stops are signed", stopsAreSigned},

		{"the outbox is part of the transaction", outboxIsTransactional},
		{"the outbox keeps its order", outboxKeepsOrder},
		{"the broker can be filled anew", brokerIsFilledAnew},

		{"one leads at a time", oneLeadsAtATime},
		{"who dies leads no more", whoDiesLeadsNoMore},
		{"every instance learns of changes", changesAreNews},

		{"a token comes back as it was written", tokensComeBack},
		{"a token is used once", tokensAreUsedOnce},
		{"a certificate comes back as it was written", certificatesComeBack},
		{"a revocation takes everything that opens a door", revocationTakesAll},
		{"a list that brokers know is taken in", listIsTakenIn},
		{"a list of the revoked that is full is told", fullListIsNoted},
		{"the list of the revoked rises and is told", revokedAreTold},
		{"a robot that left is in no list, and comes back with its desired documents", robotsLeaveAndComeBack},

		{"a decommission goes step by step", decommissionIsSteps},
		{"a desired state that comes late is emptied too", lateDesiredDocumentsAreEmptiedToo},
		{"who comes back before he was out has his desired documents again", cancelledDecommissionsTellAgain},
		{"a robot on its way out is desired nothing", leavingRobotsHaveNothingDesired},
		{"a unknown client's documents are emptied", unknownRobotsAreEmptied},
		{"who is barred is known", barredAreKnown},

		{"a command comes back as it was written", commandsComeBack},
		{"a final command stays as it is", finalCommandsStay},
		{"commands are found", commandsAreFound},
		{"a command has an owner", commandsHaveAnOwner},
		{"a batch is whole or not there", batchesAreWhole},
		{"many rows in one call come back as they were written", largeBatchesComeBack},
		{"one bad row among many is an error", badRowsAreErrors},
		{"the newest of several documents of one kind counts", newestOfABatchCounts},
		{"the audit tells who did what", auditTells},

		{"old notes of the audit are pruned a few at a time", oldAuditIsPruned},
		{"old events are pruned a few at a time", oldEventsArePruned},
		{"old batches are pruned whole, unless a command is open", oldBatchesArePruned},
		{"a large batch is pruned", largeBatchesArePruned},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, address(t)) })
	}
}

// at is the time so many seconds after storetest.Start.
func at(seconds int) time.Time { return storetest.Start.Add(time.Duration(seconds) * time.Second) }

// do runs a transaction that must pass.
func do(t testing.TB, s *store.Store, what func(tx *store.Tx) error) {
	t.Helper()
	if err := s.Tx(t.Context(), what); err != nil {
		t.Fatal(err)
	}
}

// robots makes robots known.
func robots(t testing.TB, s *store.Store, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if _, err := s.AddRobot(t.Context(), id, storetest.Start); err != nil {
			t.Fatal(err)
		}
	}
}

// must returns what a question is answered with.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func is(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: got %v, want %v", what, err, want)
	}
}

func fleetIDIsKept(t *testing.T, address string) {
	s := storetest.Open(t, address)
	first := s.FleetID()
	if len(first) != 36 {
		t.Fatalf("the fleet id is %q", first)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if again := storetest.Open(t, address).FleetID(); again != first {
		t.Fatalf("fleet id %s after a restart, %s before", again, first)
	}
}

func restartFindsEverything(t *testing.T, address string) {
	s := storetest.Open(t, address)
	fill(t, s)
	before := dump(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = storetest.Open(t, address)
	same(t, "after a restart", dump(t, s), before)
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
}

var errOfOurs = errors.New("of ours")

func errorLeavesNothing(t *testing.T, address string) {
	s := storetest.Open(t, address)
	fill(t, s)
	before := dump(t, s)
	err := s.Tx(t.Context(), func(tx *store.Tx) error {
		change(t, tx)
		return errOfOurs
	})
	is(t, "the transaction", err, errOfOurs)
	same(t, "after the error", dump(t, s), before)
	func() {
		defer func() { _ = recover() }()
		_ = s.Tx(t.Context(), func(tx *store.Tx) error {
			change(t, tx)
			panic("of ours")
		})
	}()
	same(t, "after the panic", dump(t, s), before)
	do(t, s, func(tx *store.Tx) error { change(t, tx); return nil })
	if reflect.DeepEqual(dump(t, s), before) {
		t.Fatal("the change changes nothing: this test shows nothing")
	}
}

func lostCallerLeavesNothing(t *testing.T, address string) {
	s := storetest.Open(t, address)
	fill(t, s)
	before := dump(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Tx(ctx, func(tx *store.Tx) error {
		change(t, tx)
		cancel()
		return nil
	})
	if err == nil {
		t.Fatal("a transaction whose caller is gone passed")
	}
	same(t, "after the caller was lost", dump(t, s), before)
}
