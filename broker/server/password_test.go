package server

import (
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/access"
)

func TestAFloodOfLoginsIsPutOffAndLeavesOthersAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPasswords()
		p.most, p.each = 4, 3
		for range cap(p.slots) {
			p.slots <- struct{}{} // all are at work for ever
		}
		hash := access.HashPassword("x", [access.SaltBytes]byte{})
		flood, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
		put := make(chan bool, 10)
		try := func(from netip.Addr) {
			go func() {
				_, busy := p.fits(from, hash, []byte("x"))
				put <- busy
			}()
			synctest.Wait()
		}
		began := time.Now()
		for range 3 {
			try(flood)
		}
		if len(put) != 0 {
			t.Fatal("somebody was put off while there was room")
		}
		try(flood)
		if len(put) != 1 || !<-put {
			t.Fatal("a fourth of one address waits")
		}
		try(other)
		if len(put) != 0 {
			t.Fatal("another address finds no place")
		}
		try(netip.MustParseAddr("192.0.2.3"))
		if len(put) != 1 || !<-put {
			t.Fatal("more wait than there are places")
		}
		<-p.slots // one is done
		synctest.Wait()
		if time.Since(began) > 0 {
			t.Fatalf("%v have passed", time.Since(began))
		}
		for range 4 {
			<-put
		}
		if took := time.Since(began); took > p.patience {
			t.Errorf("somebody waited %v", took)
		}
		if p.waiting != 0 || len(p.from) != 0 {
			t.Errorf("%d wait, from %v", p.waiting, p.from)
		}
	})
}

func TestALoginThatWaitsTooLongIsPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPasswords()
		for range cap(p.slots) {
			p.slots <- struct{}{}
		}
		began := time.Now()
		if _, busy := p.fits(netip.Addr{}, access.HashPassword("x", [access.SaltBytes]byte{}), nil); !busy || time.Since(began) != p.patience {
			t.Errorf("put off %v after %v", busy, time.Since(began))
		}
	})
}

// How long a refusal takes must not tell which names exist: a hash is computed
// for either.
func TestANameThatDoesNotExistCostsAsMuchAsOneThatDoes(t *testing.T) {
	k := &keeper{}
	k.now.Store(&credentials{})
	var n counters
	g := &guard{creds: k, hashing: newPasswords(), counters: &n}
	for range cap(g.hashing.slots) {
		g.hashing.slots <- struct{}{} // whoever computes now has to wait
	}
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	g.hashing.patience = 10 * time.Millisecond
	if no := g.byPassword(&conn{raw: ours}, "nobody", []byte("x"), &client{}); no == nil || no.Fault != access.FaultBusy {
		t.Errorf("refused without a hash: %+v", no)
	}
	for range cap(g.hashing.slots) {
		<-g.hashing.slots
	}
	if no := g.byPassword(&conn{raw: ours}, "nobody", nil, &client{}); no == nil || no.Fault != access.FaultLogin {
		t.Errorf("nobody, with the password that the hash is of: %+v", no)
	}
}
