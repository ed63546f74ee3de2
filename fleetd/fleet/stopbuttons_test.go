package fleet_test

import (
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/fleetd/fleet"
)

func TestSilentStopButtonIsAnAlert(t *testing.T) {
	inWorld(t, func(w *world) {
		silent := func() string {
			var list struct {
				Alerts []struct{ Type, Source, Detail string }
			}
			w.must("GET", "/alerts", nil, &list)
			var all []string
			for _, a := range list.Alerts {
				if a.Type == "stop_button_silent" {
					all = append(all, a.Source)
					if !strings.Contains(a.Detail, a.Source+" does not answer") {
						w.Errorf("the alert says %q", a.Detail)
					}
				}
			}
			return strings.Join(all, " ")
		}
		button := w.broker.Load().Client(w.T, "stop1", func(p *brokertest.ConnectPacket) { p.ClientID = "stop1" })
		beat := func(seconds int) {
			for range seconds / 2 {
				button.Publish("troupe/v1/clients/stop1/heartbeat", "")
				w.sleep(2 * time.Second)
			}
		}
		beat(8)
		if got := silent(); got != "" {
			w.Errorf("after 8 s silent: %q", got)
		}
		beat(8) // gate is listed, and nobody has heard it
		if got := silent(); got != "gate" {
			w.Errorf("after 16 s silent: %q", got)
		}
		w.sleep(10 * time.Second)
		if got := silent(); got != "gate stop1" && got != "stop1 gate" {
			w.Errorf("10 s after its last heartbeat silent: %q", got)
		}
		beat(2)
		if got := silent(); got != "gate" {
			w.Errorf("after the next heartbeat silent: %q", got)
		}
		var status struct {
			Buttons []struct {
				Name        string
				Listed      bool
				SilentSince string `json:"silent_since"`
			} `json:"stop_buttons"`
		}
		w.must("GET", "/version", nil, &status)
		if b := status.Buttons; len(b) != 2 || b[0].Name != "gate" || !b[0].Listed || b[0].SilentSince == "" || b[1].Listed ||
			b[1].SilentSince != "" {
			w.Errorf("the stop buttons are %+v", b)
		}
	}, func(c *fleet.Config) { c.StopButtons = []string{"gate"} })
}

func TestStopButtonsHaveNamesOfUsers(t *testing.T) {
	_, err := fleet.Start(t.Context(), fleet.Config{Broker: "mqtt://127.0.0.1:1883", StopButtons: []string{"Gate 1"}})
	if err == nil || !strings.Contains(err.Error(), "stop-buttons Gate 1") {
		t.Errorf("got %v", err)
	}
}
