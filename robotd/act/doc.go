// Package act performs acts: it decides, tick by tick, which action of which
// act is told to which unit, when it ends, and how the act ended.
//
// There is one lane per occupant of the robot (story, each handler, manual).
// A lane is a queue of entries and performs one act at a time. Lanes meet only at the
// units: a unit has one owning lane at a time, a higher lane takes it, a lower
// one waits. Everything is answered by values: Start and Stop are for the
// units, Ended and Warned for whoever asked for the act.
//
// Time is counted from boot and is an argument. Between two ticks every edge is
// taken at its own instant, in order, so that an act lasts equally long whatever
// the ticks are; what a unit is told leaves with the tick.
//
// It chooses no act, knows neither modes nor messages, and does no I/O: the
// owner hands Start and Stop to a driver and brings the driver's report back
// with Done. Every Start with Holds is ended exactly once: by its Stop or by the
// unit's report. An Executor belongs to one goroutine.
//
// How an act's time runs:
//   - A group's clock moves once, however many of its actions run. Only an
//     exclusive child freezes it, and only while it runs; an exclusive child that
//     meets others running waits, and the clock goes on.
//   - An action with end_ms lasts exactly so long, and its unit is told of it
//     even when that is shorter than a tick. One with timeout_ms lasts until the
//     unit reports. One with neither is complete at once; what its unit still does (speech, a sound,
//     a motion) belongs to the act, which is over when the unit is done too.
//   - What cannot start yet is deferred and then lasts its full time; it never
//     fails the act for meeting a sibling.
package act
