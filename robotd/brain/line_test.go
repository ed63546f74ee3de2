package brain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"troupe/robotd/desired"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/report"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// see writes down what a step does.
func (p *player) see(_ event.Event, effects []effect.Effect) {
	for _, e := range effects {
		line := p.line(e)
		if line == "" {
			continue
		}
		when := "  "
		if d := p.rig.now - p.from; d > 0 {
			when = fmt.Sprintf("  +%v ", d)
		}
		p.out.WriteString(strings.TrimRight(when+line, " ") + "\n")
	}
}

func (p *player) line(e effect.Effect) string {
	switch e := e.(type) {
	case effect.Feed, effect.LogAlert: // an alert is an event and in the state, too
		return ""
	case effect.Move:
		line := fmt.Sprintf("body: drive at %v m/s, %v rad/s", e.VX, e.WZ)
		if line == p.moves {
			return ""
		}
		p.moves = line
		return line
	case effect.Order:
		return "body: all " + string(e.Order)
	case effect.Start:
		face, _ := e.Do.Do.(score.Face)
		to, _ := e.Do.Do.(score.Goto)
		line := fmt.Sprintf("body: %s %s %s", e.Unit, e.Do.Type(), e.Text+face.Face+to.Point)
		if to.XM != nil {
			line += fmt.Sprintf("%v %v", *to.XM, *to.YM)
		}
		if e.Asset != "" {
			line += " file " + e.Asset[:8]
		}
		if e.From > 0 {
			line += fmt.Sprintf(" from %v", e.From)
		}
		return line
	case effect.Stop:
		return "body: " + e.Unit + " stop"
	case effect.Calibrate:
		return strings.TrimSpace("body: calibrate " + e.Map.Name)
	case effect.ReadHistory:
		return ""
	case effect.EndCalibration:
		return ""
	case effect.SaveRequests:
		return saved(e)
	case effect.SaveContent:
		what := string(e.Persisted.Phase)
		if e.Blobs != nil {
			what = "with the " + string(e.Kind)
		}
		if e.Kind != sign.Story {
			return fmt.Sprintf("save: desired state %d for %s, %s", e.Persisted.Desired.Rev, e.Kind, what)
		}
		return fmt.Sprintf("save: desired state %d, %s", e.Persisted.Desired.Rev, what)
	case effect.SaveEvent:
		ev := decoded[schema.Event](p, e.Payload)
		if schema.EventOf(ev.Type).Routine && !p.routine {
			return ""
		}
		return strings.TrimRight(fmt.Sprintf("event: %s %s %s", ev.Type, ev.Cause, strings.ReplaceAll(string(ev.Data), `"`, "")), " ")
	case effect.SaveLatches:
		return "save: latched stops " + string(e.Value)
	case effect.SaveValue:
		if e.Name == report.BootsKey || e.Name == desired.FleetIDKey {
			return ""
		}
		return "save: " + e.Name + "=" + e.Value
	case effect.Publish:
		return p.formatPublish(e)
	case effect.Reconnect:
		return "mqtt: renew: " + e.Why
	case effect.Fetch:
		return "fetch: " + e.SHA256[:8]
	case effect.EndFetch:
		return "fetch: no longer " + e.SHA256[:8]
	case effect.Call:
		return "call: " + e.URL
	case effect.EndCall:
		return "call: no longer of " + e.ID
	case effect.ExportRecord:
		return fmt.Sprintf("flight record: the last %v to %s", e.Last, e.To)
	case effect.LogTransition:
		line := fmt.Sprintf("%s: %s -> %s (%s)", e.Machine, e.From, e.To, e.Why)
		if e.Cause != "" {
			line += " [" + e.Cause + "]"
		}
		return line
	case effect.SetLocalLog:
		return fmt.Sprintf("log on the robot: %v", e.On)
	case effect.Exit:
		return "exit: " + e.Why
	}
	return fmt.Sprintf("%T", e)
}

func saved(e effect.SaveRequests) string {
	var parts []string
	for _, r := range e.Put {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Key(), r.Verb, r.Answer.Status)))
	}
	if len(e.Forget) > 0 {
		parts = append(parts, fmt.Sprintf("forget %v", e.Forget))
	}
	return "save: " + strings.Join(parts, "; ")
}

