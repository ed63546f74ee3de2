package dispatch

import (
	"troupe/fleetd/command"
	"troupe/fleetd/trace"
	"troupe/schema"
)

// beginSpans begins the span of each command, which ends when the command is settled.
func (t *Handle) beginSpans() {
	if !t.origin.Exists() {
		return
	}
	t.spans = make(map[string]trace.Span, len(t.commands))
	for _, c := range t.Commands() {
		t.spans[c.ID] = t.origin.Child(trace.Internal, "command "+c.Verb, trace.String("troupe.robot", c.Robot),
			trace.String("troupe.verb", c.Verb),
			trace.String("troupe.command", c.ID), trace.String("troupe.batch", c.Batch))
	}
}

// traceAnswer records that a robot answered a command.
func traceAnswer(of trace.Span, verb string, a schema.Ack) {
	answer := of.Child(trace.Consumer, "answer "+verb, trace.String("messaging.system", "mqtt"), trace.String("troupe.outcome", a.Status),
		trace.String("troupe.reason", a.Reason))
	if a.Status.Final() && a.Status != schema.StatusSucceeded {
		answer.Fail()
	}
	answer.End()
}

// endSpan ends the span of a command that is settled.
func endSpan(s trace.Span, c command.Command) {
	s.Set(trace.String("troupe.outcome", c.State), trace.Int("troupe.sends", c.Sends))
	if c.Answer != nil && c.Answer.Reason != "" {
		s.Set(trace.String("troupe.reason", c.Answer.Reason))
	}
	if c.State != command.Succeeded {
		s.Fail()
	}
	s.End()
}
