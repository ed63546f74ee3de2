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

// conform is the conformance suite of a database. address returns one without a fleet each time.
func conform(t *testing.T, address func(t *testing.T) string) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, address string)
	}{
		{"the fleet id never changes", fleetIDIsStable},
		{"a restart keeps everything", restartKeepsEverything},
		{"an error rolls back", errorRollsBack},
		{"a cancelled context rolls back", cancelledContextRollsBack},
		{"concurrent writers lose nothing", concurrentWriters},
		{"a transaction reads a snapshot", transactionReadsASnapshot},

		{"a robot is added once", robotsAreKnown},
		{"labels are replaced", labelsAreReplaced},
		{"labels of many robots are replaced", labelsOfManyRobotsAreReplaced},
		{"a newer document is not overwritten", newerDocumentIsKept},
		{"a change names the robots that it touched", changesNameRobots},
		{"an event is saved once", eventsAreKeptOnce},
		{"events are selected", eventsAreFound},
		{"a selector selects the same in SQL as in memory", selectorsAgree},

		{"the library is read back", libraryIsReadBack},
		{"a plan reads what it needs", libraryForReadsWhatIsNeeded},
		{"a plan reads whole rows", libraryForReadsWholeRows},
		{"a plan takes any number of robots", libraryForTakesAnyNumberOfRobots},
		{"a plan takes any number of names", libraryForTakesAnyNumberOfNames},
		{"a revision is immutable", revisionsAreImmutable},
		{"an unpublished default story is refused", unpublishedDefaultIsRefused},
		{"a lower desired revision is refused", lowerDesiredRevisionIsRefused},
		{"an overtaken desired document is renumbered", overtakenDesiredDocumentsAreRenumbered},
		{"an older draft is refused", olderDraftIsRefused},
		{"concurrent drafts conflict", concurrentDraftsConflict},
		{"plans are applied", plansAreApplied},
		{"activities are assigned and shortened", activitiesAreAssigned},
		{"concurrent assignments and deletions leave no robot with a deleted act", concurrentAssignAndDelete},

		{"an asset is read back", assetsAreReadBack},
		{"a file is read in parts", filesAreReadInParts},
		{"files of a performed story are published unless they are large", filesOfStoriesAreEnqueued},
		{"unreferenced files are deleted", unreferencedFilesAreRemoved},
		{"files of a set are published and kept with it", filesOfSetsAreKept},
		{"an unused blob is removed from the broker after a day", unusedBlobsAreRemovedFromTheBroker},

		{"stops are latched until they are released", latchedStopsAreReleased},
		{"a plan of stops reads what it needs", stopsForReadsWhatIsNeeded},
		{"stops with unprintable texts are stored", stopsWithUnprintableTextsAreStored},
		{"stops are signed", stopsAreSigned},

		{"the outbox is part of the transaction", outboxIsTransactional},
		{"the outbox keeps its order", outboxKeepsOrder},
		{"all retained documents are listed", desiredDocumentsAreListed},

		{"only one instance leads", onlyOneInstanceLeads},
		{"a dropped lead is lost", droppedLeadIsLost},
		{"changes are counted", changesAreCounted},

		{"a token is read back", tokensAreReadBack},
		{"a token is used once", tokenIsUsedOnce},
		{"a certificate is read back", certificatesAreReadBack},
		{"a revocation covers certificates and tokens", revocationCoversTokensAndCertificates},
		{"fleet/revoked of the broker is imported", fleetRevokedIsImported},
		{"a full fleet/revoked is audited", fullFleetRevokedIsAudited},
		{"fleet/revoked is published with a higher revision", fleetRevokedIsPublished},
		{"an archived robot is in no list and gets its desired documents back", archivedRobotIsAdoptedAgain},

		{"a decommission runs step by step", decommissionRunsStepByStep},
		{"late desired documents are deleted", lateDesiredDocumentsAreDeleted},
		{"a cancelled decommission publishes desired documents again", cancelledDecommissionRepublishes},
		{"a robot under decommission has no desired documents", leavingRobotHasNoDesiredDocuments},
		{"a release is not published for a robot that left the fleet", releaseIsNotPublishedForAnArchivedRobot},
		{"documents of unknown robots are deleted", documentsOfUnknownRobotsAreDeleted},
		{"revoked names are listed", revokedNamesAreListed},

		{"a rollout is read back", rolloutsAreReadBack},
		{"a change of another version of a rollout is a conflict", rolloutOfAnotherVersionIsAConflict},
		{"rollouts are selected", rolloutsAreSelected},
		{"later rollouts of a kind are found", laterRolloutsAreFound},
		{"robots of a rollout are paged", rolloutRobotsArePaged},
		{"pins are replaced and removed", pinsAreReplacedAndRemoved},
		{"policies are read back", policiesAreReadBack},
		{"a policy of another version is a conflict", policyOfAnotherVersionIsAConflict},

		{"a site is read back", sitesAreReadBack},
		{"a map of a site is read back", siteMapsAreReadBack},
		{"a schedule is read back", schedulesAreReadBack},
		{"events of types come in pages", eventsOfTypesComeInPages},
		{"notifications are delivered in order", notificationsAreDeliveredInOrder},
		{"alerts of no robot are acknowledged", alertsOfNoRobotAreAcknowledged},
		{"due schedules are listed", dueSchedulesAreListed},
		{"an instant of a schedule is decided once", instantsAreDecidedOnce},
		{"runs of schedules are selected", scheduleRunsAreSelected},

		{"a command is read back", commandsAreReadBack},
		{"a final command is not overwritten", finalCommandIsNotOverwritten},
		{"commands are selected", commandsAreFound},
		{"batches of sites are selected", batchesOfSitesAreFound},
		{"a command has an owner", commandsHaveAnOwner},
		{"a batch is atomic", batchIsAtomic},
		{"many rows in one call are read back", manyRowsAreReadBack},
		{"one bad row fails its batch", badRowFailsItsBatch},
		{"the newest document of a batch is saved", newestDocumentOfABatchIsKept},
		{"the audit log keeps its entries", auditKeepsNotes},
		{"the audit log is a chain", auditIsAChain},
		{"several instances write one chain", auditIsOneChainForAll},
		{"a pruned chain holds", prunedChainHolds},

		{"measurements are read back", measurementsAreReadBack},
		{"measurements of many robots are folded", measurementsOfManyRobotsAreFolded},
		{"a decommission deletes measurements", decommissionDeletesMeasurements},
		{"old measurements are pruned in steps", oldMeasurementsArePruned},

		{"old audit entries are pruned in steps", oldAuditIsPruned},
		{"old events are pruned in steps", oldEventsArePruned},
		{"old batches without open commands are pruned", oldBatchesArePruned},
		{"a large batch is pruned", largeBatchesArePruned},
		{"a rollout that a policy names is not pruned", rolloutsOfPoliciesAreKept},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, address(t))
		})
	}
}

