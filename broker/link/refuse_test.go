package link_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
)

func TestWhatMustNotBeSentIsNotSent(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		l := open(t, robot(b.Dial, &told{}))
		waitUp(t, l)
		for _, m := range []link.Message{
			{Topic: ""}, {Topic: "a/+"}, {Topic: "a/#"}, {Topic: "$SYS/x"}, {Topic: "a\x00b"}, {Topic: "\xff"}, {Topic: strings.Repeat("a", 201)},
			{Topic: "a", QoS: 3}, {Topic: "a", Payload: make([]byte, 1280<<10)},
		} {
			if err := l.PublishWait(t.Context(), m); err == nil {
				t.Errorf("published to %.20q, QoS %d, %d bytes", m.Topic, m.QoS, len(m.Payload))
			}
		}
		if l.Session() == "" {
			t.Error("lost the link")
		}
	})
}

func TestAHostileBrokerDoesNotEndTheProgram(t *testing.T) {
	connack := []byte{0x20, 2, 0, 0}
	for name, c := range map[string]struct {
		answer []byte // to SUBSCRIBE
		want   string
	}{
		"a packet of 200 MB":               {[]byte{0x30, 0xff, 0xff, 0xff, 0x5f}, "over the limit"},
		"a length of five bytes":           {[]byte{0x30, 0xff, 0xff, 0xff, 0xff, 0x01}, "malformed packet length"},
		"more grants than were asked for":  {[]byte{0x90, 8, 0, 1, 1, 1, 1, 1, 1, 1}, "grants 6 subscriptions, 3 were asked for"},
		"fewer grants than were asked for": {[]byte{0x90, 3, 0, 1, 1}, "refused by the broker"},
		"grants that are none":             {[]byte{0x90, 5, 0, 1, 9, 9, 9}, "refused by the broker"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := &told{}
				cfg := robot(func(context.Context) (net.Conn, error) {
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
				told := false
				for _, st := range u.history() {
					told = told || st.Err != nil
					if st.Phase == link.Up || st.Err != nil && !strings.Contains(st.Err.Error(), c.want) {
						t.Fatalf("told %+v, want %q", st, c.want)
					}
				}
				if !told {
					t.Fatalf("told %s", u.all())
				}
			})
		})
	}
}

// A broker may be older than a topic; what must be heard is another matter.
func TestASubscriptionThatIsOptionalMayBeRefused(t *testing.T) {
	for _, optional := range []bool{true, false} {
		bubble(t, func(t *testing.T, b *brokertest.Broker) {
			u := &told{}
			cfg := robot(b.Dial, u)
			cfg.Subscribe = append(cfg.Subscribe, link.Subscription{Filter: "troupe/v1/fleet/revoked", QoS: 1, Renew: true, Optional: optional})
			open(t, cfg)
			time.Sleep(3 * time.Minute) // and each minute it is asked for again
			_, refused := u.last(link.Refused)
			_, down := u.last(link.Down)
			if up := strings.Contains(u.all(), "up"); up != optional || refused == optional || down {
				t.Errorf("optional %v: told %s", optional, u.all())
			}
		})
	}
}

func TestAConnackCodeThatIsNoneIsNoLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &told{}
		l := open(t, robot(func(context.Context) (net.Conn, error) {
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
			t.Fatalf("told %s", u.all())
		}
	})
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	for _, c := range []link.Config{
		{}, {URL: "http://x"}, {URL: "mqtt://"}, {URL: "mqtt://u:p@h:1"}, {URL: "mqtt://h/x"},
		{URL: "mqtts://h/x"}, {URL: "wss://u@h"}, {URL: "ws://h/?token=x"}, {URL: "ws:///mqtt"},
		{URL: "mqtt://h", KeepAlive: 500 * time.Millisecond}, {URL: "mqtt://h", BackoffMin: time.Minute},
		{URL: "mqtt://h", Subscribe: []link.Subscription{{}}},
	} {
		if _, err := link.Open(t.Context(), c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