func decoded[T any](p *player, payload []byte) T {
	v, problems := schema.Decode[T](payload)
	if len(problems) > 0 {
		p.rig.t.Fatalf("the robot says what its own schema refuses: %v in %s", problems, payload)
	}
	return v
}

// points is one message, in short.
func (p *player) formatPublish(e effect.Publish) string {
	if limit := schema.TopicOf(e.Topic).MaxBytes; len(e.Payload) > limit {
		p.rig.t.Errorf("%s has %d bytes, at most %d are allowed", e.Topic, len(e.Payload), limit)
	}
	switch e.Topic {
	case schema.TopicEvent:
		ev := decoded[schema.Event](p, e.Payload)
		if ev.Boot == p.rig.s.report.Boot() && ev.Seq > p.eventSeq {
			p.eventSeq = ev.Seq
			return "" // written down as it is saved
		}
		return fmt.Sprintf("publish: event %d of %s again: %s", ev.Seq, ev.Boot, ev.Type)
	case schema.TopicHeartbeat:
		decoded[schema.Heartbeat](p, e.Payload)
		return ""
	case schema.TopicTelemetry:
		decoded[schema.Telemetry](p, e.Payload)
		return ""
	case schema.TopicAck:
		return ackLine(e.Param, decoded[schema.Ack](p, e.Payload))
	case schema.TopicState:
		return stateLine(decoded[schema.State](p, e.Payload))
	case schema.TopicCaps:
		line := "publish: caps"
		c := decoded[schema.Caps](p, e.Payload)
		for _, p := range c.TaughtPoints {
			line += fmt.Sprintf("; taught %s at %v %v %v", p.ID, p.XM, p.YM, p.ThetaRad)
		}
		if c.TaughtMap != "" {
			line += " on map " + c.TaughtMap[:8]
		}
		return line
	case schema.TopicActs:
		line := "publish: acts"
		for _, a := range decoded[schema.Acts](p, e.Payload).Acts {
			line += fmt.Sprintf(" %s@%d %s", a.ID, a.Rev, a.Name)
		}
		return strings.TrimSpace(line)
	case schema.TopicModes:
		m := decoded[schema.Modes](p, e.Payload)
		line := fmt.Sprintf("publish: modes %d;", m.ModesRev)
		for _, mode := range m.Modes {
			if line += " " + string(mode.ID); mode.Status == schema.ModeFailed {
				line += " failed"
			}
			if !mode.Selectable {
				line += " (" + string(mode.WhyNot[0].Reason) + ")"
			}
			for _, c := range mode.CalibrationChecks {
				if c.Pending != "" || c.Reason != "" {
					line += fmt.Sprintf(" [%s: %s, pending %q, %s %s]", c.Name, c.Value, c.Pending, c.Reason, c.Detail)
				}
			}
			for _, p := range mode.Params {
				if string(p.Value) != string(p.Default) {
					line += " " + p.Name + "=" + string(p.Value)
				}
			}
		}
		return line
	case schema.TopicReportedStory:
		r := decoded[schema.ReportedStory](p, e.Payload)
		line := fmt.Sprintf("publish: story of desired state %d is %s %s", r.DesiredRev, r.Phase, r.Reason)
		if r.Active != nil {
			line = fmt.Sprintf("%s; active %s %v without %v", strings.TrimSpace(line), r.Active.ID, r.Active.EffectiveActs, r.Active.Pruned)
		}
		if r.Performing {
			line += ", playing"
		}
		return line
	case schema.TopicReportedMode:
		r := decoded[schema.ReportedMode](p, e.Payload)
		if r.DesiredRev == 0 && r.Reason == "" {
			return "" // nothing was ever desired
		}
		line := strings.TrimSpace(fmt.Sprintf("publish: mode of desired state %d is %s %s", r.DesiredRev, r.Phase, r.Reason))
		if r.Diverged {
			line += ", diverged"
		}
		return line
	case schema.TopicReportedConfig:
		r := decoded[schema.ReportedConfig](p, e.Payload)
		if r.DesiredRev == 0 && r.Reason == "" {
			return "" // nothing was ever desired
		}
		line := strings.TrimSpace(fmt.Sprintf("publish: config of desired state %d is %s %s", r.DesiredRev, r.Phase, r.Reason))
		for _, k := range slices.Sorted(maps.Keys(r.Applied)) {
			line += fmt.Sprintf("; %s=%s", k, r.Applied[k])
		}
		for _, k := range r.Rejected {
			line += fmt.Sprintf("; not %s: %s %s", k.Key, k.Reason, k.Detail)
		}
		if len(r.RestartNeeded) > 0 {
			line += fmt.Sprintf("; after the next start: %v", r.RestartNeeded)
		}
		return line
	case schema.TopicReportedPlaces, schema.TopicReportedActivities:
		r := decoded[schema.ReportedSet](p, e.Payload)
		if r.DesiredRev == 0 && r.Reason == "" {
			return "" // nothing was ever desired
		}
		line := strings.TrimSpace(fmt.Sprintf("publish: %s of desired state %d is %s %s", strings.TrimPrefix(string(e.Topic), "reported_"),
			r.DesiredRev, r.Phase, r.Reason))
		if r.Active != nil {
			line += "; active " + r.Active.ID
		}
		for _, part := range r.Refused {
			line += fmt.Sprintf("; without %s: %s %s", part.ID, part.Reason, part.Detail)
		}
		return line
	}
	return "publish: " + string(e.Topic)
}