// at is storetest.Start plus some seconds.
func at(seconds int) time.Time { return storetest.Start.Add(time.Duration(seconds) * time.Second) }

// transact runs a transaction that must succeed.
func transact(t testing.TB, s *store.Store, what func(tx *store.Tx) error) {
	t.Helper()
	if err := s.Tx(t.Context(), what); err != nil {
		t.Fatal(err)
	}
}

// robots adds robots.
func robots(t testing.TB, s *store.Store, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if _, err := s.AddRobot(t.Context(), id, storetest.Start); err != nil {
			t.Fatal(err)
		}
	}
}

// withBodies reads the bodies of blobs that Unsent leaves out.
func withBodies(t testing.TB, s *store.Store, all []store.Outgoing) []store.Outgoing {
	t.Helper()
	for i, o := range all {
		if o.PayloadInBlob {
			all[i].Payload, all[i].PayloadInBlob = must[[]byte](t)(s.Blob(t.Context(), o.Target)), false
		}
	}
	return all
}

// must returns the result of a call that must succeed.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func wantEqual(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: got %v, want %v", what, err, want)
	}
}

func fleetIDIsStable(t *testing.T, address string) {
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

func restartKeepsEverything(t *testing.T, address string) {
	s := storetest.Open(t, address)
	fill(t, s)
	before := dump(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = storetest.Open(t, address)
	wantEqual(t, "after a restart", dump(t, s), before)
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
}

var errOfOurs = errors.New("of ours")

func errorRollsBack(t *testing.T, address string) {
	s := storetest.Open(t, address)
	fill(t, s)
	before := dump(t, s)
	err := s.Tx(t.Context(), func(tx *store.Tx) error {
		change(t, tx)
		return errOfOurs
	})
	wantErr(t, "the transaction", err, errOfOurs)
	wantEqual(t, "after the error", dump(t, s), before)
	func() {
		defer func() { _ = recover() }()
		_ = s.Tx(t.Context(), func(tx *store.Tx) error {
			change(t, tx)
			panic("of ours")
		})
	}()
	wantEqual(t, "after the panic", dump(t, s), before)
	transact(t, s, func(tx *store.Tx) error { change(t, tx); return nil })
	if reflect.DeepEqual(dump(t, s), before) {
		t.Fatal("the change has no effect, so this test proves nothing")
	}
}

func cancelledContextRollsBack(t *testing.T, address string) {
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
		t.Fatal("a transaction with a cancelled context was committed")
	}
	wantEqual(t, "after the context was cancelled", dump(t, s), before)
}
