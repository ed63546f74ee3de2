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

func TestCommandGoesThroughItsStates(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		r.Answer(ack(schema.StatusAccepted))
		id := w.command(setMode("str", "r1"))
		w.state(id, "ACKED")
		r.AnswerAgain(id, schema.Ack{Status: schema.StatusInProgress, Verb: "mode/set"})
		w.state(id, "RUNNING")
		r.AnswerAgain(id, schema.Ack{Status: schema.StatusSucceeded, Verb: "mode/set", Result: schema.ResultSuccess})
		if c := w.state(id, "SUCCEEDED"); c.Answer == nil || c.Answer.Result != schema.ResultSuccess || c.Sends != 1 {
			w.Errorf("the command ended as %+v", c)
		}
	})
}

func TestStateSettlesACommandWithoutAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		r.Mute(true)
		id := w.command(setMode("ato", "r1"))
		w.state(id, "SENT")
		r.Change(func(s *schema.State) {
			s.LastReq = &schema.LastRequest{ID: id, Client: "fleetd", Verb: "mode/set", Status: schema.StatusSucceeded}
		})
		w.state(id, "SUCCEEDED")
	})
}

func TestCommandToAnAbsentRobotWaitsAndExpires(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		r.Close()
		w.awaitPresence("r1", "offline")
		comes := w.command(setMode("ato", "r1"))
		w.state(comes, "QUEUED")
		r = w.robot("r1")
		w.state(comes, "SUCCEEDED")
		r.Close()
		w.awaitPresence("r1", "offline")
		never := w.command(setMode("mnl", "r1"))
		if c := w.state(never, "UNDELIVERED"); c.Sends != 0 {
			w.Errorf("sent %d times to a robot that was away", c.Sends)
		}
	})
}

func TestStopOvertakesOtherCommands(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		r.Mute(true)
		for range 10 {
			w.command(setMode("ato", "r1"))
			w.command(order("auto/pause", "r1"))
		}
		w.sleep(time.Second)
		r.Mute(false)
		var b api.Batch
		w.must("POST", "/commands", order("safety/stop", "r1"), &b, "Prefer", "wait=1")
		if b.Outcome != "succeeded" || b.Unpersisted {
			w.Errorf("the answer to the stop is %+v", b)
		}
		if r.Received()[2].Verb == "safety/stop" {
			w.Error("this test's robot received nothing before the stop")
		}
		// A count that no longer holds is no reason not to stop.
		o := order("safety/stop", "r1")
		o["expected_count"] = 7
		w.must("POST", "/commands", o, &b, "Prefer", "wait=1")
		w.state(b.Commands[0].ID, "SUCCEEDED")
	})
}

func TestStopIsSentToAnAbsentRobot(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		r.SetHanging(true)
		w.awaitPresence("r1", "lost")
		w.must("POST", "/commands", order("safety/stop", "r1", "never-seen"), nil)
		w.sleep(100 * time.Millisecond)
		if n := count(r.Received(), "safety/stop"); n != 1 {
			w.Errorf("a robot that is offline received %d stops", n)
		}
	})
}

// The database has no command to a robot outside the fleet, so it does not know whether that stopped.
func TestBatchOfAStopToUnknownRobotsIsNotSuccessful(t *testing.T) {
	onBoth(t, func(w *world) {
		w.robot("r1")
		for want, names := range map[command.Outcome][]string{command.OutcomePartial: {"r1", "r99"}, command.OutcomeUnanswered: {"r98", "r99"}} {
			var sent, read api.Batch
			w.must("POST", "/commands", order("manual/stop", names...), &sent, "Prefer", "wait=1")
			w.must("GET", "/batches/"+sent.ID, nil, &read)
			if read.Outcome != want || read.Total != 2 || read.Counts[command.Unknown] != 2-len(read.Commands) || !slices.Contains(sent.NeverSeen, "r99") {
				w.Errorf("the stop of %v is read as %+v, want %s", names, read, want)
			}
		}
	})
}

func TestEnableCarriesTheLastHeartbeatSeen(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		w.sleep(5 * time.Second)
		w.state(w.command(order("safety/enable", "r1")), "SUCCEEDED")
		got := r.Received()[0].Request.Args.(verb.EnableOrReset).SeenMonoMS
		if d, _ := w.Robot("r1"); got == 0 || got != d.Heartbeat.MonoMS {
			w.Errorf("enable said %d ms, the newest heartbeat says %d", got, d.Heartbeat.MonoMS)
		}
	})
}

func TestRestartedFleetdContinuesUnfinishedCommands(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		r.Answer(ack(schema.StatusAccepted))
		acked := w.command(setMode("ato", "r1"))
		w.state(acked, "ACKED")
		r.Mute(true)
		sent := w.command(order("auto/pause", "r1"))
		w.state(sent, "SENT")
		w.stopFleetd()
		r.Mute(false)
		w.sleep(3 * time.Second)
		w.startFleetd()
		r.Answer(nil)
		w.state(sent, "SUCCEEDED") // sent again under the same id
		ids := map[string]bool{}
		for _, got := range r.Received() {
			if got.Verb == "auto/pause" {
				ids[got.Request.ID] = true
			}
		}
		if len(ids) != 1 || !ids[sent] {
			w.Errorf("sent under the ids %v", ids)
		}
		r.AnswerAgain(acked, schema.Ack{Status: schema.StatusSucceeded, Verb: "mode/set"})
		w.state(acked, "SUCCEEDED")
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

func TestPreconditionIsSentExceptWithStops(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		o := setMode("ato", "r1")
		o["if"] = map[string]any{"mode": "mnl", "story_rev": 3}
		w.state(w.command(o), "SUCCEEDED")
		stop := order("safety/stop", "r1")
		stop["if"] = map[string]any{"mode": "ato"}
		w.state(w.command(stop), "SUCCEEDED")
		for _, got := range r.Received() {
			want := schema.Precondition{}
			if got.Verb == "mode/set" {
				want = schema.Precondition{Mode: "mnl", StoryRev: 3}
			}
			if got.Request.If != want {
				w.Errorf("%s came with the condition %+v, want %+v", got.Verb, got.Request.If, want)
			}
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
