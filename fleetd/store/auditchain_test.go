package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
)

// noted adds n entries in transactions of their own.
func noted(t *testing.T, s *store.Store, from, n int) {
	t.Helper()
	for i := range n {
		transact(t, s, func(tx *store.Tx) error {
			return tx.Note(t.Context(), at(from+i), audit.Note{Who: "anna", What: "label", Target: fmt.Sprintf("robot r%d", from+i)})
		})
	}
}

func verdict(t *testing.T, s *store.Store) audit.Verdict {
	t.Helper()
	return must[audit.Verdict](t)(s.VerifyAudit(t.Context(), audit.Head{}))
}

func auditIsAChain(t *testing.T, address string) {
	s := storetest.Open(t, address)
	wantEqual(t, "an empty chain", verdict(t, s), audit.Verdict{Holds: true})
	noted(t, s, 1, 5)
	failed := errors.New("no")
	err := s.Tx(t.Context(), func(tx *store.Tx) error {
		if err := tx.Note(t.Context(), at(6), audit.Note{What: "nothing"}); err != nil {
			return err
		}
		return failed
	})
	wantErr(t, "a transaction that is rolled back", err, failed)
	noted(t, s, 7, 1)
	v := verdict(t, s)
	if !v.Holds || v.Rows != 6 || v.First != 1 || v.Head.Seq != 6 {
		t.Errorf("the chain: %+v", v)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = storetest.Open(t, address)
	noted(t, s, 8, 1)
	if next := must[audit.Verdict](t)(s.VerifyAudit(t.Context(), v.Head)); !next.Holds || next.Rows != 7 {
		t.Errorf("after a restart: %+v", next)
	}
	if next := must[audit.Verdict](t)(s.VerifyAudit(t.Context(), audit.Head{Seq: 9, Hash: v.Head.Hash})); next.Holds || next.Broken.Seq != 9 {
		t.Errorf("a noted head that is missing: %+v", next)
	}
}

// Several instances with one database link their entries into one chain, while a transaction
// that takes long goes on.
func auditIsOneChainForAll(t *testing.T, address string) {
	const writers, rounds = 6, 15
	stores := []*store.Store{storetest.Open(t, address)}
	if !stores[0].SingleInstance() {
		stores = append(stores, storetest.Open(t, address), storetest.Open(t, address))
	}
	begun, over := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	tries := 0
	if !stores[0].SingleInstance() { // SQLite has one writer at a time
		all.Go(func() {
			if err := stores[0].Tx(context.Background(), func(tx *store.Tx) error {
				if tries++; tries == 1 {
					if _, err := tx.Robots(context.Background(), selector.All()); err != nil { // takes the snapshot
						return err
					}
					close(begun)
				}
				<-over
				return tx.Note(context.Background(), at(0), audit.Note{What: "slow"})
			}); err != nil {
				t.Errorf("the slow transaction: %v", err)
			}
		})
		<-begun
	}
	var fast sync.WaitGroup
	for w := range writers {
		fast.Go(func() {
			for i := range rounds {
				if err := stores[w%len(stores)].Tx(context.Background(), func(tx *store.Tx) error {
					return tx.Note(context.Background(), at(i), audit.Note{What: "label", Target: fmt.Sprint(w)},
						audit.Note{What: "more", Target: fmt.Sprint(w)})
				}); err != nil {
					t.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	fast.Wait()
	close(over)
	all.Wait()
	if tries > 1 {
		t.Errorf("the slow transaction ran %d times: short ones made it conflict", tries)
	}
	want := int64(writers * rounds * 2)
	if !stores[0].SingleInstance() {
		want++
	}
	if v := verdict(t, stores[0]); !v.Holds || v.Rows != want {
		t.Errorf("the chain: %+v, want %d rows", v, want)
	}
}

func prunedChainHolds(t *testing.T, address string) {
	s := storetest.Open(t, address)
	noted(t, s, 1, 9)
	for _, then := range []int{4, 4, 7} { // the second time there is nothing to prune
		if _, err := s.PruneAudit(t.Context(), at(20), at(then), 100); err != nil {
			t.Fatal(err)
		}
		if v := verdict(t, s); !v.Holds || v.Pruned != int64(then-1) || v.First != int64(then) {
			t.Errorf("pruned before second %d: %+v", then, v)
		}
	}
	// Everything is old: the newest entry stays, and nothing is pruned for ever.
	pruned(t, func(ctx context.Context, then time.Time, limit int) (int64, error) {
		return s.PruneAudit(ctx, at(100), then, limit)
	}, at(99), 100)
	if v := verdict(t, s); !v.Holds || v.Rows == 0 || v.Rows > 3 {
		t.Errorf("all old: %+v", v)
	}
}

// Entries go when they are pruned, and when they move into the chain; nothing else changes one.
func TestAuditIsOnlyAppendedTo(t *testing.T) {
	files := must[[]string](t)(filepath.Glob("*.go"))
	var found []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text := must[[]byte](t)(os.ReadFile(name))
		for _, s := range regexp.MustCompile("(?i)(?:UPDATE|DELETE FROM|TRUNCATE) audit\\b[^`\"]*").FindAllString(string(text), -1) {
			found = append(found, name+": "+s)
		}
	}
	want := []string{
		"auditchain.go: DELETE FROM audit WHERE seq > 0 AND seq <= $1",
		"auditchain.go: DELETE FROM audit WHERE seq = 0 AND id IN (SELECT id FROM given)",
	}
	if !slices.Equal(found, want) {
		t.Errorf("the store changes entries of the audit by\n%s\nwant\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}
