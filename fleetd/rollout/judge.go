package rollout

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"troupe/fleetd/presence"
	"troupe/schema"
)

// SilentAfter is the age of the newest heartbeat at which a robot that began to activate the content counts as failed:
// three of its heartbeats, which are due every 2 s. If the next one is due later, the robot counts as failed so much later.
const SilentAfter = 3 * schema.DefaultHeartbeat

// RestoreOfflineWait is how long a rollback waits for a robot that is not reachable. Its desired document is what it had
// before, so it gets that whenever it returns; only the rollback does not wait to see it.
const RestoreOfflineWait = 15 * time.Minute

// The waits before the next offer after a failure that may pass: doubled each time, and up to a fifth longer or shorter,
// so that robots that failed together do not come back together.
const (
	firstRetry   = 30 * time.Second
	longestRetry = 10 * time.Minute
)

// Groups of failures that no reason of a robot names.
const (
	groupOffline = "offline"
	groupSilent  = "silent"
	groupParts   = "parts_refused"
)

// verdict is what a report says about the document that the robot was given last; empty = nothing.
func verdict(b *Robot, rep Report) Event {
	switch {
	case b.Rev == 0 || rep.Rev != b.Rev:
		return ""
	case rep.Phase == schema.DeployRejected:
		return OnReject
	case rep.Phase == schema.DeployFailed:
		return OnFail
	case rep.Phase == schema.DeployRolledBack:
		return OnRevert
	case rep.Partial:
		return OnReject
	case rep.Active, rep.Phase == schema.DeployWithdrawn: // nothing is what it was given
		return OnActive
	}
	return OnProgress
}

// judge changes a robot whose turn has come, if the facts say so, and reports whether it is reachable: news of it are
// to come.
func (s *step) judge(i int) (reachable bool) {
	b := &s.robots[i]
	fact, there := s.facts.robot(b.ID)
	if s.Rollout.State == RollingBack {
		if b.State == Restoring {
			s.judgeRestoring(i, fact, there)
		}
		return false
	}
	switch {
	case !there:
		if !b.State.HasFailed() {
			s.moveRobot(i, OnDecommission, "", s.now)
		}
		return false
	case b.Rev > 0 && fact.DesiredRev > b.Rev && fact.Same:
		b.Rev = fact.DesiredRev
		s.change(i)
	case b.Rev > 0 && fact.DesiredRev > b.Rev:
		if !b.State.HasFailed() {
			s.moveRobot(i, OnSupersede, "", s.now)
		}
		return false
	case b.Rev == 0:
		if !b.State.HasFailed() {
			s.judgeWaiting(i, fact)
		}
		return fact.Online
	}
	on := verdict(b, fact.Report)
	moved := on != "" && s.enter(i, fact)
	switch b.State {
	case Deferred:
		if on == OnActive {
			s.activate(i, fact)
		} else {
			s.judgeWaiting(i, fact)
		}
	case Offered, WaitingOffline:
		s.judgeOffered(i, fact, on)
	case Active:
		s.judgeActive(i, fact, on)
	case TimedOut:
		switch {
		case on == OnProgress && moved:
			s.restart(i, OnProgress)
		case on == OnActive:
			s.activate(i, fact)
		case on != OnProgress && on != "":
			s.fail(i, on, fact.Report)
		}
	case Silent:
		if fact.Online && fact.SeenAt.After(b.ChangedAt) {
			switch on {
			case OnActive:
				s.activate(i, fact)
			case OnProgress, "":
				s.restart(i, OnProgress)
			default:
				s.fail(i, on, fact.Report)
			}
		}
	default: // it failed, and may report the content active later
		if on == OnActive && fact.Online {
			s.activate(i, fact)
		}
	}
	return fact.Online || s.awaitsSilence(b, fact)
}

// judgeWaiting looks at a robot that waits for its offer.
func (s *step) judgeWaiting(i int, fact RobotFacts) {
	b := &s.robots[i]
	retry := b.State == Deferred && b.Rev > 0
	switch {
	case !fact.Online && (retry || b.State == WaitingOffline) && s.over(b.ChangedAt, s.expiry()):
		s.moveRobot(i, OnExpire, "", s.now)
	case retry && !fact.Online, b.State == WaitingOffline && !fact.Online:
	case retry && s.now.Before(b.RetryAt):
		s.wake(b.RetryAt)
	case s.Rollout.State == Running:
		s.ready = append(s.ready, i)
	}
}

