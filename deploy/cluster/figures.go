package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/schema"
)

// stopAfter is how long after the loss of a part the stop is given.
const stopAfter = 500 * time.Millisecond

// perform brings all robots into the automatic mode, enabled, with a story.
func (f *fleet) perform(ctx context.Context) error {
	if text, err := f.ctl(ctx, "stop", "list", "-o", "name"); err == nil && strings.TrimSpace(text) != "" {
		if _, err := f.ctl(ctx, append([]string{"stop", "release", "--why", "next try"}, strings.Fields(text)...)...); err != nil {
			return err
		}
	}
	if !f.published {
		if _, err := f.ctl(ctx, "story", "publish", "-f", "deploy/library"); err != nil {
			return err
		}
		f.published = true
	}
	if _, err := f.ctl(ctx, "story", "assign", firstStory, "--all", "--apply", "now", "--wait"); err != nil {
		f.say("%v", err)
	}
	// A robot may be busy with its first connection, and refuse.
	var err error
	for end := time.Now().Add(startLimit); time.Now().Before(end); {
		var ids []string
		if ids, err = f.idle(ctx); err == nil && len(ids) == 0 {
			return nil
		}
		for _, args := range [][]string{{"safety", "reset"}, {"safety", "enable"}, {"mode", "set", "ato"}} {
			var refused error
			if _, refused = f.ctl(ctx, slices.Concat(args, ids, []string{"--wait"})...); refused != nil && args[1] != "reset" {
				// reset is refused where nothing is to be reset
				err = refused
			}
		}
		if err := sleep(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("not all robots are enabled in ato after %v: %w", startLimit, err)
}

// idle are the robots that do not perform, as fleetd sees them.
func (f *fleet) idle(ctx context.Context) (ids []string, err error) {
	rows, err := f.rows(ctx)
	for _, r := range rows {
		if r.Mode != "ato" || r.Safety != "ENABLED" {
			ids = append(ids, r.ID)
		}
	}
	return ids, err
}

// The robots perform one story, and while a part is lost the other one is assigned to them.
const (
	firstStory  = "museum-welcome"
	secondStory = "shop-assistant"
)

// has reports whether the robot has this story.
func has(r robotRow, story string) bool { return r.Desired.Story.ID == story && r.Desired.Converged }

// stops is when each robot came to rest.
type stops struct {
	told    time.Duration            // how long the command line took
	after   map[string]time.Duration // from the stop until the robot's safety core was no longer ENABLED
	missing []string
}

func (s stops) String() string {
	var last time.Duration
	within := 0
	for _, d := range s.after {
		last = max(last, d)
		if d <= stopAfter {
			within++
		}
	}
	text := fmt.Sprintf("%d robots came to rest, %d of them within %v, the last %.2f s after the stop; the command took %.1f s",
		len(s.after), within, stopAfter, last.Seconds(), s.told.Seconds())
	if len(s.missing) > 0 {
		text += "; NOT AT REST: " + strings.Join(s.missing, " ")
	}
	return text
}

// last is when the last of these robots came to rest; ok is false if one did not.
func (s stops) last(robots []string) (last time.Duration, ok bool) {
	for _, id := range robots {
		d, is := s.after[id]
		if !is {
			return 0, false
		}
		last = max(last, d)
	}
	return last, true
}

// logged returns when a program logged a line.
func logged(line string) (at time.Time, ok bool) {
	text, ok := strings.CutPrefix(line, "time=")
	if !ok {
		return at, false
	}
	text, _, _ = strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339Nano, text)
	return at, err == nil
}

// logLines returns what a program logged since a moment that contains one of these words.
func (f *fleet) logLines(name string, since time.Time, words ...string) (found []string) {
	p, err := f.program(name)
	if err != nil {
		return nil
	}
	lines, _ := p.Lines()
	for _, l := range lines {
		if at, ok := logged(l); ok && at.After(since) && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(l, w) }) {
			found = append(found, l)
		}
	}
	return found
}

// restLimit bounds the wait for all robots to come to rest.
const restLimit = 30 * time.Second

// stopAll stops all robots with the command line. A robot that was stopped since counts, too.
func (f *fleet) stopAll(ctx context.Context, since time.Time) (stops, error) {
	began := time.Now()
	s := stops{after: map[string]time.Duration{}}
	_, err := f.ctl(ctx, "stop", "--all", "--why", "trial")
	s.told = time.Since(began)
	for end := began.Add(restLimit); ; {
		s.missing = nil
		for _, p := range f.robots {
			if at, ok := f.rested(p.Name, since); ok {
				s.after[p.Name] = max(0, at.Sub(began))
			} else if p.Running() {
				s.missing = append(s.missing, p.Name)
			}
		}
		if len(s.missing) == 0 || time.Now().After(end) {
			return s, err
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return s, err
		}
	}
}

