package robot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/robotd/download"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/report"
	"troupe/schema"
)

// effectRunner carries out the effects of the robot's steps.
type effectRunner struct {
	ctx context.Context // ends when the loop does
	log *slog.Logger

	loop    *loop
	body    driver.Driver
	link    *link.Link
	stops   *link.Link // see openStopLink; nil if there is none
	mqtt    *mqttTranslator
	writer  *writer
	latches *latchWriter
	fetcher *fetcher

	localLog *localLog
	local    *local

	downloads *downloads
	calls     *calls
	exports   *exports

	work sync.WaitGroup // goroutines that send events to the loop

	published   int64 // publications so far
	batch       batch // what the steps since the newest one in the queue of the writer save and publish
	calibrating context.CancelFunc
	calibrated  chan struct{} // closed when the newest calibration has returned
}

// carryOut carries out the effects of one step: commands to the body first, then urgent publications, and everything
// else in goroutines that may block. While more steps follow at once, what is to be saved and
// published waits for them, so that one event makes one commit. What permits motion is not carried out after the time
// that the step had for it.
func (h *effectRunner) carryOut(effects []effect.Effect, more bool) {
	var b batch
	var urgent []numberedPublish
	for _, e := range effects {
		if h.loop.withholds(e) {
			if e, ok := e.(effect.Calibrate); ok {
				h.failCalibration(e)
			}
			continue
		}
		h.localLog.take(e)
		h.loop.flight.effect(e)
		switch e := e.(type) {
		case effect.SetLocalLog: // for the log on the robot
		case effect.Order:
			h.body.Order(e.Order)
		case effect.Start:
			h.body.Start(e.Command)
		case effect.Stop:
			h.body.Stop(e.Key)
		case effect.Move:
			h.body.Move(e.Velocity)
		case effect.Feed:
			h.body.Feed()
		case effect.Calibrate:
			h.calibrate(e)
		case effect.EndCalibration:
			h.endCalibration()
		case effect.SaveLatches:
			h.latches.put(e)
		case effect.Save:
			b.saves = append(b.saves, e)
			h.local.happened(e)
		case effect.ReadHistory:
			b.reads = append(b.reads, e.Key)
		case effect.Publish:
			h.published++
			p := numberedPublish{Publish: e, n: h.published}
			if e.Topic == schema.TopicEvent {
				h.writer.addEvent(p)
			}
			if e.First {
				urgent = append(urgent, p)
			} else {
				b.publish = append(b.publish, p)
			}
		case effect.Snapshot:
			h.local.snapshot(e)
		case effect.Reconnect:
			reason := link.ErrHalfOpen
			if e.NextBroker {
				reason = link.ErrNextBroker
			}
			h.link.ReplaceSession(fmt.Errorf("%w: %s", reason, e.Why))
		case effect.Fetch:
			if e.File {
				h.downloads.fetch(download.File{SHA256: e.SHA256, Size: e.Size})
			} else {
				h.fetcher.fetch(e.SHA256)
			}
		case effect.EndFetch:
			if !h.downloads.end(e.SHA256) {
				h.fetcher.end(e.SHA256)
			}
		case effect.Call:
			h.calls.begin(e)
		case effect.EndCall:
			h.calls.end(e.ID)
		case effect.ExportRecord:
			h.exports.begin(e)
		case effect.LogTransition:
			h.note(e)
		case effect.LogAlert:
			h.logAlert(e)
		case effect.Exit:
			h.log.Info("the robot is at rest; robotd ends", "why", e.Why)
		default:
			panic(fmt.Sprintf("robot: no such effect: %T", e))
		}
	}
	for _, p := range urgent { // past the save queue, unless the connection's send queue is full
		if errors.Is(h.writer.atOnce(p), context.Canceled) {
			b.publish = append(b.publish, p)
		}
	}
	b.markNeedsSave()
	if h.batch.join(b); !more && !h.batch.empty() {
		h.writer.in.put(h.batch)
		h.batch = batch{}
	}
}

