package link_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
)

// nodes are brokers by their URLs, each with what a client meets there.
type nodes struct {
	dial brokertest.Dialer // of the broker behind all of them

	mu     sync.Mutex
	lost   map[string]bool // refuses connections
	silent map[string]bool // takes the CONNECT, and does not answer
	began  time.Time
	dials  []string // of what was dialled, with the time since began
	ids    []string // client ids of the CONNECTs that were not answered
	conns  map[string][]net.Conn
}

func (n *nodes) connect(ctx context.Context, url string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	name := strings.TrimPrefix(url, "mqtt://")
	n.dials = append(n.dials, fmt.Sprintf("%s %.1f", name, time.Since(n.began).Seconds()))
	switch {
	case n.lost[name]:
		return nil, errors.New("connection refused")
	case n.silent[name]:
		here, there := net.Pipe()
		go func() {
			packet := make([]byte, 1024)
			for {
				if _, err := there.Read(packet); err != nil {
					return
				}
				n.mu.Lock()
				n.ids = append(n.ids, string(packet[14:14+int(packet[13])])) // after the headers of a CONNECT below 128 bytes
				n.mu.Unlock()
			}
		}()
		return here, nil
	}
	c, err := n.dial(ctx)
	if err == nil {
		n.conns[name] = append(n.conns[name], c)
	}
	return c, err
}

// lose ends the connections of a node, and refuses further ones.
func (n *nodes) lose(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lost[name] = true
	n.began, n.dials = time.Now(), nil
	for _, c := range n.conns[name] {
		c.Close()
	}
}

func (n *nodes) change(do func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	do()
}

func (n *nodes) dialled() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.dials)
}

// atNodes runs f with a link of engine that has been up at the first of three nodes for a minute. At a cluster its name puts n2
// first, before n1 and n3.
func atNodes(t *testing.T, engine link.Engine, first string, returns bool, f func(t *testing.T, n *nodes, l *link.Link, u *userLog)) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		n := &nodes{dial: b.Dial, lost: map[string]bool{}, silent: map[string]bool{}, conns: map[string][]net.Conn{}, began: time.Now()}
		u := &userLog{}
		cfg := robotConfig(nil, u)
		cfg.URL, cfg.FallbackURLs, cfg.Engine = "mqtt://n1", []string{"mqtt://n2", "mqtt://n3"}, engine
		cfg.ReturnToFirst = returns
		// NATS admits a robot with any client id, the broker behind these nodes does not.
		cfg.Name, cfg.ClientID, cfg.Will, cfg.Presence, cfg.Subscribe = "op3", "op3", nil, nil, nil
		l := open(t, link.WithNetwork(cfg, n.connect))
		time.Sleep(time.Minute)
		synctest.Wait()
		if l.URL() != "mqtt://"+first {
			t.Fatalf("the link is at %q", l.URL())
		}
		f(t, n, l, u)
	})
}

func TestLinkGoesToAnotherNodeOfAClusterAtOnce(t *testing.T) {
	atNodes(t, link.NATS, "n2", false, func(t *testing.T, n *nodes, l *link.Link, _ *userLog) {
		n.lose("n2")
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if l.URL() != "mqtt://n1" {
			t.Fatalf("the link is at %q; it dialled %v", l.URL(), n.dialled())
		}
		// The first address is preferred again, and the lost one comes last.
		time.Sleep(time.Minute)
		n.change(func() { n.lost["n2"] = false })
		n.lose("n1")
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if l.URL() != "mqtt://n2" {
			t.Fatalf("the link is at %q; it dialled %v", l.URL(), n.dialled())
		}
	})
}

func TestLinkReturnsToItsFirstNodeIfItIsTo(t *testing.T) {
	for _, returns := range []bool{true, false} {
		atNodes(t, link.NATS, "n2", returns, func(t *testing.T, n *nodes, l *link.Link, _ *userLog) {
			n.lose("n2")
			time.Sleep(time.Minute)
			synctest.Wait()
			if l.URL() != "mqtt://n1" {
				t.Fatalf("the link is at %q; it dialled %v", l.URL(), n.dialled())
			}
			n.change(func() { n.lost["n2"] = false })
			time.Sleep(31 * time.Second)
			synctest.Wait()
			if back := l.URL() == "mqtt://n2"; back != returns {
				t.Errorf("to return: %v, and the link is at %q; it dialled %v", returns, l.URL(), n.dialled())
			}
		})
	}
}

// A client with two connections is to have them at two nodes, also after one is lost.
func TestSecondConnectionIsAtAnotherNode(t *testing.T) {
	atNodes(t, link.NATS, "n2", false, func(t *testing.T, n *nodes, own *link.Link, _ *userLog) {
		second := open(t, link.WithNetwork(link.Config{URL: "mqtt://n1", FallbackURLs: []string{"mqtt://n2", "mqtt://n3"}, Engine: link.NATS,
			Name: "op3", Suffix: "stop", LastFirst: true}, n.connect))
		time.Sleep(time.Minute)
		synctest.Wait()
		if second.URL() != "mqtt://n3" {
			t.Fatalf("it is at %q; it dialled %v", second.URL(), n.dialled())
		}
		n.lose("n2")
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if own.URL() != "mqtt://n1" || second.URL() != "mqtt://n3" {
			t.Errorf("the connections are at %q and %q", own.URL(), second.URL())
		}
	})
}

