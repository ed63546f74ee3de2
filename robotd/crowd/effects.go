package crowd

import (
	"bytes"
	"fmt"
	"time"

	"troupe/broker/link"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/wire"
	"troupe/schema"
)

// carryOut carries out the effects of one step. What a disk, a body or the network reports of them is given to the robot next.
// The journal is in memory, so everything is saved when it is published.
func (r *robot) carryOut(effects []effect.Effect) {
	for _, e := range effects {
		if e, ok := e.(effect.Publish); ok && e.First {
			r.send(e)
		}
	}
	for _, e := range effects {
		switch e := e.(type) {
		case effect.Publish:
			if !e.First {
				r.send(e)
			}
		case effect.Order:
			r.body.Order(e.Order)
		case effect.Start:
			r.body.Start(e.Command)
		case effect.Stop:
			r.body.Stop(e.Key)
		case effect.Move:
			r.body.Move(e.Velocity)
		case effect.Feed:
			r.body.Feed()
		case effect.Calibrate:
			r.calib.run, r.calib.of = e.Run, e.Map
			r.body.BeginCalibration(e.Map)
		case effect.EndCalibration:
			if r.body.EndCalibration() {
				r.later(event.Calibrated{Run: r.calib.run, Map: r.calib.of, Reason: schema.ReasonStopped, Detail: "calibration was ended"})
			}
		case effect.SaveRequests, effect.SaveValue, effect.SaveContent, effect.SaveEvent, effect.SaveLatches:
			if ev := r.journal.save(e, r.crowd().blobs.shareBlob); ev != nil {
				r.later(ev)
			}
		case effect.ReadHistory:
			r.later(event.HistoryRead{Key: e.Key, Events: r.journal.events})
		case effect.Fetch:
			if e.File {
				r.later(event.Fetched{SHA256: e.SHA256, Reason: schema.ReasonUnavailable,
					Detail: "robots of robotd sim fetch no files that are larger than a blob"})
			} else {
				r.fetch(e.SHA256)
			}
		case effect.EndFetch:
			r.endFetch(e.SHA256)
		case effect.Call:
			r.later(event.Called{ID: e.ID, Reason: schema.ReasonUnavailable, Detail: "robots of robotd sim make no HTTP calls"})
		case effect.ExportRecord:
			r.later(event.RecordExported{Reason: schema.ReasonUnavailable, Detail: "robots of robotd sim have no flight recorder"})
		case effect.Reconnect:
			if r.phase == up {
				c := r.conn
				r.disconnect()
				if r.conn == c { // the reader ends with it; the robot goes on with another one
					r.lost(fmt.Errorf("%w: %s", link.ErrHalfOpen, e.Why), r.shard.now())
				}
			}
		case effect.Exit:
			again := time.Duration(0)
			if e.Again {
				again = r.shard.now() + jitter(restartTime)
			}
			r.flush()
			r.leave(map[bool]string{true: "reboot", false: "shutdown"}[e.Again], again)
			return
		}
	}
}

// restartTime is how long a robot takes to start again, as of a computer that boots.
const restartTime = 5 * time.Second

// What an answer has that refuses a command, or says that it failed. To find it is cheaper than to decode each one.
var rejected, failed = []byte(`"status":"` + schema.StatusRejected + `"`), []byte(`"status":"` + schema.StatusFailed + `"`)

// send publishes, or takes an answer to a command of the robot's own page.
func (r *robot) send(p effect.Publish) {
	if p.Topic == schema.TopicAck && p.Confirm != "" {
		r.shard.own.Answered++
		if bytes.Contains(p.Payload, rejected) || bytes.Contains(p.Payload, failed) {
			r.shard.own.Rejected++
		}
	}
	if p.Topic == schema.TopicAck && p.Param == schema.LocalClient {
		if p.Confirm != "" {
			r.later(event.Delivered{Key: p.Confirm})
		}
		return
	}
	if r.phase != up {
		return // the next session publishes every document again, and answers wait in the journal
	}
	id := r.publish(wire.Message(r.crowd().cfg.Namespace, r.id, p.Topic, p.Param, p.Payload))
	if p.Confirm == "" {
		return
	}
	now := r.shard.now()
	for len(r.confirms) > 0 && (len(r.confirms) >= mostConfirms || now-r.confirms[0].at > confirmTime) {
		r.confirms = r.confirms[1:] // unconfirmed; the next session publishes it again
	}
	r.confirms = append(r.confirms, confirm{id: id, key: p.Confirm, at: now})
}