func ackLine(to string, a schema.Ack) string {
	id := "?"
	if a.ID != nil {
		id = *a.ID
	}
	line := fmt.Sprintf("answer: %s %s %s %s %s", to, id, a.Status, a.Result, a.Reason)
	if a.StateSeq > 0 && a.Status == schema.StatusSucceeded {
		line += fmt.Sprintf(" state=%d", a.StateSeq)
	}
	if l := a.Lease; l != nil {
		line += fmt.Sprintf(" lease=%s %s %s %s until %d", l.ID, l.Holder, l.By, l.Scope, l.UntilMS)
	}
	if a.Progress != nil {
		line += fmt.Sprintf(" %d%%", *a.Progress)
	}
	if a.EtaMS > 0 {
		line += fmt.Sprintf(" eta %d ms", a.EtaMS)
	}
	for _, r := range a.Refs {
		line += " " + string(r.Kind) + "=" + r.ID
	}
	if a.Dup {
		line += " again"
	}
	if a.Detail != "" {
		line += " (" + a.Detail + ")"
	}
	return strings.Join(strings.Fields(line), " ")
}

func stateLine(s schema.State) string {
	line := fmt.Sprintf("publish: state %d; %s %s, %s, auto %s", s.StateSeq, s.Mode.Active, s.Mode.Phase, s.Safety.State, s.Auto.Status)
	if s.Auto.Reason != "" {
		line += " (" + string(s.Auto.Reason) + ")"
	}
	if s.Auto.Status != schema.AutoNotActive && s.Auto.Act != "" {
		line += fmt.Sprintf(" act %d %s", s.Auto.ActIndex, s.Auto.Act)
		if n := s.Auto.FailedRounds; n > 0 {
			line += fmt.Sprintf(", failed rounds %d", n)
		}
	}
	add := func(word string, items []string) {
		if len(items) > 0 {
			line += "; " + word + " " + strings.Join(items, ", ")
		}
	}
	var pauses, running, alerts, sensed []string
	for _, h := range s.Auto.PauseHolders {
		if h.NeedsContinue {
			h.Token += " until auto/continue"
		}
		pauses = append(pauses, h.Token)
	}
	for _, i := range s.Interrupts {
		running = append(running, i.ID)
	}
	for _, a := range s.Alerts {
		for _, r := range a.Refs {
			a.Type += " " + r.ID
		}
		alerts = append(alerts, a.Type)
	}
	slices.Sort(alerts)
	for _, x := range s.Signals {
		sensed = append(sensed, strings.TrimSpace(x.Signal+" "+x.Name))
	}
	add("paused by", pauses)
	add("interrupts", running)
	add("alerts", alerts)
	add("senses", sensed)
	if c := s.Control; c != nil {
		line += "; " + strings.TrimSpace(c.Holder+" "+c.By) + " has " + c.Scope
	}
	if s.Link.State != schema.LinkNever {
		line += "; link " + string(s.Link.State)
	}
	if s.Recording != nil {
		line += "; " + s.Recording.Holder + " records " + s.Recording.Act
	}
	return line
}
