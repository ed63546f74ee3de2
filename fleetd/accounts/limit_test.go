package accounts

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"troupe/fleetd/auth"
	"troupe/schema/argon2id"
)

func TestWrongPasswordsInParallelAreLimited(t *testing.T) {
	const password, address = "a password of anna", "192.0.2.1"
	var log strings.Builder
	k := newKeeper("", &log)
	now := time.Now()
	k.Now = func() time.Time { return now }
	k.install(auth.Accounts{Users: []auth.User{{Name: "anna", Password: argon2id.HashPassword(password, newSalt()).String()}}}, nil)
	for range wrongBurst / 2 {
		if err := k.CheckPassword(t.Context(), "anna", "wrong", address); !errors.Is(err, ErrCredentials) {
			t.Fatalf("a wrong password: %v", err)
		}
	}
	for range wrongBurst + 1 { // right ones do not count
		if err := k.CheckPassword(t.Context(), "anna", password, address); err != nil {
			t.Fatalf("the right password after few wrong ones: %v", err)
		}
	}
	var tried atomic.Int32
	var all sync.WaitGroup
	for range 2 * wrongBurst {
		all.Go(func() {
			if _, _, err := k.SignIn(t.Context(), "anna", "wrong", address, ""); errors.Is(err, ErrCredentials) {
				tried.Add(1)
			}
		})
	}
	all.Wait()
	if n := tried.Load(); n != wrongBurst-wrongBurst/2 {
		t.Errorf("%d wrong passwords of one address were tried after %d others; the limit is %d", n, wrongBurst/2, wrongBurst)
	}
	if err := k.CheckPassword(t.Context(), "anna", password, address); !errors.Is(err, ErrTooOften) {
		t.Errorf("after too many wrong passwords: %v", err)
	}
	if err := k.CheckPassword(t.Context(), "anna", password, "192.0.2.2"); err != nil {
		t.Errorf("from another address: %v", err)
	}
}
