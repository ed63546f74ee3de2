// Package act performs acts: it decides on each tick which actions start and stop
// on which units, and how the act ended.
//
// There are lanes for the shutdown act and what is said in E_STOP, for manual commands, for
// each handler, for the focused activity, for the story and for each kind of unit that
// abilities use. A lane is a queue of entries and
// performs one act at a time. Lanes share only the units: a unit has one owning lane at a
// time; a higher lane takes it from a lower one, and a lower one waits. All results are
// values: Start and Stop are for the units, Began, Ended and Warned for the component that
// pushed the act.
//
// Time is counted from boot and is an argument. Every transition between two
// ticks is processed at its own instant, in order, so that the duration of an act
// does not depend on the tick interval. Commands to units are emitted with the
// tick.
//
// The package does not choose acts, knows neither modes nor messages, and does no
// I/O: its owner passes Start and Stop to a driver and the driver's reports to
// Reported. Every Start with Holds ends exactly once, by its Stop or by the unit's
// report. One goroutine owns an Executor.
//
// How time passes in an act:
//   - A group has one clock, however many of its actions run. Only a running
//     exclusive child freezes it. An exclusive child that is due while others run
//     waits, and the clock goes on.
//   - An action with end_ms lasts exactly that long, and its unit gets the command
//     even if that is shorter than a tick. An action with timeout_ms lasts until
//     the unit reports. An action with neither is complete at once; what its unit
//     still does (speech, a sound, a motion) belongs to the act, which ends when
//     the unit is done, too.
//   - An action that cannot start yet is deferred and then lasts its full time.
//     It never fails the act because of a sibling.
package act
