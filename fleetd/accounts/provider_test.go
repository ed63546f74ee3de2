package accounts

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/fleetd/auth"
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
