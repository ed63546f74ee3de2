package fleet_test

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/fleet/fleettest"
	"troupe/schema"
	"troupe/schema/verb"
)

func TestPresentRobotIsAdopted(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		r.Event("mode_changed")
		w.until("the event is stored", func() bool {
			var got struct{ Events []api.Event }
			w.must("GET", "/events?robot=r1", nil, &got)
			return len(got.Events) == 1 && got.Events[0].Type == "mode_changed"
		})
		w.stopFleetd()
		r.Close() // no client receives it
		w.newBroker()
		w.sleep(time.Second)
		w.startFleetd()
		d, ok := w.Robot("r1")
		if !ok || d.State == nil || d.State.Mode.Active != schema.ModeMnl {
			w.Fatalf("after a restart fleetd has %+v of a robot that it knew", d)
		}
		if d.Presence.Status != "unknown" {
			w.Errorf("a robot without messages since the restart is %s", d.Presence.Status)
		}
		w.sleep(11 * time.Second)
		w.awaitPresence("r1", "lost")
	})
}

func TestEventsAreListedByLevel(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		for _, kind := range []string{"mode_changed", "safety_changed", "alert_raised", "act_started"} {
			r.Event(kind)
		}
		r.Raw(schema.TopicEvent, `{"ts":"2026-01-02T03:04:05.678Z","boot":"earlier","seq":1,"type":"mode_fallback","source":"mode"}`)
		types := func(query string) (types []string) {
			var got struct{ Events []api.Event }
			w.must("GET", "/events?robot=r1"+query, nil, &got)
			for _, e := range got.Events {
				types = append(types, e.Type+" "+string(e.Level))
			}
			slices.Sort(types)
			return types
		}
		w.until("the events are stored", func() bool { return len(types("")) == 5 })
		for query, want := range map[string][]string{
			"&level=safety":                    {"safety_changed safety"},
			"&level=warn":                      {"alert_raised warn", "mode_fallback warn"}, // the level of an earlier release's is known
			"&level=info,safety":               {"act_started info", "mode_changed info", "safety_changed safety"},
			"&level=error":                     nil,
			"&level=warn&type=mode_fallback":   {"mode_fallback warn"},
			"&level=error,info&type=act_ended": nil,
		} {
			if got := types(query); !slices.Equal(got, want) {
				t.Errorf("%s lists %v, want %v", query, got, want)
			}
		}
		if d, _ := w.Robot("r1"); d.LastEvent == nil || d.LastEvent.Type != "mode_fallback" || d.LastEvent.Level != schema.EventWarn {
			t.Errorf("the last event of the robot is %+v", d.LastEvent)
		}
		r.Event("act_ended")
		w.until("the event is stored", func() bool { return len(types("&type=act_ended")) == 1 })
		if d, _ := w.Robot("r1"); d.LastEvent.Type != "mode_fallback" {
			t.Errorf("an event of every act, %s, hides what happened last", d.LastEvent.Type)
		}
	})
}

func TestFleetdPublishesItsPresence(t *testing.T) {
	inWorld(t, func(w *world) {
		ear := w.broker.Load().Client(w.T, "obs")
		ear.Subscribe("troupe/v1/fleet/#")
		p, problems := schema.Decode[schema.Presence](ear.Expect("troupe/v1/fleet/presence").Payload)
		if len(problems) > 0 || p.State != schema.PresenceOnline {
			w.Fatalf("fleetd's presence is %+v %v", p, problems)
		}
		var last schema.FleetHeartbeat
		for range 3 {
			h, problems := schema.Decode[schema.FleetHeartbeat](ear.Expect("troupe/v1/fleet/heartbeat/fleetd").Payload)
			if i := h.Instance; i.Version == "" || i.StartedAt == 0 || !i.Database {
				w.Errorf("of itself fleetd says %+v", i)
			}
			if len(problems) > 0 || h.Session != p.Session {
				w.Fatalf("heartbeat %+v %v of another session than %s", h, problems, p.Session)
			}
			if last.Seq != 0 && (h.Seq != last.Seq+1 || h.TS.Sub(last.TS) != time.Second) {
				w.Errorf("heartbeat %+v follows %+v", h, last)
			}
			last = h
		}
		// Somebody with the right to overwrites the document; fleetd repairs it.
		vandal := w.broker.Load().Client(w.T, "admin")
		vandal.Retain("troupe/v1/fleet/presence", `{"state":"lost","session":"old"}`)
		ear.ExpectThat("troupe/v1/fleet/presence", func(m brokertest.Message) bool { return strings.Contains(string(m.Payload), p.Session) })
		w.stopFleetd()
		ear.ExpectThat("troupe/v1/fleet/presence", func(m brokertest.Message) bool {
			return strings.Contains(string(m.Payload), `"offline"`)
		})
	})
}

