package bus

import (
	"context"
	"errors"
	"slices"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/bus"
)

// calibration is a running calibration: the parts of the adapters that calibrate.
type calibration struct {
	key     uint64
	answer  chan driver.Calibration
	waiting []*adapter // whose part is not done
	result  driver.Calibration
}

// firstCalibration is the key of the first calibration: keys of commands, also of those of modes,
// are below, and schema refuses integers beyond 1<<53.
const firstCalibration = 1 << 52

var (
	errClosed  = errors.New("calibrate the body on the bus: it is closed")
	errRunning = errors.New("calibrate the body on the bus: a calibration runs already, or the body is not open")
)

// Calibrate lets the adapters home their units and load the map.
func (b *Bus) Calibrate(ctx context.Context, m driver.Map) (driver.Calibration, error) {
	c := &calibration{answer: make(chan driver.Calibration, 1)}
	taken := make(chan bool, 1)
	if !b.enqueue(false, func() { taken <- b.beginCalibration(c, m) }) {
		return driver.Calibration{}, errClosed
	}
	select {
	case ok := <-taken:
		if !ok {
			return driver.Calibration{}, errRunning
		}
	case <-b.closed:
		return driver.Calibration{}, errClosed
	}
	select {
	case result := <-c.answer:
		return result, nil
	case <-ctx.Done():
		b.enqueue(false, func() { b.endCalibration(c) })
		return driver.Calibration{}, ctx.Err()
	case <-b.closed:
		return driver.Calibration{}, errClosed
	}
}

func (b *Bus) beginCalibration(c *calibration, m driver.Map) bool {
	if b.calib != nil || !b.isReady {
		return false
	}
	b.calibs++
	b.calib, c.key = c, firstCalibration+b.calibs
	order := bus.Calibrate{V: bus.Version, Key: c.key}
	if m.SHA256 != "" {
		order.Map = &bus.Map{Name: m.Name, SHA256: m.SHA256}
	}
	for _, a := range b.adapters {
		if a.watch.described.Calibrates && a.watch.health == good && b.publish(bus.In(a.name, bus.InCalibrate), 1, order) {
			c.waiting = append(c.waiting, a)
		}
	}
	b.finishCalibration()
	return true
}

// endCalibration ends a calibration that nobody waits for any more.
func (b *Bus) endCalibration(c *calibration) {
	if b.calib != c {
		return
	}
	b.calib = nil
	for _, a := range c.waiting {
		b.publish(bus.In(a.name, bus.InStop), 1, bus.Stop{V: bus.Version, Key: c.key})
	}
}

// calibrated takes the result of an adapter.
func (b *Bus) calibrated(a *adapter, e *bus.Event) {
	c := b.calib
	if c == nil || e.Key != c.key || !slices.Contains(c.waiting, a) {
		return
	}
	for _, u := range e.Units {
		if u.Reason != "" {
			c.result.Units = append(c.result.Units, driver.Calibrated{Unit: u.Unit, Reason: u.Reason, Detail: u.Detail})
		}
	}
	if e.Map != nil && c.result.Map.Reason == "" {
		points := append(c.result.Map.Points, e.Map.Points...)
		slices.Sort(points)
		c.result.Map = driver.MapResult{Points: points, Reason: e.Map.Reason, Detail: e.Map.Detail}
	}
	b.endPart(a)
}

// endPartOf ends the part of an adapter that was lost.
func (b *Bus) endPartOf(a *adapter, why string) {
	if c := b.calib; c != nil && slices.Contains(c.waiting, a) {
		for _, u := range a.units {
			c.result.Units = append(c.result.Units, driver.Calibrated{Unit: u.about.ID, Reason: schema.ReasonUnitError, Detail: why})
		}
		b.endPart(a)
	}
}

func (b *Bus) endPart(a *adapter) {
	b.calib.waiting = slices.DeleteFunc(b.calib.waiting, func(w *adapter) bool { return w == a })
	b.finishCalibration()
}

// finishCalibration answers when no adapter is waited for. Each unit has a result.
func (b *Bus) finishCalibration() {
	c := b.calib
	if len(c.waiting) > 0 {
		return
	}
	b.calib = nil
	result := driver.Calibration{Map: c.result.Map}
	for _, about := range b.body.Units {
		i := slices.IndexFunc(c.result.Units, func(r driver.Calibrated) bool { return r.Unit == about.ID })
		if i >= 0 {
			result.Units = append(result.Units, c.result.Units[i])
			continue
		}
		done := driver.Calibrated{Unit: about.ID}
		if _, u := b.find(about.ID); u.shown.Detail != "" {
			done.Reason, done.Detail = schema.ReasonUnitError, u.shown.Detail
		}
		result.Units = append(result.Units, done)
	}
	c.answer <- result
}
