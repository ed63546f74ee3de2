package link

import (
	"slices"
	"strconv"
	"time"
)

// rounds decides which address an attempt dials. A round tries each address once, without a wait in between: that one broker is
// lost says nothing about the next. Owned by Link.run.
type rounds struct {
	cfg    *Config
	order  []int // indexes of the addresses in the order of this round
	at     int   // how many of them were tried
	number int   // of the round since the last session that was up, from 0
	began  time.Time
	lasted bool // the last session that was up did not end soon after its begin, or there was none yet
	skip   bool // the next attempt needs no wait, though it begins a round
}

// try is what an attempt needs to know of its place in the rounds.
type try struct {
	address   int // index: 0 is Config.URL
	round     int // number since the last session that was up, from 0
	addresses int // how many there are
}

func newRounds(cfg *Config) *rounds {
	r := &rounds{cfg: cfg, order: []int{0}, lasted: true}
	for i := 1; i < len(cfg.addresses); i++ {
		r.order = append(r.order, i)
	}
	return r
}

// next begins an attempt.
func (r *rounds) next() try {
	if r.at == len(r.order) { // the round is over
		r.at = 0
		r.number++
	}
	if r.at == 0 {
		r.began = time.Now()
	}
	r.skip = false
	r.at++
	return try{address: r.order[r.at-1], round: r.number, addresses: len(r.order)}
}

// lost begins the rounds after a session at an address was up. lasted says that it did not end soon after its begin, as one does
// that the broker ends again and again.
func (r *rounds) lost(address int, wantNext, lasted bool) {
	slices.Sort(r.order)
	r.at, r.number, r.began, r.lasted = 0, 0, time.Now(), lasted
	switch cluster := engines[r.cfg.Engine].cluster; {
	case wantNext: // those after the address, then those before it, then itself
		r.order = slices.Concat(r.order[address+1:], r.order[:address+1])
	case cluster && len(r.order) > 1: // its node is lost, or busy
		r.order = append(slices.DeleteFunc(r.order, func(i int) bool { return i == address }), address)
		r.skip = lasted
	}
}

// atOnce reports whether the next attempt needs no wait.
func (r *rounds) atOnce() bool { return r.skip || r.at > 0 && r.at < len(r.order) }

// spent is how much of the wait after a round is over: at a cluster an attempt that waited for an answer in vain was a wait, too.
func (r *rounds) spent() time.Duration {
	if len(r.order) == 1 || !engines[r.cfg.Engine].cluster {
		return 0
	}
	return time.Since(r.began)
}

// fastRounds is how many rounds after a session at a cluster do not take longer one by one. With two nodes left they take eight
// to ten seconds, in which nodes of NATS have elected a leader as a rule.
const fastRounds = 4

// fast reports whether this round is one of those. None is after a session that the nodes end again and again.
func (r *rounds) fast() bool {
	return len(r.order) > 1 && engines[r.cfg.Engine].cluster && r.lasted && r.number < fastRounds
}

// within bounds the wait for the connection and its CONNACK. A node of a cluster does not answer while the nodes have no leader
// for sessions, and then does not answer this CONNECT later either; so the first rounds ask the next node soon. Later rounds wait
// longer: nodes to which a whole fleet connects may need that time.
func (t try) within(cfg *Config) time.Duration {
	if t.addresses == 1 || !engines[cfg.Engine].cluster {
		return cfg.ConnectTimeout
	}
	return min(cfg.ConnectTimeout, cfg.ConnectTimeout/5<<min(3, max(0, t.round+1-fastRounds)))
}

// clientID is the id for the attempt. A node of a cluster refuses an id as long as an earlier CONNECT with it waits for
// the leader, also if its client is gone. So each further round takes another one.
func (t try) clientID(cfg *Config) string {
	if t.addresses == 1 || !engines[cfg.Engine].cluster || t.round == 0 {
		return cfg.ClientID
	}
	return cfg.ClientID + engines[cfg.Engine].separator + strconv.Itoa(t.round+1)
}
