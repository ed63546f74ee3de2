package robot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"troupe/robotd/download"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/recorder"
	"troupe/schema"
)

// exports sends extracts of the flight recorder to fleetd, in goroutines of their own, so that
// the loop waits for nothing. The loop begins one at a time.
type exports struct {
	ctx      context.Context // ends when the loop does
	recorder *recorder.Recorder
	fleetd   func() (*download.Fleetd, error)
	loop     *loop
	log      *slog.Logger
	work     sync.WaitGroup
}

func (x *exports) begin(e effect.ExportRecord) {
	from := time.Now().Add(-e.Last)
	x.work.Go(func() {
		ev, err := x.send(e.To, from)
		if err != nil {
			ev = failedExport(err, e.Last)
			x.log.Warn("flight record not sent", "last", e.Last, "error", err)
		}
		x.loop.send(x.ctx, ev)
	})
}

func (x *exports) send(to string, from time.Time) (ev event.RecordExported, err error) {
	if x.recorder == nil {
		return ev, errNoRecorder
	}
	fleetd, err := x.fleetd()
	if err != nil {
		return ev, &download.Failure{Reason: schema.ReasonUnavailable, Detail: err.Error() + "; robotd's setting fleetd says where it is"}
	}
	f, records, err := x.recorder.Extract(x.ctx, from, schema.MaxRecordBytes)
	if err != nil {
		return ev, err
	}
	defer f.Close() // this removes the file, which has no name
	info, err := f.Stat()
	if err != nil {
		return ev, err
	}
	return event.RecordExported{Records: records, Bytes: info.Size()}, fleetd.Send(x.ctx, to, f, info.Size())
}

var errNoRecorder = errors.New("the flight recorder of this robot is off; robotd records unless recorder_mib is 0")

// failedExport is the end of an export that failed.
func failedExport(err error, last time.Duration) event.RecordExported {
	no := func(r schema.Reason, detail string) event.RecordExported {
		return event.RecordExported{Reason: r, Detail: detail}
	}
	var why *download.Failure
	switch {
	case errors.As(err, &why):
		return no(why.Reason, why.Detail)
	case errors.Is(err, errNoRecorder):
		return no(schema.ReasonUnavailable, err.Error())
	case errors.Is(err, recorder.ErrNothing):
		return no(schema.ReasonUnavailable, fmt.Sprintf("in the last %v %v; ask for a longer time", last, err))
	case errors.Is(err, recorder.ErrTooBig):
		return no(schema.ReasonTooBig, fmt.Sprintf("the last %v are more than %d MiB; ask for a shorter time", last, schema.MaxRecordBytes>>20))
	case errors.Is(err, recorder.ErrNoRoom), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return no(schema.ReasonNoSpace, err.Error()+"; robotd record export on the robot writes to another disk")
	}
	return no(schema.ReasonInternal, err.Error())
}

// close waits for the end of what was begun, once ctx has ended.
func (x *exports) close() { x.work.Wait() }
