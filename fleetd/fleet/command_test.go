package fleet_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/command"
	"troupe/fleetd/fleet/fleettest"
	"troupe/schema"
	"troupe/schema/verb"
)

func setMode(mode string, robots ...string) map[string]any {
	o := order("mode/set", robots...)
	o["args"] = map[string]any{"mode": mode}
	return o
}

// The database has no command to a robot outside the fleet, so it does not know whether that stopped.
func TestBatchOfAStopToUnknownRobotsIsNotSuccessful(t *testing.T) {
	onBoth(t, func(w *world) {
		w.robot("r1")
		for want, names := range map[command.Outcome][]string{command.OutcomePartial: {"r1", "r99"}, command.OutcomeUnanswered: {"r98", "r99"}} {
			var sent, read api.Batch
			w.must("POST", "/commands", order("manual/stop", names...), &sent, "Prefer", "wait=1")
			w.must("GET", "/batches/"+sent.ID, nil, &read)
			if read.Outcome != want || read.Total != 2 || read.Counts[command.Unknown] != 2-len(read.Commands) ||
				!slices.Contains(sent.NeverSeen, "r99") {
				w.Errorf("the stop of %v is read as %+v, want %s", names, read, want)
			}
		}
	})
}

func TestBatchHasOneCommandPerRobot(t *testing.T) {
	inWorld(t, func(w *world) {
		robots := []*fleettest.Robot{w.robot("r1"), w.robot("r2"), w.robot("r3")}
		for _, id := range []string{"r1", "r3"} {
			w.must("PUT", "/robots/"+id+"/labels", map[string]any{"labels": map[string]string{"site": "museum"}}, nil)
		}
		robots[2].Answer(func(string, verb.Request) []schema.Ack {
			return []schema.Ack{{Status: schema.StatusRejected, Reason: schema.ReasonNotCalibrated}}
		})
		o := setMode("ato")
		o["selector"] = map[string]any{"labels": []map[string]string{{"key": "site", "value": "museum"}}}
		var b api.Batch
		w.must("POST", "/commands", o, &b, "Prefer", "wait=10")
		if b.Total != 2 || b.Outcome != "partial" || b.Counts["SUCCEEDED"] != 1 || b.Counts["REJECTED"] != 1 {
			w.Errorf("the batch is %+v", b)
		}
		if !strings.Contains(robots[0].Received()[0].Payload, b.ID) || len(robots[1].Received()) != 0 {
			w.Error("the commands do not carry their batch, or reached another robot")
		}
		var stored api.Batch
		w.must("GET", "/batches/"+b.ID, nil, &stored)
		if stored.Outcome != b.Outcome || stored.By != "ann" || stored.Selector != "-l site=museum" {
			w.Errorf("persisted is %+v", stored)
		}
	})
}

func TestCommandIsCancelledAtFleetdOrAtTheRobot(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		r.Answer(ack(schema.StatusAccepted))
		running := w.command(order("auto/pause", "r1"))
		w.state(running, "ACKED")
		r.Answer(nil)
		var off api.CancelResult
		w.must("POST", "/commands/"+running+"/cancel", audit.Attribution{Who: "ann"}, &off)
		if off.Cancel == nil {
			w.Fatalf("the robot was not asked: %+v", off)
		}
		w.state(off.Cancel.Commands[0].ID, "SUCCEEDED")
		all := r.Received()
		if last := all[len(all)-1]; last.Verb != "sys/cancel" || last.Request.Args.(verb.Cancel).ID != running {
			w.Errorf("the robot was asked for %+v", last)
		}
		r.AnswerAgain(running, schema.Ack{Status: schema.StatusCancelled, Verb: "auto/pause"})
		w.state(running, "CANCELLED")

		r.Close()
		w.awaitPresence("r1", "offline")
		waiting := w.command(setMode("ato", "r1"))
		w.state(waiting, "QUEUED")
		off = api.CancelResult{}
		w.must("POST", "/commands/"+waiting+"/cancel", audit.Attribution{Who: "ann"}, &off)
		if off.Cancel != nil || off.Command.State != command.Cancelled {
			w.Errorf("what was not sent is %+v", off)
		}
		w.state(waiting, "CANCELLED")
		if p := w.ask("POST", "/commands/"+waiting+"/cancel", audit.Attribution{Who: "ann"}, nil); p == nil || p.Status != 409 {
			w.Errorf("calling off what is over is answered %+v", p)
		}
		r = w.robot("r1")
		w.sleep(2 * time.Second)
		if n := count(r.Received(), "mode/set"); n != 0 {
			w.Error("what was cancelled was sent after all")
		}
	})
}
