package accounts

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"troupe/fleetd/auth"
	"troupe/schema/argon2id"
	"troupe/schema/bubble"
)

const password, address = "a password of anna", "192.0.2.1"

// withAnna is a keeper that knows anna, at a time that stands.
func withAnna() *Keeper {
	var log strings.Builder
	k := newKeeper("", &log)
	now := time.Now()
	k.Now = func() time.Time { return now }
	k.install(auth.Accounts{Users: []auth.User{{Name: "anna", Password: argon2id.HashPassword(password, newSalt()).String()}}}, nil)
	return k
}

// try compares a password of anna that comes from an address.
func try(t *testing.T, k *Keeper, password, address string) error {
	_, ok, err := k.check(t.Context(), "anna", password, address, false)
	if err == nil && !ok {
		return ErrCredentials
	}
	return err
}

func TestWrongPasswordsInParallelAreLimited(t *testing.T) {
	k := withAnna()
	for range wrongBurst / 2 {
		if err := try(t, k, "wrong", address); !errors.Is(err, ErrCredentials) {
			t.Fatalf("a wrong password: %v", err)
		}
	}
	for range wrongBurst + 1 { // right ones do not count
		if err := try(t, k, password, address); err != nil {
			t.Fatalf("the right password after few wrong ones: %v", err)
		}
	}
	var tried atomic.Int32
	var all sync.WaitGroup
	for range 2 * wrongBurst {
		all.Go(func() {
			if err := try(t, k, "wrong", address); errors.Is(err, ErrCredentials) {
				tried.Add(1)
			}
		})
	}
	all.Wait()
	if n := tried.Load(); n != wrongBurst-wrongBurst/2 {
		t.Errorf("%d wrong passwords of one address were tried after %d others; the limit is %d", n, wrongBurst/2, wrongBurst)
	}
	if err := try(t, k, password, address); !errors.Is(err, ErrTooOften) {
		t.Errorf("after too many wrong passwords: %v", err)
	}
	if err := try(t, k, password, "192.0.2.2"); err != nil {
		t.Errorf("from another address: %v", err)
	}
	if err := k.CheckPassword(t.Context(), "anna", password); err != nil {
		t.Errorf("anna, who is signed in, gives her own password: %v", err)
	}
}

func TestGuessesOfAnAddressDoNotKeepOutABrowserThatWasSeen(t *testing.T) {
	k := withAnna()
	anna, _ := k.User("anna")
	seen := k.newSeenCookie(anna).Value
	for range wrongBurst {
		if err := try(t, k, "wrong", address); !errors.Is(err, ErrCredentials) {
			t.Fatal(err)
		}
	}
	signIn := func(user, password, cookie string) error {
		guesser := Attempt{User: user, Password: password, Address: address, Seen: cookie}
		_, _, err := k.SignIn(t.Context(), guesser)
		return err
	}
	changed := anna
	changed.Password = argon2id.HashPassword("another password", newSalt()).String()
	for what, cookie := range map[string]string{
		"no cookie": "", "rubbish": "x.y.z", "a forged one": seen[:len(seen)-2] + "AA",
		"one from before the password was changed": k.newSeenCookie(changed).Value,
		"one of another user":                      k.newSeenCookie(auth.User{Name: "ben", Password: anna.Password}).Value,
	} {
		if err := signIn("anna", "wrong", cookie); !errors.Is(err, ErrTooOften) {
			t.Errorf("with %s: %v", what, err)
		}
	}
	for range wrongBurst { // such a browser has a limit of its own
		if err := signIn("anna", "wrong", seen); !errors.Is(err, ErrCredentials) {
			t.Errorf("a wrong password in a browser that was seen: %v", err)
		}
	}
	if err := signIn("anna", "wrong", seen); !errors.Is(err, ErrTooOften) {
		t.Errorf("a browser that was seen guesses for ever: %v", err)
	}
	if err := signIn("ben", "wrong", k.newSeenCookie(anna).Value); !errors.Is(err, ErrTooOften) {
		t.Errorf("with anna's cookie somebody guesses ben's password: %v", err)
	}
}

func TestPasswordsOfStrangersLeaveAPlaceForOthers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		k := New(Deps{Now: time.Now})
		release, err := k.startStrangersHash(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		waiting, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range maxStrangers {
			all.Go(func() { _, _ = k.startStrangersHash(waiting) })
		}
		synctest.Wait()
		if _, err := k.startStrangersHash(t.Context()); !errors.Is(err, ErrCrowded) {
			t.Errorf("one stranger too many: %v", err)
		}
		done, err := k.startHash(t.Context())
		if err != nil {
			t.Fatalf("somebody who was seen before: %v", err)
		}
		done()
		cancel()
		release()
		all.Wait()
	})
}

func TestFewPasswordsOfOneAddressWait(t *testing.T) {
	l, now := newLimiter(), time.Now()
	for n := range maxWaiting + 1 {
		want := error(nil)
		if n == maxWaiting {
			want = ErrCrowded
		}
		if _, _, err := l.wait(address, now); !errors.Is(err, want) {
			t.Errorf("password %d: %v", n+1, err)
		}
	}
	if _, _, err := l.wait("192.0.2.2", now); err != nil {
		t.Errorf("from another address: %v", err)
	}
}
