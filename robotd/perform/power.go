package perform

import (
	"strconv"
	"time"

	"troupe/robotd/interrupt"
	"troupe/schema"
)

// charged reports whether a low battery is full enough again.
func (t Step) charged() bool {
	b := t.Battery
	return b.Known && b.Share >= t.cfg.Charged
}

// askPowerAgain is after how long a battery that is still low asks for its handler again,
// whatever became of the first time.
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

// Request asks for a handler; nobody is answered.
func (s *State) Request(handler, interrupter string) {
	s.toQueue.Add(queueInput{Input: interrupt.Input{What: interrupt.Request, Handler: handler, Interrupter: interrupter}})
}