func (s *step) judgeOffered(i int, fact RobotFacts, on Event) {
	b := &s.robots[i]
	switch {
	case on == OnActive:
		s.activate(i, fact)
	case on == OnReject || on == OnFail || on == OnRevert:
		s.fail(i, on, fact.Report)
	case b.State == WaitingOffline && fact.Online:
		s.moveRobot(i, OnOnline, "", s.now)
		s.runClock(i, fact)
	case b.State == WaitingOffline:
		if s.over(b.ChangedAt, s.expiry()) {
			s.moveRobot(i, OnExpire, "", s.now)
		}
	case s.awaitsSilence(b, fact):
		s.silence(i, fact, "while it activated the content")
	case !fact.Online:
		s.runClock(i, fact)
		s.moveRobot(i, OnOffline, "it is not reachable; its desired document waits for it", s.now)
	default:
		limit, what := s.limit(b)
		s.timeOut(i, fact, limit, what)
	}
}

// awaitsSilence reports whether heartbeats are missing after the robot began to activate the content, so that this is
// silence and not absence.
func (s *step) awaitsSilence(b *Robot, fact RobotFacts) bool {
	activating := b.State == Active || b.State == Offered && (b.Phase == schema.DeployActivating || b.Phase == schema.DeployActive)
	return activating && !fact.SignedOff && (s.over(s.lastReceivedAt(b, fact), SilentAfter+fact.Pause) || !fact.Online)
}

// lastReceivedAt is when fleetd received something from the robot last, or could have begun to: after a restart of the
// broker a robot may wait for 10 s before it connects again.
func (s *step) lastReceivedAt(b *Robot, fact RobotFacts) time.Time {
	return latest(fact.SeenAt, b.ChangedAt, s.facts.Fleetd.Since.Add(presence.Grace))
}

func latest(times ...time.Time) (t time.Time) {
	for _, u := range times {
		if u.After(t) {
			t = u
		}
	}
	return t
}

// silence fails a robot from which nothing was received for too long.
func (s *step) silence(i int, fact RobotFacts, when string) bool {
	b := &s.robots[i]
	received := s.lastReceivedAt(b, fact)
	limit := SilentAfter + fact.Pause
	if !s.over(received, limit) {
		return false
	}
	if !s.moveRobot(i, OnSilent, fmt.Sprintf("no heartbeat arrived for %s %s", limit, when), s.now) {
		return false
	}
	b.Group, b.SpentAt = groupSilent, time.Time{}
	return true
}

func (s *step) judgeActive(i int, fact RobotFacts, on Event) {
	b := &s.robots[i]
	soak := s.Rollout.Waves[b.Wave].Gate.soak()
	switch {
	case on == OnReject || on == OnFail || on == OnRevert:
		s.fail(i, on, fact.Report)
	case s.awaitsSilence(b, fact):
		s.silence(i, fact, "after it activated the content")
	case !fact.Online: // it signed off
		s.runClock(i, fact)
		if s.over(latest(fact.SeenAt, b.ChangedAt), s.expiry()) {
			s.moveRobot(i, OnExpire, "", s.now)
		}
	case on == OnActive && !fact.SeenAt.Before(b.ActiveAt.Add(soak)) && s.over(b.ActiveAt, soak):
		s.moveRobot(i, OnConfirm, "", s.now)
		b.SpentAt = time.Time{}
	default:
		s.timeOut(i, fact, time.Duration(s.Rollout.Spec.ConfirmS)*time.Second+soak, "it did not report the content active again, a soak later,")
	}
}

// over reports whether d has passed since a time, and otherwise has Step run then.
func (s *step) over(since time.Time, d time.Duration) bool {
	end := since.Add(d)
	s.wake(end)
	return !s.now.Before(end)
}

