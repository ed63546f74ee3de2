package cli

import (
	"strings"
	"time"
)

// key is a key of driving.
type key byte

const (
	keyForwards  key = 'w'
	keyBackwards key = 's'
	keyLeft      key = 'a'
	keyRight     key = 'd'
	keyStand     key = ' '
	keyQuit      key = 'q'
)

// arrows are the sequences that a terminal sends for arrow keys.
var arrows = []struct {
	text string
	key  key
}{
	{"\x1b[A", keyForwards}, {"\x1b[B", keyBackwards}, {"\x1b[D", keyLeft}, {"\x1b[C", keyRight},
	{"\x1bOA", keyForwards}, {"\x1bOB", keyBackwards}, {"\x1bOD", keyLeft}, {"\x1bOC", keyRight},
}

// keysOf returns the keys in what a terminal sent. A key that is not one of driving stands
// still; Escape, Ctrl-C and Ctrl-D quit.
func keysOf(sent []byte) (all []key) {
next:
	for text := string(sent); text != ""; {
		for _, a := range arrows {
			if rest, ok := strings.CutPrefix(text, a.text); ok {
				all, text = append(all, a.key), rest
				continue next
			}
		}
		k := key(strings.ToLower(text[:1])[0])
		switch k {
		case keyForwards, keyBackwards, keyLeft, keyRight:
		case keyQuit, 0x1b, 0x03, 0x04:
			k = keyQuit
		default:
			k = keyStand
		}
		all, text = append(all, k), text[1:]
	}
	return all
}

const (
	// firstFor is how long a key drives that was pressed once: terminals repeat a held key
	// after at most that long.
	firstFor = 500 * time.Millisecond
	// repeatedFor is how long it drives after each repetition.
	repeatedFor = 200 * time.Millisecond
	// barredFactor makes a velocity so small that a robot which follows it hardly moves.
	barredFactor = 1e-3
	// presentFor is how long after the newest key a person counts as present.
	presentFor = 90 * time.Second
)

// driveKeys is what the keys of a terminal mean for a robot. It is a dead man's switch: without
// keys the robot stands.
type driveKeys struct {
	speed, turn float64 // m/s, rad/s

	last   key
	until  time.Time
	barred bool // fleetd stopped the robot, and the key has been held since

	pressedAt time.Time // when control was taken, or the newest key came
}

// present reports whether a person is at the keyboard, whose control may be renewed.
func (d *driveKeys) present(now time.Time) bool { return now.Sub(d.pressedAt) <= presentFor }

// stopped notes that fleetd stopped the robot. fleetd takes a zero velocity for a released key, so
// a key that is held asks for a little, which fleetd refuses, until it was not repeated for firstFor.
func (d *driveKeys) stopped(now time.Time) {
	if now.Before(d.until) {
		d.barred, d.until = true, now.Add(firstFor)
	}
}

// press takes a key.
func (d *driveKeys) press(k key, now time.Time) {
	d.pressedAt = now
	switch {
	case k == keyStand || k == keyQuit:
		d.until = time.Time{}
	case k == d.last && now.Before(d.until) && !d.barred:
		d.until = now.Add(repeatedFor)
	default:
		d.until = now.Add(firstFor)
	}
	d.last = k
}

// velocity is what the robot shall do now.
func (d *driveKeys) velocity(now time.Time) (vx, wz float64) {
	if !now.Before(d.until) {
		d.barred = false
		return 0, 0
	}
	speed, turn := d.speed, d.turn
	if d.barred {
		speed, turn = speed*barredFactor, turn*barredFactor
	}
	switch d.last {
	case keyForwards:
		return speed, 0
	case keyBackwards:
		return -speed, 0
	case keyLeft:
		return 0, turn
	case keyRight:
		return 0, -turn
	}
	return 0, 0
}
