package robot

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/robotd/identity"
	"troupe/schema/bubble"
)

// resetClock is a clock without battery after a start.
func resetClock() time.Time { return time.Unix(0, 0) }

// A clock without battery begins in 1970 at each start.
func TestRobotWithResetClockConnectsAndRejectsExpiredCertificates(t *testing.T) {
	ca := brokertest.NewCA(t)
	data := t.TempDir()
	saveIdentity(t, ca, data)
	ca.IssueServer(-30 * time.Minute)
	stolen := ca.TLSProxy(brokertest.Start(t).Dial) // shows a certificate that has ended
	ca.IssueServer(24 * time.Hour)
	right := brokertest.Start(t, ca.Configure).AddrOf("mqtts")

	connects := func(broker string, c *certificateClock) bool {
		t.Helper()
		cfg := Config{ID: "r1", Data: data, enrolled: enrolled{clock: c}}
		tried := make(chan link.State, 16)
		l, err := link.Open(t.Context(), link.Config{URL: "mqtts://" + broker, TLS: cfg.encryption, ClientID: "r1", OnState: func(s link.State) {
			if s.Phase != link.Connecting {
				select {
				case tried <- s:
				default:
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close(context.Background())
		s := <-tried
		if s.Phase != link.Up && !strings.Contains(s.Err.Error(), "expired") {
			t.Errorf("not up: %v", s.Err)
		}
		return s.Phase == link.Up
	}
	open := func() *certificateClock {
		c := openClock(data, slog.New(slog.DiscardHandler))
		c.wall = resetClock
		return c
	}
	first := open()
	if !connects(right, first) {
		t.Error("it does not connect")
	}
	if !connects(stolen, first) {
		t.Error("a robot that never received the fleet's time rejects an expired certificate")
	}
	if !connects(right, first) {
		t.Error("it does not connect again")
	}
	// Over that connection the robot receives the fleet's time, and saves it.
	first.receive(time.Now())
	if connects(stolen, first) {
		t.Error("it accepts an expired certificate")
	}
	running, end := context.WithCancel(t.Context())
	kept := make(chan struct{})
	go func() { first.saveFleetTime(running); close(kept) }()
	for {
		if at, err := identity.LoadFleetTime(data); err != nil {
			t.Fatal(err)
		} else if !at.IsZero() {
			break
		}
	}
	end()
	<-kept

	next := open()
	if connects(stolen, next) {
		t.Error("after a start with a reset clock it accepts an expired certificate")
	}
	if !connects(right, next) {
		t.Error("after a start with a reset clock it does not connect")
	}
	// A fleetd instance whose clock is years ahead makes no certificate expire.
	next.receive(time.Now().AddDate(10, 0, 0))
	if !connects(right, next) {
		t.Error("it trusts a fleetd instance whose clock is years ahead")
	}
	// Neither does a wrong time on the robot's disk.
	if err := identity.SaveFleetTime(data, time.Now().AddDate(73, 0, 0)); err != nil {
		t.Fatal(err)
	}
	if !connects(right, open()) {
		t.Error("it trusts a saved time that is years ahead")
	}
}

func TestFleetTimeAdvancesAndIsSavedOnceAnHour(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		began, data := time.Now(), t.TempDir()
		c := openClock(data, slog.New(slog.NewTextHandler(io.Discard, nil)))
		c.wall = resetClock
		ctx, end := context.WithCancel(t.Context())
		kept := make(chan struct{})
		go func() { c.saveFleetTime(ctx); close(kept) }()

		c.receive(time.Now()) // over a connection in the clear
		if now := c.now(); now.After(resetClock()) && c.lowerBound.Built.IsZero() {
			t.Errorf("an unauthenticated time is believed: %v", now)
		}
		c.connected(began.Add(1000 * time.Hour))
		writes, last := 0, time.Time{}
		for range 3 * 3600 {
			c.receive(time.Now())
			synctest.Wait()
			at, err := identity.LoadFleetTime(data)
			if err != nil {
				t.Fatal(err)
			}
			if !at.Equal(last) {
				last = at
				writes++
			}
			time.Sleep(time.Second)
		}
		if writes != 3 {
			t.Errorf("written %d times in three hours", writes)
		}
		// No more heartbeats arrive.
		time.Sleep(5 * time.Hour)
		if now := c.now(); time.Until(now) > 0 || time.Since(now) > time.Second {
			t.Errorf("it is %v, and the robot's time is %v", time.Now(), now)
		}
		end()
		<-kept
	})
}