// activate records that the robot reports the content active.
func (s *step) activate(i int, fact RobotFacts) {
	if !s.moveRobot(i, OnActive, "", s.now) {
		return
	}
	b := &s.robots[i]
	b.ActiveAt, b.RetryAt, b.Spent, b.SpentAt = s.now, time.Time{}, 0, time.Time{}
	soak := s.Rollout.Waves[b.Wave].Gate.soak()
	if soak == 0 {
		s.moveRobot(i, OnConfirm, "it reports the content active", s.now)
		return
	}
	s.runClock(i, fact)
	s.wake(s.now.Add(soak))
}

// restart judges a robot anew.
func (s *step) restart(i int, on Event) {
	if s.moveRobot(i, on, "", s.now) {
		b := &s.robots[i]
		b.Spent, b.SpentAt = 0, s.now
	}
}

// fail records a failure that the robot reports. One that may pass is followed by another offer, as often as the
// rollout allows.
func (s *step) fail(i int, on Event, rep Report) {
	b := &s.robots[i]
	group := string(rep.Reason)
	if group == "" {
		if group = string(rep.Phase); rep.Partial {
			group = groupParts
		}
	}
	why := rep.text()
	running := s.Rollout.State == Running || s.Rollout.State == Paused
	retries := s.Rollout.Content.Mode == nil // with apply now, a mode that is sent again moves the robot when nobody expects it
	if on != OnRevert && retries && mayPass(rep) && running && b.Tries <= *s.Rollout.Spec.Retries {
		if s.moveRobot(i, OnDefer, why, s.now) {
			b.RetryFor = s.backOff(b)
			b.Group, b.RetryAt, b.Spent, b.SpentAt = group, s.now.Add(b.RetryFor), 0, time.Time{}
			s.wake(b.RetryAt)
			return
		}
	}
	if s.moveRobot(i, on, why, s.now) {
		b.Group, b.SpentAt = group, time.Time{}
	}
}

// text is the robot's own sentence, or what its reason means.
func (r Report) text() string {
	if r.Detail != "" || r.Reason == "" {
		return cmp.Or(r.Detail, "it gave no reason")
	}
	text, _, _ := strings.Cut(r.Reason.Describe().Text, "; ")
	text, _, _ = strings.Cut(text, ". In a notice")
	return text
}

// mayPass reports whether the same document may succeed later without a person. A part that is refused does not become
// right, and what a stop, a person or an obstacle prevented is not asked for again behind their back.
func mayPass(rep Report) bool {
	switch rep.Reason {
	case schema.ReasonStopped, schema.ReasonCancelled, schema.ReasonNotInControl, schema.ReasonObstructed, schema.ReasonSafeguard:
		return false
	}
	return !rep.Partial && cmp.Or(rep.Retry, rep.Reason.Describe().Retry) == schema.RetryLater
}

// backOff is the wait before the next offer. It depends on the seed, the robot and the number of offers alone, so that
// a step that is repeated after an error decides the same.
func (s *step) backOff(b *Robot) time.Duration {
	wait := min(firstRetry<<min(max(b.Tries-1, 0), 10), longestRetry)
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s %d", s.Rollout.Seed, b.ID, b.Tries)
	const parts = 401 // from -20 % to +20 % in steps of a tenth of a per cent
	return min(wait+wait*time.Duration(int64(h.Sum64()%parts)-200)/1000, longestRetry)
}

// A clock is what limits the time in a phase.
type clock int

const (
	clockStopped  clock = iota // it waits for what it performs, or for a person
	clockAccept                // for its first report
	clockFetch                 // for the content to be on its disk
	clockActivate              // for the content to be in effect
)

func clockOf(phase schema.DeployPhase) clock {
	switch phase {
	case "", schema.DeployIdle:
		return clockAccept
	case schema.DeployFetching, schema.DeployVerifying, schema.DeployValidating:
		return clockFetch
	case schema.DeployWaiting, schema.DeployHeld:
		return clockStopped
	}
	return clockActivate
}

// limit is how long a robot that was offered the content may stay in its phase; 0 = for ever.
func (s *step) limit(b *Robot) (limit time.Duration, what string) {
	spec := &s.Rollout.Spec
	switch clockOf(b.Phase) {
	case clockAccept:
		return time.Duration(spec.AcceptS) * time.Second, "it reported nothing about the offer"
	case clockFetch:
		return time.Duration(spec.FetchS) * time.Second, "it did not fetch and check the content"
	case clockActivate:
		return time.Duration(spec.ActivateS) * time.Second, "it did not activate the content"
	}
	return 0, ""
}

