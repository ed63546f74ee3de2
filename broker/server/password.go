package server

import (
	"net/netip"
	"runtime"
	"sync"
	"time"

	"troupe/broker/access"
)

// passwords computes hashes, a few at once: each takes some 20 ms and up to 128
// MiB, and a flood of strangers must cost neither the memory nor the processors
// that carry stops. Who would wait too long is told to come again, and those of
// one address cannot take all places.
type passwords struct {
	slots    chan struct{}
	most     int // that wait
	each     int // of them, from one address
	patience time.Duration

	mu      sync.Mutex
	waiting int
	from    map[netip.Addr]int
}

func newPasswords() *passwords {
	return &passwords{
		slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
		most:  128, each: 32, patience: 5 * time.Second, from: map[netip.Addr]int{},
	}
}

// fits says whether the password is that of the hash, or that there was no time
// to find out.
func (p *passwords) fits(from netip.Addr, h access.Hash, password []byte) (fits, busy bool) {
	if !p.queue(from) {
		return false, true
	}
	defer p.leave(from)
	late := time.NewTimer(p.patience)
	defer late.Stop()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
		return h.Verify(password), false
	case <-late.C:
		return false, true
	}
}

// queue takes a place; in-process connections have no address and only the
// common bound.
func (p *passwords) queue(from netip.Addr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting >= p.most || from.IsValid() && p.from[from] >= p.each {
		return false
	}
	p.waiting++
	p.from[from]++
	return true
}

func (p *passwords) leave(from netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting--
	if p.from[from]--; p.from[from] == 0 {
		delete(p.from, from)
	}
}
