package server

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/access"
	"troupe/schema/argon2id"
	"troupe/schema/bubble"
)

func hostAddr(n byte) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, n}) }

func newClaimant(a netip.Addr, name string) claimant {
	return claimant{claim: claim{a, name}, gone: func() bool { return false }}
}

// slowPasswords returns passwords with one hash at a time, each of which takes 40 ms; "right" is
// right.
func slowPasswords(hashes *[]string) *passwords {
	p := newPasswords()
	p.freeHashes = 1
	p.verify = func(_ argon2id.Hash, password []byte) bool {
		time.Sleep(40 * time.Millisecond)
		if hashes != nil {
			*hashes = append(*hashes, string(password))
		}
		return string(password) == "right"
	}
	return p
}

// A client with the right password is admitted soon, whatever addresses unknown clients
// try theirs from.
func TestRightPasswordIsCheckedSoonDuringFlood(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, hash, over := slowPasswords(nil), dummyHash, make(chan struct{})
		for a := byte(1); a <= 8; a++ {
			for i := range 40 {
				go func() { // retries for ever under changing names
					for n := 0; ; n++ {
						select {
						case <-over:
							return
						case <-time.After(100 * time.Millisecond):
							p.check(newClaimant(hostAddr(a), fmt.Sprintf("x%d-%d", i, n%100)), nil, nil)
						}
					}
				}()
			}
		}
		time.Sleep(10 * time.Second)
		button := newClaimant(hostAddr(1), "btn")
		button.stop = true
		for what, c := range map[string]struct {
			who  claimant
			most time.Duration
		}{
			"from an address of its own":                 {newClaimant(hostAddr(9), "op1"), 120 * time.Millisecond},
			"a button, from an unknown client's address": {button, 120 * time.Millisecond},
			"in-process": {newClaimant(netip.Addr{}, "fleetd"), 120 * time.Millisecond},
		} {
			began := time.Now()
			if a := p.check(c.who, &hash, []byte("right")); a != isRight || time.Since(began) > c.most {
				t.Errorf("%s: %v after %v", what, a, time.Since(began))
			}
		}
		close(over)
		p.close()
		time.Sleep(p.timeout)
		if synctest.Wait(); p.freeHashes != 1 || len(p.stop.waiting)+len(p.other.waiting) > 0 {
			t.Errorf("at the end %d hashes are free, %d and %d clients wait", p.freeHashes, len(p.stop.waiting), len(p.other.waiting))
		}
	})
}

func TestRightPasswordAtFloodingAddressIsCheckedSoon(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, hash := slowPasswords(nil), dummyHash
		for range 200 {
			go p.check(newClaimant(hostAddr(1), "op9"), &hash, []byte("wrong"))
		}
		synctest.Wait()
		began := time.Now()
		if a := p.check(newClaimant(hostAddr(1), "op1"), &hash, []byte("right")); a != isRight || time.Since(began) > 120*time.Millisecond {
			t.Errorf("%v after %v", a, time.Since(began))
		}
		p.close()
		time.Sleep(p.timeout)
	})
}

// Clients with the name of a button cannot keep operators out either.
func TestStopClientsAlternateWithOthers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var order []string
		p, hash := slowPasswords(&order), dummyHash
		go p.check(newClaimant(hostAddr(1), "op1"), &hash, []byte("first"))
		synctest.Wait()
		for i := range 3 {
			go p.check(newClaimant(hostAddr(2+byte(i)), "op2"), &hash, fmt.Append(nil, "op", i))
			synctest.Wait()
		}
		for i := range 3 {
			button := newClaimant(hostAddr(9), "btn")
			button.stop = true
			go p.check(button, &hash, fmt.Append(nil, "btn", i))
			synctest.Wait()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got, want := strings.Join(order, " "), "first btn0 op0 btn1 op1 btn2 op2"; got != want {
			t.Errorf("order %s, want %s", got, want)
		}
	})
}

