package accounts

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/provider"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
)

// A change of the accounts during a sign-in neither signs in somebody else nor panics.
func TestPersonOfTheProviderIsFoundWhileUsersChange(t *testing.T) {
	var log strings.Builder
	k := newKeeper("", &log)
	person := auth.User{Name: "z", Subject: "issuer z"}
	few, many := auth.Accounts{Users: []auth.User{person}}, auth.Accounts{Users: []auth.User{person}}
	for i := range 300 {
		many.Users = append(many.Users, auth.User{Name: fmt.Sprintf("a%d", i), Subject: fmt.Sprintf("issuer a%d", i)})
	}
	k.install(few, nil)
	ended := make(chan struct{})
	var changing sync.WaitGroup
	changing.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
				k.install(many, nil)
				k.install(few, nil)
			}
		}
	})
	defer changing.Wait()
	defer close(ended)
	for until := time.Now().Add(300 * time.Millisecond); time.Now().Before(until); {
		if u, known := k.bySubject(person.Subject); !known || u.Name != person.Name {
			t.Fatalf("found %q, %v", u.Name, known)
		}
	}
}

func TestPersonIsToldThatTheAccountsWereNotRead(t *testing.T) {
	var log strings.Builder
	k := newKeeper("", &log)
	k.Provider = &provider.Provider{}
	db, opened := storetest.Open(t, storetest.SQLite(t)), 0
	k.Changes = &change.Accounts{Deps: change.Deps{Now: time.Now, Store: func() (*store.Store, error) {
		if opened++; opened > 1 {
			return nil, errors.New("the database is away")
		}
		return db, nil
	}}}
	anna := provider.Person{Subject: "issuer anna", Name: "anna", Roles: []auth.Role{auth.Viewer}}
	if _, err := k.admit(t.Context(), anna); !errors.Is(err, errNotRead) {
		t.Errorf("the user is added and not read again: %v", err)
	}
	k.Changes.Store = func() (*store.Store, error) { return db, nil }
	if err := k.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if u, err := k.admit(t.Context(), anna); err != nil || u.Name != "anna" {
		t.Errorf("the next attempt: %q, %v", u.Name, err)
	}
}
