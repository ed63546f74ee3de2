package link_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
)

// nobody is the URL of a port at which nobody listens.
func nobody(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return "mqtt://" + ln.Addr().String()
}

func TestALinkGoesThroughItsBrokersThePreferredFirst(t *testing.T) {
	first, second := brokertest.Start(t), brokertest.Start(t)
	var u told
	l, err := link.Open(t.Context(), link.Config{
		URL: first.URL(), Others: []string{nobody(t), second.URL()}, Name: "r1", ClientID: "r1",
		BackoffMin: time.Millisecond, BackoffMax: 20 * time.Millisecond, OnState: u.state,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	there := func(b *brokertest.Broker, n int64) func() bool {
		return func() bool { return b.Status()["clients"] == n }
	}
	eventually(t, "the first has it", there(first, 1))
	eventually(t, "it says so", func() bool { return l.URL() == first.URL() })
	if n := second.Status()["connections_accepted"]; n != 0 {
		t.Errorf("the second was asked %d times", n)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the second has it", there(second, 1))
	eventually(t, "it says so", func() bool { return l.URL() == second.URL() })
}

func TestALinkWhoseFirstBrokerIsDeadGoesToTheNext(t *testing.T) {
	b := brokertest.Start(t)
	l, err := link.Open(t.Context(), link.Config{
		URL: nobody(t), Others: []string{b.URL()}, Name: "r1", ClientID: "r1", BackoffMin: time.Millisecond, BackoffMax: 20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the living one has it", func() bool { return b.Status()["clients"] == 1 })
	if err := l.Close(t.Context()); err != nil && !errors.Is(err, link.ErrClosed) {
		t.Error(err)
	}
	if _, err := link.Open(t.Context(), link.Config{URL: b.URL(), Others: []string{"broker"}}); err == nil {
		t.Error("a URL that is none is taken")
	}
}

// eventually waits for what another goroutine brings about.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late, look := time.NewTimer(2*brokertest.Patience), time.NewTicker(10*time.Millisecond)
	defer late.Stop()
	defer look.Stop()
	for !holds() {
		select {
		case <-look.C:
		case <-late.C:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func TestWhatIsReadOnTheWayIsKnown(t *testing.T) {
	for url, want := range map[string]bool{
		"mqtt://broker.example": true, "ws://10.0.0.2:8083": true, "tcp://[fe80::1]:1883": true, "mqtt://127.0.0.1:1883": false,
		"mqtt://localhost": false, "ws://[::1]:80": false, "mqtts://broker.example": false, "wss://broker.example/mqtt": false, "": false,
	} {
		if got := link.InTheClear(url); got != want {
			t.Errorf("%q: %v", url, got)
		}
	}
}