func TestPasswordCheckTimesOut(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPasswords()
		p.freeHashes = 0
		began := time.Now()
		if a := p.check(newClaimant(netip.Addr{}, "op1"), &dummyHash, nil); a != isBusy || time.Since(began) != p.timeout {
			t.Errorf("%v after %v", a, time.Since(began))
		}
		if len(p.other.waiting) != 0 {
			t.Error("the client still waits")
		}
	})
}

func TestNoHashForClosedConnection(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var hashes []string
		p, hash := slowPasswords(&hashes), dummyHash
		for i := range 4 {
			who := newClaimant(hostAddr(byte(i)), "op1")
			who.gone = func() bool { return i == 1 || i == 2 }
			go p.check(who, &hash, fmt.Append(nil, i))
			synctest.Wait()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !slices.Equal(hashes, []string{"0", "3"}) {
			t.Errorf("hashes for %v", hashes)
		}
	})
}

func TestHungUpDetectsClosedPeer(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	theirs, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ours, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	if _, err := theirs.Write([]byte("unread")); err != nil || hungUp(ours) {
		t.Fatalf("reported as closed while it is open; %v", err)
	}
	theirs.Close()
	for end := time.After(30 * time.Second); !hungUp(ours); {
		select {
		case <-end:
			t.Fatal("not reported as closed")
		case <-time.After(time.Millisecond):
		}
	}
}

func TestProvenPasswordNeedsNoHash(t *testing.T) {
	hash := argon2id.HashPassword("right", [argon2id.SaltBytes]byte{1})
	other := argon2id.HashPassword("right", [argon2id.SaltBytes]byte{2})
	p := newPasswords()
	op1 := newClaimant(hostAddr(1), "op1")
	if a := p.check(op1, &hash, []byte("right")); a != isRight {
		t.Fatal(a)
	}
	p.freeHashes, p.timeout = 0, 0 // a client that needs a hash gets isBusy
	for _, c := range []struct {
		what     string
		who      claimant
		hash     argon2id.Hash
		password string
		want     answer
	}{
		{"the same", op1, hash, "right", isRight},
		{"another password", op1, hash, "wrong", isBusy},
		{"another address", newClaimant(hostAddr(2), "op1"), hash, "right", isBusy},
		{"another name", newClaimant(hostAddr(1), "op2"), hash, "right", isBusy},
		{"another line", op1, other, "right", isBusy},
	} {
		if a := p.check(c.who, &c.hash, []byte(c.password)); a != c.want {
			t.Errorf("%s: %v, want %v", c.what, a, c.want)
		}
	}
	users := func(text string) access.Users {
		u, err := access.ParseUsers(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	p.forgetChanged(users("op1 operator " + hash.String() + "\nop2 operator " + other.String()))
	if a := p.check(op1, &hash, []byte("right")); a != isRight {
		t.Error("forgotten although the line is unchanged")
	}
	if p.forgetChanged(users("op1 operator " + other.String())); len(p.proven.of) != 0 {
		t.Error("remembered although the line has changed")
	}
}

// The time of a refusal must not show which names exist: a hash is computed either way.
func TestUnknownNameCostsAHashToo(t *testing.T) {
	k := &fileWatcher{}
	k.current.Store(&credentials{})
	var n counters
	g := &guard{creds: k, passwords: newPasswords(), counters: &n}
	g.passwords.freeHashes, g.passwords.timeout = 0, 10*time.Millisecond // a client that needs a hash gets isBusy
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	if no := g.byPassword(&conn{raw: ours}, "no-such-user", []byte("x"), &client{}); no == nil || no.Code != access.CodeBusy {
		t.Errorf("refused without a hash: %+v", no)
	}
	g.passwords.freeHashes = 1
	if no := g.byPassword(&conn{raw: ours}, "no-such-user", nil, &client{}); no == nil || no.Code != access.CodeLogin {
		t.Errorf("unknown name with the password of the dummy hash: %+v", no)
	}
	if n := g.passwords.wrong.of[claim{name: "no-such-user"}].wrong; n != 1 {
		t.Errorf("%d wrong passwords counted for an unknown name: the delay would show that it does not exist", n)
	}
}
