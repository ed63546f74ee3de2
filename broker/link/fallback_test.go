package link_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
)

// unusedURL is the URL of a port on which nothing listens.
func unusedURL(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return "mqtt://" + ln.Addr().String()
}

func TestLinkFallsBackToOtherBrokersInOrder(t *testing.T) {
	first, second := brokertest.Start(t), brokertest.Start(t)
	var u userLog
	l, err := link.Open(t.Context(), link.Config{
		URL: first.URL(), FallbackURLs: []string{unusedURL(t), second.URL()}, Name: "r1", ClientID: "r1",
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
	brokertest.Eventually(t, "the first broker has the client", there(first, 1))
	brokertest.Eventually(t, "URL returns the first broker", func() bool { return l.URL() == first.URL() })
	if n := second.Status()["connections_accepted"]; n != 0 {
		t.Errorf("the second broker got %d connections", n)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	brokertest.Eventually(t, "the second broker has the client", there(second, 1))
	brokertest.Eventually(t, "URL returns the second broker", func() bool { return l.URL() == second.URL() })
}

func TestLinkFallsBackIfFirstBrokerIsDown(t *testing.T) {
	b := brokertest.Start(t)
	l, err := link.Open(t.Context(), link.Config{
		URL: unusedURL(t), FallbackURLs: []string{b.URL()}, Name: "r1", ClientID: "r1", BackoffMin: time.Millisecond,
		BackoffMax: 20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	brokertest.Eventually(t, "the second broker has the client", func() bool { return b.Status()["clients"] == 1 })
	if err := l.Close(t.Context()); err != nil && !errors.Is(err, link.ErrClosed) {
		t.Error(err)
	}
	if _, err := link.Open(t.Context(), link.Config{URL: b.URL(), FallbackURLs: []string{"broker"}}); err == nil {
		t.Error("an invalid URL is accepted")
	}
}

func TestOnlyUnencryptedURLsOfOtherMachinesArePlaintext(t *testing.T) {
	for url, want := range map[string]bool{
		"mqtt://broker.example": true, "ws://10.0.0.2:8083": true, "tcp://[fe80::1]:1883": true, "mqtt://127.0.0.1:1883": false,
		"mqtt://localhost": false, "ws://[::1]:80": false, "mqtts://broker.example": false, "wss://broker.example/mqtt": false, "": false,
	} {
		if got := link.IsPlaintext(url); got != want {
			t.Errorf("%q: %v", url, got)
		}
	}
}

// A client that finds at a broker not what it looks for asks for the next, and comes round to the first.
func TestLinkGoesToNextBrokerWhenAsked(t *testing.T) {
	first, second := brokertest.Start(t), brokertest.Start(t)
	l, err := link.Open(t.Context(), link.Config{
		URL: first.URL(), FallbackURLs: []string{second.URL()}, Name: "r1", ClientID: "r1",
		BackoffMin: time.Millisecond, BackoffMax: 20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []*brokertest.Broker{first, second, first, second} {
		brokertest.Eventually(t, "the link is at "+at.URL(), func() bool { return l.URL() == at.URL() })
		l.ReplaceSession(link.ErrNextBroker)
	}
	if err := l.Close(t.Context()); err != nil && !errors.Is(err, link.ErrClosed) {
		t.Error(err)
	}
}
