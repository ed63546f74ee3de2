package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	commands "troupe/fleetd/command"
	"troupe/schema"
)

var churnBenches = []bench{{
	Name: "churn",
	What: "a fleet whose robots leave, lose their connection and come back all the time gets commands: whether one is lost or carried out " +
		"twice, which fails the run, and the memory of the broker, fleetd and the robots",
	Floor: "none lost, none doubled; the memory in the first third of the time",
	Run:   measureChurn,
}}

const (
	// churnShare is the share of the robots that leave within a minute, and of those that lose their connection.
	churnShare = 0.01
	// changeEvery is in how many rounds one has an intent and a latched stop beside the ping. The first has them, so that later memory is not
	// compared with that before the first stop.
	changeEvery = 5
	// memoryGrowth is the growth in percent beyond which it is noted.
	memoryGrowth = 10
	// calm is a scenario in which nothing happens.
	calm = "{}\n"
)

// churning is a scenario in which robots leave and lose their connection, in proportion to their number.
func churning(size int) string {
	rate := churnShare * float64(size)
	return fmt.Sprintf("churn: {per_minute: %g, away_s: 10}\nlink_loss: {per_minute: %g, away_s: 5}\n", rate, rate)
}

// A churn is a fleet with what is counted while its robots come and go.
type churn struct {
	*fleet
	*observer
	scenario string // path
	rounds   int
	total    tally
	memory   [][]float64 // of each program, by round
}

