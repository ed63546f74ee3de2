package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"troupe/broker/brokertest"
	"troupe/robotd/driver/bus/bustest"
	"troupe/robotd/driver/bus/check"
	"troupe/robotd/driver/sim"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/bus"
)

func TestCheckPrintsEachRuleAndWhatBreaksIt(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		broker := brokertest.NewBus(t)
		defer broker.Close()
		adapters, err := bustest.Serve(context.Background(), bustest.Config{
			Dial: broker.Dial, Body: sim.New(sim.Config{}), Parts: map[string][]schema.UnitKind{"show": {schema.UnitFace, schema.UnitBattery}},
			Spoil: func(_, what string, payload []byte) []byte {
				if what == bus.OutState {
					return bytes.Replace(payload, []byte(`"level":1`), []byte(`"level":87`), 1)
				}
				return payload
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer adapters.Close()
		var out strings.Builder
		err = runCheck(t.Context(), &out, check.Config{URL: "mqtt://127.0.0.1:1884", Dial: broker.Dial})
		if err == nil || !strings.Contains(err.Error(), "adapter show on the bus mqtt://127.0.0.1:1884 breaks 1 of the rules") {
			t.Errorf("the error is %v", err)
		}
		for _, want := range []string{
			"adapter show on the bus mqtt://127.0.0.1:1884: face, battery; this takes up to a minute\n",
			"BREAKS   units-of-measure     every number is in its unit of measure: state /units/battery/level: 87 is not between 0 and 1; write a " +
				"share of 1, not percent\n",
			"keeps    actions              every unit that does not move carries out an action and answers done\n",
			"untried  watchdog ",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not in\n%s", want, out.String())
			}
		}
	})
}

func TestTakenAddressOfTheBusIsRefusedWithAWayOut(t *testing.T) {
	first, err := serveBus("127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	_, err = serveBus(first.Addr(), slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "another program serves "+first.Addr()) ||
		!strings.Contains(err.Error(), "leave --bus-listen out") {
		t.Errorf("the error is %v", err)
	}
}
