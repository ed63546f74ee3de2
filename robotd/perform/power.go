package perform

import (
	"strconv"
	"time"

	"troupe/robotd/interrupt"
	"troupe/schema"
)

// charged reports whether a battery that was low is charged enough.
func (t Step) charged() bool {
	b := t.Battery
	return b.Known && b.Share >= t.cfg.Charged
}

// askPowerAgain is the interval at which a battery that is still low requests its handler,
// whatever happened before.
const askPowerAgain = 5 * time.Minute

// Power is the interrupter that watches the battery.
func (t Step) Power() {
	b := t.Battery
	low := b.Known && !b.Charging && b.Share < t.cfg.LowBattery
	switch {
	case !low && t.low:
		t.low = false
		t.Out.Clear("battery_low", interrupt.PowerInterrupter)
	case low && !t.low:
		t.low, t.askPower = true, 0
		t.Out.Raise("battery_low", schema.AlertWarn, interrupt.PowerInterrupter,
			"the battery is below "+strconv.Itoa(int(t.cfg.LowBattery*100))+" %", "let the robot charge")
	}
	if t.auto.Status == schema.AutoHalt {
		t.askPower = 0
		return
	}
	if low && t.Now.Mono >= t.askPower {
		t.askPower = t.Now.Mono + askPowerAgain
		t.Request("power", interrupt.PowerInterrupter)
	}
}

// Request requests a handler, without an answer.
func (s *State) Request(handler, interrupter string) {
	s.toQueue.Add(queueInput{Input: interrupt.Input{What: interrupt.Request, Handler: handler, Interrupter: interrupter}})
}