// A first node that takes connections and answers nothing costs the session at another node ever less often.
func TestLinkReturnsToASilentNodeLessAndLessOften(t *testing.T) {
	atNodes(t, link.NATS, "n2", true, func(t *testing.T, n *nodes, l *link.Link, u *userLog) {
		n.lose("n2")
		n.change(func() { n.lost["n2"], n.silent["n2"] = false, true })
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		ups := 0
		for _, s := range u.history() {
			if s.Phase == link.Up {
				ups++
			}
		}
		// At n2, at n1, and after returns at the end of 30 s, and then of 1, 2, 4, 8 and 8 minutes more.
		if ups != 2+6 || l.URL() != "mqtt://n1" {
			t.Errorf("%d sessions in half an hour, the last at %q; the link dialled %v", ups, l.URL(), n.dialled())
		}
		n.change(func() { n.silent = map[string]bool{} })
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if l.URL() != "mqtt://n2" {
			t.Fatalf("the link is at %q; it dialled %v", l.URL(), n.dialled())
		}
		n.lose("n2")
		n.change(func() { n.lost["n2"] = false })
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if l.URL() != "mqtt://n2" {
			t.Errorf("31 s after the next loss the link is at %q; it dialled %v", l.URL(), n.dialled())
		}
	})
}

// Nodes that elect a leader answer no CONNECT, and one that they took before they never.
func TestLinkIsUpSoonAfterNodesAnswerAgain(t *testing.T) {
	atNodes(t, link.NATS, "n2", false, func(t *testing.T, n *nodes, l *link.Link, _ *userLog) {
		n.change(func() { n.silent["n1"], n.silent["n3"] = true, true })
		n.lose("n2")
		time.Sleep(6500 * time.Millisecond)
		n.change(func() { n.silent = map[string]bool{} })
		time.Sleep(1600 * time.Millisecond) // an attempt in vain, and the wait after a round
		synctest.Wait()
		if l.Session() == "" {
			t.Fatalf("the link is not up 1.6 s after the nodes answer; it dialled %v", n.dialled())
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if got, want := fmt.Sprint(n.ids[:4]), "[op3 op3 op3_2 op3_2]"; got != want { // a node refuses an id that waits there
			t.Errorf("the client ids are %s, want %s", got, want)
		}
	})
}

func TestLinkWaitsLongerForNodesThatStaySilent(t *testing.T) {
	atNodes(t, link.NATS, "n2", false, func(t *testing.T, n *nodes, _ *link.Link, u *userLog) {
		n.change(func() { n.silent["n1"], n.silent["n3"] = true, true })
		n.lose("n2")
		time.Sleep(2 * time.Minute)
		n.change(func() { n.dials, n.began = nil, time.Now() })
		time.Sleep(time.Minute)
		if got := len(n.dialled()); got < 12 || got > 24 { // rounds of 3, each of 10 to 15 s
			t.Errorf("%d attempts in a minute: %v", got, n.dialled())
		}
		// Clients that a node disconnected together do not stay together.
		waits := map[time.Duration]int{}
		for _, s := range u.history() {
			if s.Phase == link.Down && s.Wait > 0 {
				waits[s.Wait]++
			}
		}
		if rounds := strings.Count(fmt.Sprint(n.dialled()), "n1"); len(waits) < rounds {
			t.Errorf("the waits of %d rounds are %v", rounds, waits)
		}
	})
}

// Nodes may admit a client and throw it out at once, such as one that sends what they do not accept.
func TestLinkWaitsLongerForNodesThatEndItsSessions(t *testing.T) {
	atNodes(t, link.NATS, "n2", false, func(t *testing.T, n *nodes, l *link.Link, u *userLog) {
		for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(10 * time.Millisecond) {
			if synctest.Wait(); l.Session() == "" {
				continue
			}
			for _, name := range []string{"n1", "n2", "n3"} {
				n.lose(name)
			}
			n.change(func() { n.lost = map[string]bool{} })
		}
		var waits []time.Duration
		for _, s := range u.history() {
			if s.Phase == link.Down {
				waits = append(waits, s.Wait)
			}
		}
		if late := waits[len(waits)-3:]; slices.Min(late) < 3*time.Second {
			t.Errorf("the link waits %v", waits)
		}
	})
}

// The first broker is preferred, as it may be back in a moment, and the pause doubles once for all brokers.
func TestLinkWaitsOncePerRoundOfBrokers(t *testing.T) {
	atNodes(t, link.Troupe, "n1", false, func(t *testing.T, n *nodes, _ *link.Link, u *userLog) {
		n.change(func() { n.lost["n2"], n.lost["n3"] = true, true })
		n.lose("n1")
		time.Sleep(time.Minute)
		synctest.Wait()
		var waits []time.Duration
		for _, s := range u.history() {
			if s.Phase == link.Down {
				waits = append(waits, s.Wait)
			}
		}
		for i, w := range waits {
			longest := 15 * time.Second
			switch i {
			case 0:
				longest = 1500 * time.Millisecond // after the session
			case 3:
				longest = 3 * time.Second
			case 6:
				longest = 6 * time.Second
			}
			if inRound := i%3 != 0; inRound && w != 0 || !inRound && (w < 500*time.Millisecond || w > longest) {
				t.Errorf("wait %d is %v; all are %v", i, w, waits)
			}
		}
		for i, d := range n.dialled() {
			if want := fmt.Sprintf("n%d ", i%3+1); !strings.HasPrefix(d, want) {
				t.Errorf("attempt %d is at %s, want %s", i, d, want)
			}
		}
	})
}