// rested is when a robot came to rest first since a moment: its safety core forbids it to move from then on.
func (f *fleet) rested(id string, since time.Time) (time.Time, bool) {
	lines := f.logLines(id, since, "safety: ENABLED -> ")
	if len(lines) == 0 {
		return time.Time{}, false
	}
	return logged(lines[0])
}

// explainLate says what robots logged that came to rest later than 5 s after the stop.
func (f *fleet) explainLate(s stops, since time.Time) {
	for _, p := range f.robots {
		if after, ok := s.after[p.Name]; !ok || after > 5*time.Second {
			f.say("%s was late:\n%s", p.Name, strings.Join(f.logLines(p.Name, since, "mqtt:", "link:", "latch:", "safety:", "not connected",
				"connected to broker"), "\n"))
		}
	}
}

// A loss is what was seen when a node was lost.
type loss struct {
	node      string
	others    []string // robots that were not connected to the lost node
	stops     stops
	traffic   traffic
	assigned  time.Duration // until every robot had the story; 0: not all did
	safe      []string      // robots that went to the mode safe before the stop
	back      time.Duration
	loadAfter string
}

// loseNode kills a node, or the one that leads a stream, while all robots perform, assigns a story at that moment, stops all robots
// 0.5 s later, and starts the node again. 300 messages a second go on all the while.
func (f *fleet) loseNode(ctx context.Context, what string) (l loss, err error) {
	if err := f.perform(ctx); err != nil {
		return l, err
	}
	var n *node
	if i := slices.IndexFunc(f.nodes, func(n *node) bool { return n.name == what }); i >= 0 {
		n = f.nodes[i]
	} else if n, err = f.leaderOf(ctx, what); err != nil {
		return l, err
	}
	l.node = n.name
	there := f.clients(ctx, n)
	for _, p := range f.robots {
		if !slices.Contains(there, p.Name) {
			l.others = append(l.others, p.Name)
		}
	}
	f.say("%s leads %s, with clients %s; load %s", n.name, strings.Join(f.led(ctx, n), " "), strings.Join(there, " "), load())
	var beside sync.WaitGroup
	flowing := make(chan struct{})
	ended, stopTraffic := context.WithCancel(ctx)
	beside.Go(func() { l.traffic = f.traffic(ended, f.without(n), flowing) })
	<-flowing
	if err := sleep(ctx, 2*time.Second); err != nil {
		stopTraffic()
		return l, err
	}
	killed := time.Now()
	n.program.Kill()
	beside.Go(func() {
		if _, err := f.ctl(ctx, "story", "assign", secondStory, "--all", "--apply", "now"); err != nil {
			f.say("assignment: %v", err)
		}
		if err := f.await(ctx, 30*time.Second, "with the story", func(r robotRow) bool { return has(r, secondStory) },
			len(f.robots)); err != nil {
			f.say("assignment: %v", err)
			return
		}
		l.assigned = time.Since(killed)
	})
	if err := sleep(ctx, time.Until(killed.Add(stopAfter))); err != nil {
		stopTraffic()
		return l, err
	}
	stopped := time.Now()
	l.stops, err = f.stopAll(ctx, killed)
	if err != nil {
		f.say("stop: %v", err)
	}
	f.explainLate(l.stops, killed)
	for _, p := range f.robots {
		if f.wentSafe(p.Name, killed, stopped) {
			l.safe = append(l.safe, p.Name)
		}
	}
	if err := sleep(ctx, time.Until(killed.Add(12*time.Second))); err != nil {
		stopTraffic()
		return l, err
	}
	stopTraffic()
	beside.Wait()
	began := time.Now()
	if err := f.restart(ctx, n.name); err != nil {
		return l, err
	}
	l.back, l.loadAfter = time.Since(began), load()
	f.say("%s killed: %s", n.name, l.stops)
	others, ok := l.stops.last(l.others)
	f.say("robots of other nodes (%d) at rest after %.2f s (all: %v); robots in safe before the stop: %v; story with all after %.1f s",
		len(l.others), others.Seconds(), ok, l.safe, l.assigned.Seconds())
	f.say("%s; load %s", l.traffic, l.loadAfter)
	for _, line := range slices.Concat(l.traffic.losses, l.traffic.states) {
		f.say("  %s", line)
	}
	return l, nil
}

