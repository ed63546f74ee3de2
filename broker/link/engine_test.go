package link

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/deploy/natstest"
)

func TestClientIDAndQoSFitTheEngine(t *testing.T) {
	for engine, want := range map[Engine]struct {
		id  string
		qos byte // of subscriptions, and of commands and live stops
	}{Troupe: {"r1.blob", 1}, Mosquitto: {"r1.blob", 1}, NATS: {"r1_blob", 0}} {
		e, err := ParseEngine(string(engine))
		if err != nil || e.ClientID("r1", "blob") != want.id || e.ClientID("r1", "") != "r1" ||
			e.SubscribeQoS(1) != want.qos || e.liveQoS(1) != want.qos {
			t.Errorf("%s: %s, subscriptions at QoS %d, live stops at %d, %v", engine, e.ClientID("r1", "blob"), e.SubscribeQoS(1), e.liveQoS(1), err)
		}
	}
	if e, err := ParseEngine("emqx"); err == nil {
		t.Errorf("%q is an engine", e)
	}
}

func TestPairOfClientsIsOnTwoNodesAlsoAfterOneIsLost(t *testing.T) {
	nodes := []string{"mqtt://n2", "mqtt://n3", "mqtt://n1"}
	for _, pair := range [][2]string{{"fleetd-a", "fleetd-b"}, {"fleetd-c", "fleetd-d"}, {"fleetd1", "fleetd2"}, {"museum-1", "museum-2"}} {
		a, b := NATS.orderNodes(pair[0], nodes), NATS.orderNodes(pair[1], nodes)
		if a[0] == b[0] || a[1] == b[0] || b[1] == a[0] {
			t.Errorf("%s has %v, %s has %v", pair[0], a, pair[1], b)
		}
		for _, order := range [][]string{a, b} {
			if !slices.Equal(slices.Sorted(slices.Values(order)), slices.Sorted(slices.Values(nodes))) {
				t.Errorf("%v are not all nodes", order)
			}
		}
	}
	if got := Troupe.orderNodes("fleetd-a", nodes); !slices.Equal(got, nodes) {
		t.Errorf("brokers that are no cluster are tried in the order %v", got)
	}
}

func TestClientsWithOneEndingBeginAtAllNodes(t *testing.T) {
	nodes := []string{"mqtt://n1", "mqtt://n2", "mqtt://n3"}
	first := map[string]int{}
	for i := range 300 {
		first[NATS.orderNodes(fmt.Sprintf("hall%d-robot", i), nodes)[0]]++
	}
	for _, node := range nodes {
		if first[node] < 70 {
			t.Errorf("of 300 clients, %v begin at each node", first)
		}
	}
}

// The error of a client that takes NATS for another engine names the setting to correct.
func TestRefusalOfNATSNamesTheEngine(t *testing.T) {
	s := natstest.Start(t, "", "")
	for _, c := range []struct {
		engine Engine
		suffix string
		help   string
	}{{Troupe, "blob", "--engine nats"}, {NATS, "blob", ""}, {Troupe, "", ""}} {
		states := make(chan State, 10)
		l, err := Open(t.Context(), Config{URL: "mqtt://" + s.Address, Engine: c.engine, Name: "r1", Suffix: c.suffix,
			OnState: func(s State) { states <- s }, BackoffMin: time.Minute, BackoffMax: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		var first State
		for first = range states {
			if first.Phase != Connecting {
				break
			}
		}
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
		helps := errors.Is(first.Err, ErrOtherEngine) && strings.Contains(first.Err.Error(), c.help)
		if refused := first.Phase == Refused; refused != (c.help != "") || refused && !helps {
			t.Errorf("%s with suffix %q: %s, %v", c.engine, c.suffix, first.Phase, first.Err)
		}
	}
}