// enter records a phase that the robot reports, and reports whether it is another one. The clock starts again if another
// time limit applies now.
func (s *step) enter(i int, fact RobotFacts) bool {
	b, phase := &s.robots[i], fact.Report.Phase
	if b.Phase == phase {
		return false
	}
	if b.State != Active && clockOf(b.Phase) != clockOf(phase) {
		b.Spent, b.SpentAt = 0, time.Time{}
		if clockOf(phase) != clockStopped && fact.Online && !b.State.HasFailed() {
			b.SpentAt = s.now
		}
	}
	b.Phase = phase
	s.change(i)
	return true
}

// runClock starts or stops the clock of a robot: it runs while the robot is online.
func (s *step) runClock(i int, fact RobotFacts) {
	b := &s.robots[i]
	runs := fact.Online && (b.State == Active || b.State == Restoring || clockOf(b.Phase) != clockStopped)
	switch {
	case runs && b.SpentAt.IsZero():
		b.SpentAt = s.now
		s.change(i)
	case !runs && !b.SpentAt.IsZero():
		b.Spent, b.SpentAt = s.spent(b), time.Time{}
		s.change(i)
	}
}

// spent is how long a robot was online in its present phase. Nobody knows whether it was online before fleetd's
// connection to the broker began.
func (s *step) spent(b *Robot) time.Duration {
	if b.SpentAt.IsZero() {
		return b.Spent
	}
	return b.Spent + max(0, s.now.Sub(latest(b.SpentAt, s.facts.Fleetd.Since)))
}

// timeOut gives up a robot that was online for longer than a limit.
func (s *step) timeOut(i int, fact RobotFacts, limit time.Duration, what string) {
	s.runClock(i, fact)
	b := &s.robots[i]
	if limit == 0 || b.SpentAt.IsZero() {
		return
	}
	left := limit - s.spent(b)
	if left > 0 {
		s.wake(s.now.Add(left))
		return
	}
	phase := cmp.Or(string(b.Phase), "accept")
	why := fmt.Sprintf("%s within %s online", what, limit)
	if rep := fact.Report; rep.Detail != "" && rep.Rev == b.Rev {
		why += ": " + rep.Detail
	}
	if s.moveRobot(i, OnTimeout, why, s.now) {
		b.Group, b.SpentAt = "timeout_"+phase, time.Time{}
	}
}

// judgeRestoring looks at a robot that was given back what it had.
func (s *step) judgeRestoring(i int, fact RobotFacts, there bool) {
	b := &s.robots[i]
	switch {
	case !there:
		s.moveRobot(i, OnDecommission, "", s.now)
		return
	case fact.DesiredRev > b.Rev && fact.Same:
		b.Rev = fact.DesiredRev
		s.change(i)
	case fact.DesiredRev > b.Rev:
		s.moveRobot(i, OnSupersede, "", s.now)
		return
	}
	on := verdict(b, fact.Report)
	if on != "" && b.Phase != fact.Report.Phase {
		b.Phase = fact.Report.Phase
		s.change(i)
	}
	waits := on == OnProgress && clockOf(b.Phase) == clockStopped
	spec := &s.Rollout.Spec
	switch {
	case on == OnActive || waits:
		why := ""
		if waits {
			why = "it has what it had before, which takes over when it may"
		}
		s.moveRobot(i, OnHasBack, why, s.now)
	case on == OnReject || on == OnFail || on == OnRevert:
		if s.moveRobot(i, OnNotBack, fact.Report.text(), s.now) {
			b.Group = string(fact.Report.Reason)
		}
	case !fact.Online:
		s.runClock(i, fact)
		if s.over(b.ChangedAt, RestoreOfflineWait) {
			s.moveRobot(i, OnNotBack, "it is not reachable; what it had before is its desired document, and waits for it", s.now)
		}
	default:
		s.runClock(i, fact)
		limit := time.Duration(spec.AcceptS+spec.FetchS+spec.ActivateS) * time.Second
		if left := limit - s.spent(b); left > 0 {
			s.wake(s.now.Add(left))
		} else {
			s.moveRobot(i, OnNotBack, fmt.Sprintf("it did not report what it had before within %s online", limit), s.now)
		}
	}
}
