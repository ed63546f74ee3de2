// Package brain is the whole robot in one function.
//
//	broker ── link ──┐ commands, desired documents, ┌── Publish ── link ── broker
//	                 │ heartbeats                   │
//	body ─── driver ─┤ reports, signals    State    ├── Order, Start ── driver ─ body
//	                 ├──── Event ─────────  Step ───┤
//	disk ────────────┤ saved, recalled    Effects   ├── Save ───── disk
//	clock ───────────┘ tick                         └── Note ───── log
//
// Step takes one event and the time, changes the State it is given and appends what is to
// be done. It decides alone: the same state, times and events give the same effects. It
// does nothing itself, starts nothing, and reads no clock; a loop elsewhere owns the
// State, feeds it and performs its effects.
//
// The parts of the robot each have a state of their own: body, stops, manual, perform,
// desired and report. The machines below them (safety, link, mode, request and those of
// the parts) each decide one thing. None of them knows another. Brain gives each what it
// has to know of the others, and carries out what it leaves in the list of effects and
// intents. It does so in the same order for every event:
//
//	what the body reports and what is asked, safety, link, control, mode supervisor,
//	manual, interrupts, desired documents, ato, executor, units, documents
//
// so that whatever makes the robot safer comes first, and what is published in a step is
// the truth at its end. Every machine takes at most one edge a step. What it has to hear
// after that waits in an inbox. The loop makes further steps at once, with the event
// Follow, while Pending says so.
package brain
