package check

import (
	"troupe/schema"
)

// rule is one rule of the contract. Those without try are watched while the others are
// tried.
type rule struct {
	name    string
	says    string
	moves   bool // it makes units move
	applies func(c *checker) bool
	cannot  func(c *checker) string // returns why it cannot be tried, if set
	try     func(c *checker) string // returns what breaks it
}

// rules are all rules, in the order in which they are tried: calibration comes before what
// moves, since units that have to be homed carry out nothing before.
var rules = []rule{
	{name: "contract", says: "every message is on a topic of the contract, and JSON as it has it"},
	{name: "units-of-measure", says: "every number is in its unit of measure"},
	{name: "session", says: "everything has the session of the presence"},
	{name: "states", says: "a state comes every state_ms, whatever happens", try: sendsStates},
	{name: "time", says: "seq and t_ms never go back"},
	{name: "rate", says: "at most 500 messages come in a second"},
	{name: "permission", says: "no unit reports run or a set-point without permission, and only reset ends error", applies: hasMovingUnit},
	{name: "starts-idle", says: "a unit that moves waits in idle", applies: hasMovingUnit, try: waitsIdle},
	{name: "disabled", says: "a start for a unit that is not in run fails with safety_disabled, and a velocity is ignored",
		applies: hasMovingUnit, try: refusesDisabled},
	{name: "orders", says: "run enables, stop and idle lead to idle, halt and error to error, reset to idle", applies: hasMovingUnit,
		try: obeysOrders},
	{name: "unknown-order", says: "an unknown order grants no permission", applies: hasMovingUnit, try: unknownOrder},
	{name: "error-stays", says: "only reset ends error", applies: hasMovingUnit, try: errorStays},
	{name: "order-stays", says: "a unit in run that stands stays in run, also without ticks", applies: hasMovingUnit, try: staysInForce},
	{name: "robotd-gone", says: "when robotd is gone, what is in run is in error at once", applies: hasMovingUnit, try: robotdGone},
	// This one may move units although it tries idle: an adapter that does not end the calibration homes when a later rule orders run.
	{name: "homes-in-run", says: "a calibration that moves units waits until they are in run", moves: true,
		applies: func(c *checker) bool { return c.about.Calibrates && len(c.about.Homing) > 0 }, try: homesInRun},
	{name: "calibrates", says: "a calibration is answered once, and a map that is not there with bad_map", moves: true,
		applies: func(c *checker) bool { return c.about.Calibrates }, try: calibrates},
	{name: "actions", says: "every unit that does not move carries out an action and answers done", applies: shows, try: carriesOut},
	{name: "turns", says: "a head turns to angles that it describes, and answers done", moves: true, applies: hasHead, try: turns},
	{name: "head-stops", says: "the order stop ends the turning of a head", moves: true, applies: hasHead, cannot: noAngles, try: headStops},
	{name: "head-watchdog", says: "a head that turns and gets no tick for 200 ms stops by itself, in error", moves: true, applies: hasHead,
		cannot: noAngles, try: headWatchdog},
	{name: "led-colour", says: "an led takes a pattern without a colour", applies: hasLED, try: ledWithoutColour},
	{name: "sound-beside-speech", says: "a sound beside speech does not end it", applies: speaksAndPlays, try: soundBesideSpeech},
	{name: "supersedes", says: "a newer speech ends the running one, which fails with superseded", applies: speaks, try: supersedes},
	{name: "later-release", says: "fields that it does not know are ignored", applies: shows, try: unknownFields},
	{name: "answers-once", says: "each start is answered once, also if it comes twice", applies: shows, try: answersOnce},
	{name: "refuses", says: "what a unit cannot do is refused with a reason and a sentence", try: refuses},
	{name: "stopped", says: "a start that was stopped is not answered", applies: shows, try: notAnswered},
	{name: "garbage", says: "a message that is no JSON changes nothing", try: garbage},
	{name: "drives", says: "a velocity moves the drive", moves: true, applies: hasDrive, try: drivesOn},
	{name: "ttl", says: "a velocity ends after its ttl_ms", moves: true, applies: hasDrive, try: velocityEnds},
	{name: "start-ends-velocity", says: "the next start for the drive ends a velocity", moves: true, applies: hasDrive,
		try: startEndsVelocity},
	{name: "clamped", says: "a velocity beyond the limits is clamped", moves: true, applies: hasDrive, try: clamped},
	{name: "brakes", says: "the order stop brakes to standstill", moves: true, applies: hasDrive, try: brakes},
	{name: "watchdog", says: "a drive that moves and gets no tick for 200 ms stops by itself, in error with a fault", moves: true,
		applies: hasDrive, try: watchdog},
	{name: "watchdog-ends", says: "the fault of its watchdog ends at standstill, and reset ends the error", moves: true, applies: hasDrive,
		try: watchdogEnds},
	{name: "nothing-by-itself", says: "after reset and run nothing moves by itself", moves: true, applies: hasDrive, try: nothingByItself},
}

func hasMovingUnit(c *checker) bool {
	for _, u := range c.about.Units {
		if u.Kind.Moves() {
			return true
		}
	}
	return false
}

func hasDrive(c *checker) bool {
	for _, u := range c.about.Units {
		if u.Kind == schema.UnitDrive {
			return true
		}
	}
	return false
}
