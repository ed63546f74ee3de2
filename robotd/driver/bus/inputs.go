package bus

import (
	"maps"
	"slices"

	"troupe/robotd/driver"
	"troupe/schema/bus"
)

// confirmTicks is how long an adapter that was lost has worked again until a stop input that it has
// not reported as pressed since counts as released.
const confirmTicks = healTicks

// inputChanged takes what an adapter reports of a stop input, also before the body is open and while
// the adapter is in error: a person who presses it must always stop the robot.
func (b *Bus) inputChanged(a *adapter, e *bus.Event) {
	was := b.isPressed(e.Name)
	if e.On {
		a.inputs[e.Name] = true
	} else {
		delete(a.inputs, e.Name)
	}
	b.reportInput(e.Name, was)
}

// isPressed reports whether any adapter has reported a stop input as pressed.
func (b *Bus) isPressed(input string) bool {
	return slices.ContainsFunc(b.adapters, func(a *adapter) bool {
		_, pressed := a.inputs[input]
		return pressed
	})
}

// reportInput reports a stop input that was pressed, or was not, if that has changed.
func (b *Bus) reportInput(input string, was bool) {
	if is := b.isPressed(input); is != was {
		b.out.Push(driver.Event{Kind: driver.Sensed, Signal: driver.EStopInput, Name: input, On: is})
	}
}

// loseInputs marks the stop inputs of an adapter that was lost: they count as pressed until the
// adapter is back, and then it has to report again those that are.
func (a *adapter) loseInputs() {
	for input := range a.inputs {
		a.inputs[input] = false
	}
	a.works = 0
}

// confirmInputs counts the ticks for which an adapter works, and then releases the stop inputs that
// it has not reported again.
func (b *Bus) confirmInputs(a *adapter) {
	if a.watch.health != good {
		a.works = 0
		return
	}
	if a.works++; a.works != confirmTicks {
		return
	}
	for _, input := range slices.Sorted(maps.Keys(a.inputs)) {
		if !a.inputs[input] {
			delete(a.inputs, input)
			b.reportInput(input, true)
		}
	}
}
