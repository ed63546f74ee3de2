package link_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/schema/bubble"
)

func TestInvalidMessagesAreRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		l := open(t, robotConfig(b.Dial, &userLog{}))
		waitUp(t, l)
		for _, m := range []link.Message{
			{Topic: ""}, {Topic: "a/+"}, {Topic: "a/#"}, {Topic: "$SYS/x"}, {Topic: "a\x00b"}, {Topic: "\xff"}, {Topic: strings.Repeat("a", 201)},
			{Topic: "a", QoS: 3}, {Topic: "a", Payload: make([]byte, 1280<<10)},
		} {
			if err := l.PublishWait(t.Context(), m); err == nil {
				t.Errorf("accepted: topic %.20q, QoS %d, %d bytes", m.Topic, m.QoS, len(m.Payload))
			}
		}
		if l.Session() == "" {
			t.Error("the session has ended")
		}
	})
}

func TestMalformedPacketsOfBrokerEndTheConnection(t *testing.T) {
	connack := []byte{0x20, 2, 0, 0}
	for name, c := range map[string]struct {
		answer []byte // to SUBSCRIBE
		want   string
	}{
		"a packet of 200 MB":          {[]byte{0x30, 0xff, 0xff, 0xff, 0x5f}, "exceeds the limit"},
		"a length of five bytes":      {[]byte{0x30, 0xff, 0xff, 0xff, 0xff, 0x01}, "malformed packet length"},
		"more grants than requested":  {[]byte{0x90, 8, 0, 1, 1, 1, 1, 1, 1, 1}, "grants 6 subscriptions, 3 were requested"},
		"fewer grants than requested": {[]byte{0x90, 3, 0, 1, 1}, "refused by the broker"},
		"invalid return codes":        {[]byte{0x90, 5, 0, 1, 9, 9, 9}, "refused by the broker"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				u := &userLog{}
				cfg := robotConfig(func(context.Context) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go func() {
						defer theirs.Close()
						buf := make([]byte, 4096)
						_, _ = theirs.Read(buf) // CONNECT
						_, _ = theirs.Write(connack)
						_, _ = theirs.Read(buf) // SUBSCRIBE
						_, _ = theirs.Write(c.answer)
						_, _ = theirs.Read(buf)
					}()
					return ours, nil
				}, u)
				l := open(t, cfg)
				time.Sleep(3 * time.Second)
				_ = l.Close(t.Context())
				reported := false
				for _, st := range u.history() {
					reported = reported || st.Err != nil
					if st.Phase == link.Up || st.Err != nil && !strings.Contains(st.Err.Error(), c.want) {
						t.Fatalf("reported %+v, want %q", st, c.want)
					}
				}
				if !reported {
					t.Fatalf("reported %s", u.all())
				}
			})
		})
	}
}

// A broker may be older than an optional topic; any other subscription must be granted.
func TestOptionalSubscriptionMayBeRefused(t *testing.T) {
	for _, optional := range []bool{true, false} {
		inBubble(t, func(t *testing.T, b *brokertest.Broker) {
			u := &userLog{}
			cfg := robotConfig(b.Dial, u)
			cfg.Subscribe = append(cfg.Subscribe, link.Subscription{Filter: "troupe/v1/fleet/revoked", QoS: 1, Renew: true, Optional: optional})
			open(t, cfg)
			time.Sleep(3 * time.Minute) // it is renewed every minute
			_, refused := u.last(link.Refused)
			_, down := u.last(link.Down)
			if up := strings.Contains(u.all(), "up"); up != optional || refused == optional || down {
				t.Errorf("optional %v: reported %s", optional, u.all())
			}
		})
	}
}

func TestUnknownConnackCodeIsNoSuccess(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		u := &userLog{}
		l := open(t, robotConfig(func(context.Context) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				_, _ = theirs.Read(make([]byte, 4096))
				_, _ = theirs.Write([]byte{0x20, 2, 0, 130})
			}()
			return ours, nil
		}, u))
		time.Sleep(20 * time.Second)
		_ = l.Close(t.Context())
		if strings.Contains(u.all(), "up") || !strings.Contains(u.all(), "down") {
			t.Fatalf("reported %s", u.all())
		}
	})
}

func TestInvalidConfigurationsAreRefused(t *testing.T) {
	for _, c := range []link.Config{
		{}, {URL: "http://x"}, {URL: "mqtt://"}, {URL: "mqtt://u:p@h:1"}, {URL: "mqtt://h/x"},
		{URL: "mqtts://h/x"}, {URL: "wss://u@h"}, {URL: "ws://h/?token=x"}, {URL: "ws:///mqtt"},
		{URL: "mqtt://h", KeepAlive: 500 * time.Millisecond}, {URL: "mqtt://h", BackoffMin: time.Minute},
		{URL: "mqtt://h", Subscribe: []link.Subscription{{}}},
	} {
		if _, err := link.Open(t.Context(), c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}