// A client that sends half a request uses up the time for requests in progress.
func TestSlowShutdownStillPublishesOffline(t *testing.T) {
	onBoth(t, func(w *world) {
		w.until("it leads", func() bool { return w.Status().Leadership.Leads })
		obs := w.broker.Load().Client(w.T, "obs")
		obs.Subscribe("troupe/v1/fleet/presence")
		obs.Expect("troupe/v1/fleet/presence") // that it is there
		half, err := w.dialAddress()
		if err != nil {
			w.Fatal(err)
		}
		defer half.Close()
		fmt.Fprintf(half, "PUT "+api.Prefix+"/acts/wave HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/yaml\r\nContent-Length: 10\r\n"+
			"Expect: 100-continue\r\n\r\n")
		if line, err := bufio.NewReader(half).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
			w.Fatalf("%q, %v", line, err)
		}
		w.stopFleetd()
		obs.ExpectThat("troupe/v1/fleet/presence", func(m brokertest.Message) bool {
			return strings.Contains(string(m.Payload), `"offline"`)
		})
	}, withAddress)
}

func TestUnknownRobotIsListedStoppedAndAdopted(t *testing.T) {
	inWorld(t, func(w *world) {
		r := fleettest.Start(w.T, "r1", w.dial)
		w.awaitPresence("r1", "online")
		w.sleep(2 * time.Second)
		if d, _ := w.Robot("r1"); d.Adopted {
			w.Fatal("a robot became the fleet's without being adopted")
		}
		if p := w.ask("POST", "/commands", order("mode/set", "r1"), nil); p == nil || !p.Of(api.KindInvalid) {
			w.Errorf("an unknown client was commanded: %v", p)
		}
		var b api.Batch
		w.must("POST", "/commands", order("safety/stop", "r1"), &b, "Prefer", "wait=5")
		if b.Outcome != "succeeded" || count(r.Received(), "safety/stop") != 1 {
			w.Errorf("an unknown client was not stopped: %+v", b)
		}
		w.must("POST", "/robots/r1/adopt", audit.Attribution{Who: "ann"}, &b, "Prefer", "wait=5")
		if b.Outcome != "succeeded" {
			w.Fatalf("the answer to adopting is %+v", b)
		}
		got := r.Received()
		if last := got[len(got)-1]; last.Verb != "sys/adopt" || string(last.Request.Args.(verb.Adopt).FleetID) != w.Status().FleetID ||
			w.Status().FleetID == "" {
			w.Errorf("the robot was sent %+v, the fleet id is %q", last, w.Status().FleetID)
		}
		if d, _ := w.Robot("r1"); !d.Adopted {
			w.Error("the robot is still an unknown client")
		}
	}, strict)
}

func TestUndecodableMessageIsIgnored(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		r.Raw(schema.TopicState, "{{{")
		r.Raw(schema.TopicHeartbeat, `{"session":""}`)
		r.Raw(schema.TopicState, "") // removed from the broker: no word of the robot's
		w.sleep(time.Second)
		d, _ := w.Robot("r1")
		if d.State == nil || d.Presence.Status != "online" {
			w.Errorf("after malformed messages fleetd has %+v", d)
		}
	})
}
