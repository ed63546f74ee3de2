package robot

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/schema"
	"troupe/schema/bubble"
)

// orderedBody writes down its orders.
type orderedBody struct {
	driver.Driver
	led          *ledger
	calibrations int
}

func (b *orderedBody) Order(o driver.Order) { b.led.add("order " + string(o)) }
func (b *orderedBody) Feed()                {}
func (b *orderedBody) Calibrate(context.Context, driver.Map) (driver.Calibration, error) {
	b.calibrations++
	b.led.add(fmt.Sprint("calibrate ", b.calibrations))
	return driver.Calibration{}, nil
}

// TestSuspendedStepLetsNothingMove suspends the process in the step that enables the robot.
func TestSuspendedStepLetsNothingMove(t *testing.T) {
	for _, c := range []struct {
		suspended time.Duration
		payload   string
		runs      bool
	}{
		{0, `{}`, true},
		{300 * time.Millisecond, `{}`, true},
		{300 * time.Millisecond, `{"ttl_ms":200}`, false},
		{6 * time.Second, `{}`, false},
	} {
		t.Run(fmt.Sprint(c.suspended, c.payload), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				h, led := newWriting(t)
				suspended := false
				l, _ := guardedLoop(t, twoMovers, func(call mode.Call) mode.Refusal {
					if h.loop.state.AckState().Safety == schema.SafetyEnabled && !suspended { // the core has decided in this step
						suspended = true
						time.Sleep(c.suspended)
					}
					return mode.Unguarded(call)
				})
				l.log, h.loop, h.writer.loop, h.mqtt.loop = h.log, l, l, l
				h.body, h.latches, l.carryOut = &orderedBody{led: led}, newLatchWriter(h.ctx, led, l, h.log), h.carryOut
				go func() {
					time.Sleep(time.Second)
					l.send(h.ctx, event.Command{Client: "op1", Group: "safety", Verb: "enable", Payload: []byte(c.payload)})
				}()
				ctx, end := context.WithTimeout(h.ctx, 20*time.Second)
				defer end()
				if err := l.run(ctx, time.Second, nil); err != nil {
					t.Fatal(err)
				}
				if !suspended {
					t.Fatal("the robot was never enabled")
				}
				if led.says("order run") != c.runs {
					t.Errorf("ran %v, want %v; %q", !c.runs, c.runs, led.lines)
				}
			})
		})
	}
}

// TestSuspendedStepBeginsNoHoming suspends the process in the step that lets an enabled robot calibrate. In DISABLED
// the units wait for safety/enable with it, as at boot.
func TestSuspendedStepBeginsNoHoming(t *testing.T) {
	for _, c := range []struct {
		enabled   bool
		suspended time.Duration
		begins    bool
	}{
		{true, 300 * time.Millisecond, true},
		{true, 6 * time.Second, false},
		{false, 6 * time.Second, true},
	} {
		t.Run(fmt.Sprint(c.enabled, c.suspended), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				h, led := newWriting(t)
				begun := 0 // calibrations
				l, _ := guardedLoop(t, twoMovers, func(call mode.Call) mode.Refusal {
					if call.Notice == (mode.CalibrationOrdered{}) {
						if begun++; begun == 2 { // the first one is that of boot
							time.Sleep(c.suspended)
						}
					}
					return mode.Unguarded(call)
				})
				l.log, h.loop, h.writer.loop, h.mqtt.loop = h.log, l, l, l
				h.body, h.latches, l.carryOut = &orderedBody{led: led}, newLatchWriter(h.ctx, led, l, h.log), h.carryOut
				go func() {
					time.Sleep(time.Second)
					if c.enabled {
						l.send(h.ctx, event.Command{Client: "op1", Group: "safety", Verb: "enable", Payload: []byte(`{}`)})
						time.Sleep(time.Second)
					}
					l.send(h.ctx, event.Command{Client: "op1", Group: "mode", Verb: "set", Payload: []byte(`{"id":"m1","args":{"mode":"str"}}`)})
				}()
				ctx, end := context.WithTimeout(h.ctx, 20*time.Second)
				defer end()
				if err := l.run(ctx, time.Second, nil); err != nil {
					t.Fatal(err)
				}
				if begun != 2 {
					t.Fatalf("%d calibrations, want that of boot and the requested one", begun)
				}
				if led.says("calibrate 2") != c.begins {
					t.Errorf("the second calibration began: %v, want %v; %q", !c.begins, c.begins, led.lines)
				}
				status := schema.StatusSucceeded
				if !c.begins {
					status = schema.StatusFailed
				}
				if got := led.kept["op1/m1"].Answer; got.Status != status {
					t.Errorf("the command ended with %q (%s), want %q", got.Status, got.Detail, status)
				}
			})
		})
	}
}

// TestStopIsCarriedOutBeforeItIsPublished has an event of the stop come first among the effects, while the disk
// hangs with an earlier event.
func TestStopIsCarriedOutBeforeItIsPublished(t *testing.T) {
	h, led := newWriting(t)
	h.body = &orderedBody{led: led}
	stopped := effect.Publish{Topic: schema.TopicEvent, Payload: []byte("stopped")}
	earlier := effect.Publish{Topic: schema.TopicEvent, Payload: []byte("earlier")}
	led.hang = make(chan struct{})
	h.step([]effect.Effect{effect.SaveEvent{Payload: []byte("earlier")}, earlier})
	h.step([]effect.Effect{first(stopped), effect.Order{Order: driver.ToStop}, first(state(1))})
	close(led.hang)
	h.writer.in.close()
	<-h.writer.done
	led.mu.Lock()
	defer led.mu.Unlock()
	if want := []string{"order stop", "event earlier", "event stopped", "state 1", "kept 1"}; !slices.Equal(led.lines, want) {
		t.Errorf("it did %q, want %q", led.lines, want)
	}
}
