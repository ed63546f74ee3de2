package server

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"troupe/schema/argon2id"
	"troupe/schema/bubble"
)

func TestWrongPasswordsAreDelayedAndRightOnesAreNot(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, hash := slowPasswords(nil), dummyHash
		const toHash = 40 * time.Millisecond
		op1 := newClaimant(hostAddr(1), "op1")
		check := func(who claimant, password string, want answer, after time.Duration) {
			t.Helper()
			began := time.Now()
			if a := p.check(who, &hash, []byte(password)); a != want || time.Since(began) != after {
				t.Fatalf("%s of %s: %v after %v, want %v after %v", password, who.name, a, time.Since(began), want, after)
			}
		}
		for range freeGuesses {
			check(op1, "wrong", isWrong, toHash)
		}
		for _, pause := range []time.Duration{1, 2, 4, 4, 4} {
			check(op1, "wrong", isWrong, toHash+pause*time.Second)
			check(newClaimant(hostAddr(2), "op1"), "wrong", isWrong, toHash) // the same name at another address
			p.wrong.forget(claim{hostAddr(2), "op1"})
		}
		go p.check(op1, &hash, []byte("wrong")) // the guesser goes on
		time.Sleep(time.Second)
		check(op1, "right", isRight, toHash)
		check(newClaimant(hostAddr(1), "op2"), "wrong", isWrong, toHash)
		if !p.wrong.isSuspect(time.Now(), hostAddr(1)) || p.wrong.isSuspect(time.Now(), hostAddr(3)) {
			t.Error("the wrong address is suspect")
		}
		time.Sleep(forgiveAfter)
		if p.wrong.isSuspect(time.Now(), hostAddr(1)) {
			t.Error("the address is still suspect")
		}
	})
}

func TestDelayedAnswersAreBoundedAndEndAtClose(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, hash := newPasswords(), dummyHash
		p.verify = func(argon2id.Hash, []byte) bool { return false }
		p.freeHashes = 1 << 20
		for a := byte(1); a <= 10; a++ {
			for range 2 * maxDelayedPerAddress {
				go p.check(newClaimant(hostAddr(a), "op1"), &hash, nil)
			}
			synctest.Wait()
			if n := p.delayed.of[hostAddr(a)]; n > maxDelayedPerAddress || p.delayed.all > maxDelayed || a == 1 && n != maxDelayedPerAddress {
				t.Fatalf("%d answers to address %d are delayed, %d altogether", n, a, p.delayed.all)
			}
		}
		if p.delayed.all != maxDelayed {
			t.Errorf("%d answers are delayed, want %d", p.delayed.all, maxDelayed)
		}
		began := time.Now()
		p.close()
		synctest.Wait()
		if time.Since(began) != 0 || p.delayed.all != 0 || len(p.delayed.of) != 0 {
			t.Errorf("%d answers are still delayed", p.delayed.all)
		}
	})
}

func TestGuessesAndProvenAreBounded(t *testing.T) {
	var g guesses
	now := time.Time{}.Add(time.Hour)
	for i := range 3 * maxGuesses {
		g.add(now, claim{hostAddr(byte(i)), fmt.Sprint("x", i)})
	}
	if len(g.of) > maxGuesses {
		t.Errorf("%d claims", len(g.of))
	}
	p := newProven()
	for i := range maxProven + 100 {
		p.add(claim{hostAddr(1), fmt.Sprint("x", i)}, dummyHash, nil)
	}
	if len(p.of) > maxProven {
		t.Errorf("%d proofs", len(p.of))
	}
}
