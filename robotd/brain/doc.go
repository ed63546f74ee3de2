// Package brain is one step of the robot: a pure function of state, event and time.
//
//	broker ── link ──┐ commands, desired documents, ┌── Publish ── link ── broker
//	                 │ heartbeats                   │
//	body ─── driver ─┤ reports, signals    State    ├── Order, Start ── driver ─ body
//	                 ├──── Event ─────────  Step ───┤
//	disk ────────────┤ saved, history read Effects  ├── Save ───── disk
//	clock ───────────┘ tick                         └── Log ────── log
//
// Step takes one event and the time, changes the State and appends effects. The same state,
// times and events give the same effects. It does no I/O, starts no goroutine and reads no
// clock; the loop in package robot owns the State, calls Step and carries out the effects.
//
// The parts of the robot have a state of their own: safety, request, operatorlink, mode,
// body, latch, manual, perform, desired, diagnosis, intent, life, signal, diskvalues and report.
// They use machines (auto, interrupt, act and others) that decide one thing each.
// A part knows no other part, except: several use the types and rules of safety (such as Gate), perform and life read
// signal, latch holds back answers of request, and body reads a limit of request. Brain passes to each the facts that it
// needs, and carries out the outputs that it returns. The order is the same for every event:
//
//	reports of the body and commands, safety, operator link, control, mode supervisor, manual,
//	signals, life, interrupts, launchpad and activity, desired documents, ato, abilities,
//	executor, units, documents
//
// So what makes the robot safer comes first, and the documents that a step publishes show
// the state at its end. A machine with an inbox makes at most one transition per step, and further
// inputs wait there; a delivery makes all that need no further input. While Pending reports that there are some, the loop makes the next
// step at once, with the event Follow.
package brain