func measureChurn(ctx context.Context, r *run) (err error) {
	size, pause := r.size(wholeFleet, 300), time.Duration(r.size(30, 5))*time.Second
	lasts := cmp.Or(r.lasts, time.Duration(r.size(5, 1))*time.Minute)
	c := &churn{scenario: r.path("scenario.yaml")}
	if err := os.WriteFile(c.scenario, []byte(calm), 0o600); err != nil {
		return err
	}
	if c.fleet, err = r.startFleet(ctx, size, r.sqlite(), "--scenario", c.scenario); err != nil {
		return err
	}
	if c.observer, err = r.newObserver(c.broker.addr); err != nil {
		return err
	}
	if err := c.awaitCalm(ctx); err != nil {
		return err
	}
	programs := append(c.programs(), c.crowd)
	c.memory = make([][]float64, len(programs))
	m, cut, began := measure(programs...), c.count("lost"), time.Now()
	if err := c.play(churning(size)); err != nil {
		return err
	}
	for time.Since(began) < lasts {
		if err := errors.Join(c.round(ctx, time.Now().Add(pause)), c.blind()); err != nil {
			return err
		}
		text := ""
		for i, u := range m.uses() {
			c.memory[i] = append(c.memory[i], u.RSSBytes)
			text += fmt.Sprintf(", %s %s", u.Program, showBytes(u.RSSBytes))
		}
		r.say(fmt.Sprintf("round %d, %v: %d commands, %d missed while away, %d lost, %d doubled%s", c.rounds,
			time.Since(began).Round(time.Second), c.total.commands, c.total.missed, c.total.lost, c.total.doubled, text))
	}
	took, uses := time.Since(began), m.uses()
	cut = c.count("lost") - cut
	if err := c.end(ctx); err != nil {
		return err
	}
	if err := c.blind(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a := Arm{Name: fmt.Sprintf("%d robots", size), Latency: latencyOf(c.total.took), Lost: c.total.lost, Doubled: c.total.doubled,
		Values: []Value{{"time", "min", took.Minutes()}, {"rounds", "", float64(c.rounds)}, {"commands", "", float64(c.total.commands)},
			{"missed while away", "", float64(c.total.missed)}, {"connections lost", "", float64(cut)}, {"robots that left", "", float64(c.left)}},
		Uses: uses}
	r.report(a)
	for i, u := range uses {
		first, last := thirds(c.memory[i])
		if first == 0 { // it was too short for one round
			continue
		}
		growth := 100 * (last/first - 1)
		r.report(Arm{Name: fmt.Sprintf("memory of %s, %d robots", u.Program, size),
			Values: []Value{{"first third", "B", first}, {"last third", "B", last}, {"growth", "%", growth}}})
		if growth > memoryGrowth {
			r.note("the memory of %s grew by %.0f %% within %v", u.Program, growth, took.Round(time.Second))
		}
	}
	if c.total.lost+c.total.doubled > 0 {
		return fmt.Errorf("of %d commands %d were lost and %d carried out twice", c.total.commands, c.total.lost, c.total.doubled)
	}
	return nil
}

// blind is why the observer did not see everything, if so.
func (o *observer) blind() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// thirds are the means of the first and of the last third.
func thirds(samples []float64) (first, last float64) {
	n := max(1, len(samples)/3)
	for i := range min(n, len(samples)) {
		first += samples[i] / float64(n)
		last += samples[len(samples)-1-i] / float64(n)
	}
	return first, last
}

// play has the simulator follow another scenario.
func (c *churn) play(scenario string) error {
	if err := os.WriteFile(c.scenario, []byte(scenario), 0o600); err != nil {
		return err
	}
	return c.crowd.Signal(syscall.SIGHUP)
}

// count is one of the counts that the crowd printed last.
func (c *churn) count(name string) int {
	n, _ := strconv.Atoi(c.counts()[name])
	return n
}

// round pings all robots, and in some rounds posts an intent to all and stops them. Until its end it waits for further answers.
func (c *churn) round(ctx context.Context, end time.Time) error {
	pings, err := c.send(ctx, "/commands", map[string]any{"verb": pingVerb, "ttl_ms": 10_000})
	if err != nil {
		return err
	}
	if c.rounds++; c.rounds%changeEvery == 1 {
		if _, err := c.send(ctx, "/commands", map[string]any{"verb": "intent/post", "args": map[string]any{"name": "greet"}}); err != nil {
			return err
		}
		if err := c.stopAndRelease(ctx); err != nil {
			return err
		}
	}
	err = sleep(ctx, time.Until(end))
	c.total.doubled += c.doubled(pings.Commands)
	return err
}

// stopAndRelease stops all robots, and releases the stop when every connected robot holds it. Those that come back meanwhile hold it, too.
func (c *churn) stopAndRelease(ctx context.Context) error {
	b, err := c.send(ctx, "/stops", map[string]any{})
	if err != nil {
		return err
	}
	for end := time.Now().Add(fleetLimit); c.count("stopped") < c.count("connected"); {
		if time.Now().After(end) {
			return fmt.Errorf("%w: %d robots hold the stop, %d are connected", errLost, c.count("stopped"), c.count("connected"))
		}
		if err := sleep(ctx, countsEvery); err != nil {
			return err
		}
	}
	if _, err := c.fleetd.api.do(ctx, "POST", "/stops/release", map[string]any{"ids": []string{b.Latch}, "why": "bench"}, nil); err != nil {
		return err
	}
	return c.awaitCount(ctx, "stopped", 0)
}

// end ends the churn: every robot comes back, none is stopped, and a ping reaches every one.
func (c *churn) end(ctx context.Context) error {
	if err := c.play(calm); err != nil {
		return err
	}
	if err := c.awaitCalm(ctx); err != nil {
		return err
	}
	if err := c.awaitCount(ctx, "stopped", 0); err != nil {
		return err
	}
	before := c.total
	pings, err := c.send(ctx, "/commands", map[string]any{"verb": pingVerb})
	if err != nil {
		return err
	}
	c.total.doubled += c.doubled(pings.Commands)
	if missed := c.total.missed + c.total.lost - before.missed - before.lost; missed > 0 {
		return fmt.Errorf("%w: all are connected again, and a ping does not reach %d", errLost, missed)
	}
	return nil
}

// A churnBatch is the commands of one request.
type churnBatch struct {
	ID, Latch string
	Commands  []churnCommand
}

type churnCommand struct {
	ID, Robot, Verb, Because string
	State                    commands.State
	Sends                    int
	At, Ended                schema.Time
}

// storedLimit is how long after fleetd's answer the database may lack the ends of commands: stops do not wait for it.
const storedLimit = 30 * time.Second

// send sends a request to all robots, waits until fleetd expects no more answers and has stored that, and counts what became of it.
func (c *churn) send(ctx context.Context, path string, body map[string]any) (sent churnBatch, err error) {
	body["selector"], body["by"], body["why"] = everyRobot, "bench", "measured"
	began := time.Now()
	if _, err := c.fleetd.api.do(ctx, "POST", path, body, &sent); err != nil {
		return sent, err
	}
	for end := time.Now().Add(storedLimit); ; {
		var stored churnBatch
		if _, err := c.fleetd.api.do(ctx, "GET", "/batches/"+sent.ID, nil, &stored); err != nil {
			return sent, err
		}
		if sent.Commands = stored.Commands; len(sent.Commands) != c.size {
			return sent, fmt.Errorf("POST %s is for %d robots, not %d", path, len(sent.Commands), c.size)
		}
		open := slices.ContainsFunc(sent.Commands, func(one churnCommand) bool { return !one.State.Settled() })
		if !open || time.Now().After(end) {
			break
		}
		if err := sleep(ctx, time.Second); err != nil {
			return sent, err
		}
	}
	for i, one := range c.judge(&c.total, sent.Commands, began) {
		if i < 3 {
			c.note("lost: %s to %s is %s: %s", one.Verb, one.Robot, one.State, one.Because)
		}
	}
	return sent, nil
}

// A tally counts commands.
type tally struct {
	commands, lost, doubled int
	missed                  int             // without success, by robots that were not connected all the time
	took                    []time.Duration // of robots that were
}

// An observer sees at the broker which robots come and go, what they answer, and what they carry out.
type observer struct {
	mu      sync.Mutex
	robots  map[string]*observed
	left    int               // robots that ended in order
	answers map[string]int    // to pings of this round, by the id of the command
	intents map[string]string // by the command: the event which says that the robot received the intent
	twice   int               // intents that were received again, since the last look
	err     error             // why it did not see everything
}

// observed is a robot.
type observed struct {
	session string
	away    bool
	back    time.Time // when it connected last
}

// newObserver connects an observer to a fleet.
func (r *run) newObserver(addr string) (*observer, error) {
	o := &observer{robots: map[string]*observed{}, answers: map[string]int{}, intents: map[string]string{}}
	c, err := dial(addr, clientOptions{id: "admin.churn", user: "admin", on: func(_ *client, m message) { o.received(m, time.Now()) },
		ended: func(err error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.err = fmt.Errorf("the observer lost its connection: %w", err)
		}})
	if err != nil {
		return nil, err
	}
	r.atEnd(c.close)
	return o, c.subscribe(1, topics.Topic(schema.TopicPresence, "+"), topics.Topic(schema.TopicAck, "+", "+"),
		topics.Topic(schema.TopicEvent, "+"))
}

func (o *observer) received(m message, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var presence schema.Presence
	var ack schema.Ack
	var event schema.Event
	var err error
	switch topic, p, _ := topics.Match(string(m.Topic)); topic.Kind {
	case schema.TopicPresence:
		err = json.Unmarshal(m.Payload, &presence)
		o.presence(p.RID, presence, now)
	case schema.TopicAck:
		if err = json.Unmarshal(m.Payload, &ack); ack.Verb == pingVerb && ack.ID != nil {
			o.answers[*ack.ID]++
		}
	case schema.TopicEvent:
		if err = json.Unmarshal(m.Payload, &event); event.Type == "intent" && event.ReqID != "" {
			o.intent(event)
		}
	}
	o.err = cmp.Or(o.err, err)
}

// presence notes a presence. That of an earlier connection says nothing of the present one.
func (o *observer) presence(id string, p schema.Presence, now time.Time) {
	r := o.robots[id]
	if r == nil {
		r = &observed{}
		o.robots[id] = r
	}
	switch {
	case p.State == schema.PresenceOnline && (r.away || p.Session != r.session):
		*r = observed{session: p.Session, back: now}
	case p.State != schema.PresenceOnline && p.Session == r.session:
		r.away = true
		if p.State == schema.PresenceOffline {
			o.left++
		}
	}
}

// intent notes an intent that a robot received. An event that comes again has the same number.
func (o *observer) intent(e schema.Event) {
	event := fmt.Sprint(e.Boot, " ", e.Seq)
	if first, known := o.intents[e.ReqID]; known && first != event {
		o.twice++
	}
	o.intents[e.ReqID] = event
}

// judge adds commands that were sent at a time to the tally, and returns those that are lost: they have no end, or no success although the
// robot was connected all the time since.
func (o *observer) judge(t *tally, batch []churnCommand, sent time.Time) (lost []churnCommand) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range batch {
		r := o.robots[c.Robot]
		stayed := r == nil || !r.away && r.back.Before(sent)
		switch {
		case c.State == commands.Succeeded && stayed:
			t.took = append(t.took, c.Ended.Time().Sub(c.At.Time()))
		case c.State == commands.Succeeded:
		case stayed || !c.State.Settled():
			lost = append(lost, c)
		default:
			t.missed++
		}
	}
	t.commands += len(batch)
	t.lost += len(lost)
	return lost
}

// doubled counts what was carried out twice since the last call. A robot keeps no record of a ping, so it may answer it as often as fleetd
// sent it. It records that it received an intent, which it must not receive again, however often it was sent.
func (o *observer) doubled(pings []churnCommand) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range pings {
		n += max(0, o.answers[c.ID]-c.Sends)
	}
	n += o.twice
	clear(o.answers)
	o.twice = 0
	return n
}
