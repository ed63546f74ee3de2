// Package brain is the whole robot in one function.
//
//	broker ── link ──┐ commands, desired documents,          ┌── Publish ── link ── broker
//	                 │ heartbeats                 │
//	body ─── driver ─┤ reports, signals   State   ├── Drive ──── driver ─ body
//	                 ├──── Event ──────── Step ───┤
//	disk ────────────┤ saved, loaded     Effects  ├── Save ───── disk
//	clock ───────────┘ tick                       └── Note ───── log
//
// Step takes one event and the time, changes the State it is given and appends
// what is to be done. It decides alone: the same state, times and events give
// the same effects. It does nothing itself, starts nothing, and reads no clock;
// a loop elsewhere owns the State, feeds it and performs its effects.
//
// The rooms beside it (safety, mode, auto, interrupt, act, link, delivery,
// request, control, teleop) each decide one thing and do not know each other. Here
// their facts are gathered and their decisions carried from one to the next, for
// every event in the same order:
//
//	units in, safety, link, control, supervisor, hand, interrupts, auto,
//	executor, gate, units out, publish
//
// so that whatever makes the robot safer comes first, and what is published in a
// step is the truth at its end. Every machine takes at most one edge a step.
// What a room has to hear after that waits in State and is taken by the steps
// that the loop makes at once, with the event Follow, while Pending says so.
package brain