// wentSafe reports whether a robot entered the mode safe between two moments.
func (f *fleet) wentSafe(id string, from, to time.Time) bool {
	lines := f.logLines(id, from, " -> safe")
	if len(lines) == 0 {
		return false
	}
	at, ok := logged(lines[0])
	return ok && at.Before(to)
}

// loseDatabase kills the primary of Postgres during an assignment, and stops all robots before the standby takes over.
func (f *fleet) loseDatabase(ctx context.Context) error {
	if err := f.perform(ctx); err != nil {
		return err
	}
	var beside sync.WaitGroup
	answer := ""
	beside.Go(func() { answer, _ = f.ctl(ctx, "story", "assign", secondStory, "--all", "--apply", "now") })
	killed := time.Now()
	beside.Go(func() {
		if err := f.kill(ctx, "postgres"); err != nil {
			f.say("%v", err)
		}
	})
	if err := sleep(ctx, stopAfter); err != nil {
		return err
	}
	s, err := f.stopAll(ctx, killed)
	if err != nil {
		f.say("stop: %v", err)
	}
	f.say("%s", s)
	beside.Wait()
	promoted := time.Now()
	for end := promoted.Add(restLimit); time.Now().Before(end); {
		text, err := f.ctl(ctx, "stop", "list", "-o", "json")
		if err == nil && strings.Contains(text, `"persisted": true`) && !strings.Contains(text, `"persisted": false`) {
			f.say("the stop is in the standby %.1f s after the kill, %.1f s after it took over", time.Since(killed).Seconds(),
				time.Since(promoted).Seconds())
			break
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	f.say("the assignment at the kill was answered: %s", lastLine([]byte(answer)))
	for end := promoted.Add(restLimit); time.Now().Before(end); { // no harm if the first one was accepted
		if _, err = f.ctl(ctx, "story", "assign", secondStory, "--all", "--apply", "now"); err == nil {
			f.say("an assignment was accepted %.1f s after the kill", time.Since(killed).Seconds())
			break
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if err := f.await(ctx, restLimit, "with the story", func(r robotRow) bool { return has(r, secondStory) }, len(f.robots)); err != nil {
		return err
	}
	f.say("all robots have the story %.1f s after the kill", time.Since(killed).Seconds())
	return nil
}

// readElsewhere publishes documents at one node and reads each at another one, and returns how many were not there.
func (f *fleet) readElsewhere(ctx context.Context, count int) (missed int, err error) {
	writer, err := f.client(ctx, "writer", f.nodes[0], link.Config{})
	if err != nil {
		return 0, err
	}
	defer func() { _ = writer.Close(context.Background()) }()
	for i := range count {
		digest := sha256.Sum256(fmt.Append(nil, i, time.Now()))
		topic := schema.DefaultNamespace.Topic(schema.TopicBlob, hex.EncodeToString(digest[:]))
		within, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := writer.PublishWait(within, link.Message{Topic: topic, Payload: []byte("document"), QoS: 1, Retain: true})
		if err == nil {
			came := make(chan struct{}, 1)
			var reader *link.Link
			reader, err = f.client(within, "reader", f.nodes[1+i%2], link.Config{Subscribe: []link.Subscription{{Filter: topic, QoS: 1}},
				OnMessage: func(link.Message) {
					select {
					case came <- struct{}{}:
					default:
					}
				}})
			if err == nil {
				select {
				case <-came:
				case <-time.After(2 * time.Second):
					missed++
				}
				_ = reader.Close(ctx)
			}
		}
		if err == nil {
			err = writer.PublishWait(within, link.Message{Topic: topic, QoS: 1, Retain: true}) // removes it
		}
		cancel()
		if err != nil {
			return missed, err
		}
	}
	return missed, nil
}

// client connects as the administrator to one node.
func (f *fleet) client(ctx context.Context, suffix string, to *node, c link.Config) (*link.Link, error) {
	c.URL, c.Engine, c.Name, c.Suffix, c.Password = "mqtt://"+to.mqtt, link.NATS, "admin", suffix, f.password
	l, err := link.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := l.WaitUp(ctx); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", to.name, err)
	}
	return l, nil
}

// load is the load average of one minute.
func load() string {
	text, _ := os.ReadFile(filepath.FromSlash("/proc/loadavg"))
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