// note logs a transition of a state machine. A transition back to the same state is
// frequent, such as the next act of a story, and is logged at debug level; so is what
// the driver has logged already.
func (h *effectRunner) note(n effect.LogTransition) {
	level := slog.LevelInfo
	if n.From == n.To || n.LoggedByDriver {
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{slog.String("why", n.Why)}
	if n.Cause != "" {
		attrs = append(attrs, slog.String("cause", n.Cause))
	}
	h.log.LogAttrs(h.ctx, level, n.Machine+": "+n.From+" -> "+n.To, attrs...)
}

// logAlert logs an alert with its hint.
func (h *effectRunner) logAlert(a effect.LogAlert) {
	level := slog.LevelWarn
	switch {
	case a.LoggedByDriver:
		level = slog.LevelDebug
	case a.Level == schema.AlertInfo:
		level = slog.LevelInfo
	}
	h.log.LogAttrs(h.ctx, level, "alert: "+a.Detail, slog.String("type", a.Type), slog.String("source", a.Source), slog.String("hint", a.Hint))
}

// listen sends the body's reports to the loop, until the driver is closed.
func (h *effectRunner) listen() {
	for ev := range h.body.Events() {
		if ev.Kind == driver.Sensed && ev.Signal == driver.EStopInput {
			h.loop.stop(h.ctx, event.Reported{Event: ev})
			continue
		}
		h.loop.send(h.ctx, event.Reported{Event: ev})
	}
}

// calibrate runs one calibration. It first cancels an earlier one and waits for its end,
// because a body runs one calibration at a time.
func (h *effectRunner) calibrate(order effect.Calibrate) {
	h.endCalibration()
	ctx, cancel := context.WithCancel(h.ctx)
	earlier, done := h.calibrated, make(chan struct{})
	h.calibrating, h.calibrated = cancel, done
	h.work.Go(func() {
		defer close(done)
		if earlier != nil {
			<-earlier
		}
		c, err := h.body.Calibrate(ctx, order.Map)
		h.loop.send(h.ctx, event.CalibratedOf(order.Run, order.Map, c, err))
	})
}

// failCalibration reports the end of a calibration that was withheld, so that its mode does not wait for it.
func (h *effectRunner) failCalibration(order effect.Calibrate) {
	h.endCalibration()
	h.work.Go(func() {
		h.loop.send(h.ctx, event.Calibrated{Run: order.Run, Map: order.Map, Reason: schema.ReasonStopped,
			Detail: "robotd stood still for too long just when the calibration was to begin"})
	})
}

func (h *effectRunner) endCalibration() {
	if h.calibrating != nil {
		h.calibrating()
		h.calibrating = nil
	}
}

// logFailure logs that a step failed.
func (h *effectRunner) logFailure() {
	h.log.Error("step failed; units ordered to go to error")
}

// farewell is the robot's last presence. After a failure it does not announce when the robot
// will be started again.
func (h *effectRunner) farewell(err error, wake Wake) func(session string) link.Message {
	return func(session string) link.Message {
		now := time.Now()
		at, sleeps := wake.Next(now)
		switch {
		case errors.Is(err, ErrReboot):
			return h.mqtt.presence(report.FarewellOf(session, h.mqtt.boot, "reboot", schema.TimeOf(now)))
		case err != nil:
			return h.mqtt.presence(report.FarewellOf(session, h.mqtt.boot, "failed", schema.TimeOf(now)))
		case sleeps:
			return h.mqtt.presence(report.SleepOf(session, h.mqtt.boot, "shutdown", schema.TimeOf(now), schema.TimeOf(at)))
		}
		return h.mqtt.presence(report.FarewellOf(session, h.mqtt.boot, "shutdown", schema.TimeOf(now)))
	}
}

func wallNow() schema.Time { return schema.TimeOf(time.Now()) }
