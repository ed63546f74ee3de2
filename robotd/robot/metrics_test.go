package robot

import (
	"context"
	"errors"
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/page"
	"troupe/schema"
	"troupe/schema/metric/metrictest"
)

// viewed is a robot whose page shows what the test says.
type viewed struct {
	page.Robot
	view page.View
	err  error
}

func (v *viewed) View(context.Context) (page.View, error) { return v.view, v.err }

func TestMetricsShowTheRobot(t *testing.T) {
	m := newMeter(Page{MetricsToken: "token"}, 20*time.Millisecond)
	m.step(event.Reported{Event: driver.Event{Kind: driver.Battery, Level: 0.4, Charging: true}}, time.Millisecond)
	m.step(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.Heat, Name: "head", Level: 41.5}}, time.Millisecond)
	m.wrote(time.Now(), nil)
	m.wrote(time.Now(), errors.New("no space left"))
	m.acknowledged(time.Now())
	robot := &viewed{view: page.View{Snapshot: effect.Snapshot{State: &schema.State{
		Session: "s", Safety: schema.StateSafety{State: schema.SafetyStop, Latches: []schema.StopLatch{{ID: "s1"}}},
		Mode: schema.StateMode{Active: schema.ModeAto},
		Link: schema.StateLink{State: schema.LinkUp}, Units: []schema.UnitState{{ID: "head", State: "error"}, {ID: "face", State: "idle"}},
		Alerts: []schema.Alert{{Type: "disk_refuses"}}, Dropped: schema.DroppedCounters{Records: 7},
	}}}}
	served := metrictest.Scrape(t, m.handler(&Config{ID: "r1", Version: "v1", Data: t.TempDir()}, robot))
	metrictest.Check(t, Metrics, served)
	values := metrictest.Values(t, served)
	for sample, want := range map[string]float64{
		`build_info{robot="r1",version="v1"}`: 1, "answers": 1, "waiting_for_body": 0, "broker_connected": 1, `safety_state{state="STOP"}`: 1, `safety_state{state="ENABLED"}`: 0,
		`mode{mode="ato"}`: 1, "stops_latched": 1, `alerts{type="disk_refuses"}`: 1, `alerts{type="battery_low"}`: 0, `units{state="error"}`: 1, `units{state="run"}`: 0,
		"records_dropped_total": 7, "battery_ratio": 0.4, "battery_charging": 1, `unit_temperature_celsius{unit="head"}`: 41.5, `link_state{state="up"}`: 1,
		`disk_write_duration_seconds_count{result="failed"}`: 1, "broker_round_trip_seconds_count": 1, "step_duration_seconds_count": 2,
	} {
		if got, there := values["troupe_robotd_"+sample]; !there || got != want {
			t.Errorf("%s is %v, want %v", sample, got, want)
		}
	}
	if values["troupe_robotd_disk_size_bytes"] < values["troupe_robotd_disk_free_bytes"] {
		t.Error("the disk has more room than size")
	}
	if newMeter(Page{}, time.Millisecond).handler(&Config{}, robot) != nil {
		t.Error("metrics are on without a token")
	}
}
