package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"troupe/deploy/launch"
	"troupe/schema"
)

var commandBenches = []bench{{
	Name: "commands",
	What: "one request to all robots: a ping of each, answered and stored",
	Floor: "the same commands to the same robots from a client without a database (bare), and one command to each of as many " +
		"robots that only " +
		"answer, over the broker, its library alone and Mosquitto (fan-out)",
	Quick: true,
	Run:   measureCommands,
}}

// fanOutArms are the brokers that have the robots of a fan-out at the same time.
const fanOutArms = 3

// mostClients is how many clients this process can connect at each of so many brokers.
func mostClients(brokers int) (int, error) {
	const others = 200 // files
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("read the limit of open files: %w", err)
	}
	return max(0, int(min(limit.Cur, math.MaxInt32))-others) / brokers, nil
}

// pingVerb is sent: what it costs is the way there and back.
const pingVerb = "sys/ping"

func measureCommands(ctx context.Context, r *run) error {
	small, large := r.sizes()
	most, err := mostClients(fanOutArms)
	if err != nil {
		return err
	}
	if small > most {
		return fmt.Errorf("this process may have too few files open: fan-out to %d robots at %d brokers needs more than %d (ulimit -n)", small,
			fanOutArms, most*fanOutArms)
	}
	if large > most {
		r.note("fan-out to %d robots at %d brokers, because this process may not open more files", most, fanOutArms)
	}
	for _, size := range []int{small, min(large, most)} {
		if err := r.fanOut(ctx, size); err != nil {
			return fmt.Errorf("fan-out to %d robots: %w", size, err)
		}
		r.endAll()
	}
	for _, size := range []int{small, large} {
		if err := r.storedCommands(ctx, size); err != nil {
			return fmt.Errorf("%d robots: %w", size, err)
		}
		r.endAll()
	}
	return nil
}

// A sweep sends one command to each of many robots, and counts the answers.
type sweep struct {
	client *client
	user   string
	robots []string
	round  atomic.Int64
	got    atomic.Int64 // first answers of the round
	twice  atomic.Int64 // further ones
	seen   []atomic.Int64
	done   chan time.Time
}

// newSweep connects a client whose name is its role: fleetd or admin.
func (r *run) newSweep(addr, user string, robots []string) (*sweep, error) {
	s := &sweep{user: user, robots: robots, seen: make([]atomic.Int64, len(robots)), done: make(chan time.Time, 1)}
	index := make(map[string]int, len(robots))
	for i, id := range robots {
		index[id] = i
	}
	var err error
	s.client, err = dial(addr, clientOptions{id: user + ".sweep", user: user, on: func(_ *client, m message) {
		_, p, _ := topics.Match(string(m.Topic))
		i, known := index[p.Get("rid")]
		// The id of a command is its round: an answer of an earlier one is counted as lost there.
		if id := fmt.Sprintf(`"id":"round-%d"`, s.round.Load()); !known || !strings.Contains(string(m.Payload), id) {
			return
		}
		if s.seen[i].Add(1) > 1 {
			s.twice.Add(1)
		} else if s.got.Add(1) == int64(len(s.robots)) {
			s.done <- time.Now()
		}
	}})
	if err != nil {
		return nil, err
	}
	r.atEnd(s.client.close)
	return s, s.client.subscribe(1, topics.Topic(schema.TopicAck, "+", user))
}

// sample sends one round.
func (s *sweep) sample(ctx context.Context) (sample, error) {
	for i := range s.seen {
		s.seen[i].Store(0)
	}
	s.got.Store(0)
	s.twice.Store(0)
	payload := fmt.Appendf(nil, `{"id":"round-%d"}`, s.round.Add(1))
	group, name, _ := strings.Cut(pingVerb, "/")
	began := time.Now()
	for _, id := range s.robots {
		if err := s.client.publish(topics.Topic(schema.TopicCmd, id, s.user, group, name), payload, 1, false); err != nil {
			return sample{}, err
		}
	}
	late := time.NewTimer(sweepLimit)
	defer late.Stop()
	out := sample{}
	select {
	case end := <-s.done:
		out.took = end.Sub(began)
	case <-late.C:
		out.lost = len(s.robots) - int(s.got.Load())
	case <-ctx.Done():
		return sample{}, context.Cause(ctx)
	}
	out.doubled = int(s.twice.Load())
	return out, nil
}

// sweepLimit is after how long answers are lost.
const sweepLimit = 30 * time.Second

// fanOut measures brokers with robots that only answer.
func (r *run) fanOut(ctx context.Context, size int) error {
	robots := crowdNames(size)
	ours, err := r.startBroker(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	mochi, err := r.startMochi(ctx)
	if err != nil {
		return err
	}
	mosquitto, err := r.startMosquitto(ctx)
	if err != nil {
		return err
	}
	name := func(broker string) string { return fmt.Sprintf("fan-out to %d, %s", size, broker) }
	var arms []arm
	for _, b := range []*broker{ours, mochi, mosquitto} {
		for i, id := range robots {
			// a failed answer is counted as lost
			c, err := dial(b.addr, clientOptions{id: id, user: id, from: i, on: func(c *client, m message) { _ = echo(c, m) }})
			if err != nil {
				return err
			}
			r.atEnd(c.close)
			if err := c.subscribe(1, topics.Topic(schema.TopicCmd, id, "+", "+", "+")); err != nil {
				return err
			}
		}
		s, err := r.newSweep(b.addr, "fleetd", robots)
		if err != nil {
			return err
		}
		one := arm{name: name(b.Name), of: name(mochi.Name), programs: []*launch.Program{b.Program}, sample: s.sample}
		if b != ours {
			one.of = ""
		}
		arms = append(arms, one)
	}
	return r.alternate(ctx, turns{warm: 1, rounds: r.size(7, 3), samples: 1}, arms...)
}

// crowdNames are the names of simulated robots.
func crowdNames(size int) []string {
	names := make([]string, size)
	for i := range names {
		names[i] = fmt.Sprintf("s%d", i+1)
	}
	return names
}

// storedCommands measures fleetd with each database beside the same commands without it.
func (r *run) storedCommands(ctx context.Context, size int) error {
	databases := []string{"SQLite"}
	if !r.quick {
		databases = append(databases, "Postgres")
	}
	for _, name := range databases {
		database, programs := "sqlite:"+r.path(fmt.Sprintf("commands-%d.db", size)), []*launch.Program(nil)
		if name == "Postgres" {
			url, server, err := r.startPostgres()
			if err != nil {
				return err
			}
			database, programs = url, append(programs, server)
		}
		if err := r.storedIn(ctx, size, name, database, programs); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.endAll()
	}
	return nil
}

// commandPause is between two rounds: the broker takes 20 commands a second to one robot.
const commandPause = time.Second

func (r *run) storedIn(ctx context.Context, size int, name, database string, programs []*launch.Program) error {
	r.say(fmt.Sprintf("%d robots, %s", size, name))
	f, err := r.startFleet(ctx, size, database)
	if err != nil {
		return err
	}
	bare, err := r.newSweep(f.broker.addr, "admin", crowdNames(size))
	if err != nil {
		return err
	}
	if err := sleep(ctx, settling); err != nil {
		return err
	}
	var took, cpu []time.Duration
	stored := func(ctx context.Context) (sample, error) {
		m := measure(append(f.programs(), programs...)...)
		s, err := f.commandAll(ctx)
		if err == nil && s.lost == 0 {
			err = sleep(ctx, commandPause) // what follows from the answers is of the round, too
			took, cpu = append(took, s.took), append(cpu, m.cpu())
		}
		return s, err
	}
	floor := fmt.Sprintf("bare commands to %d beside %s", size, name)
	rounds := r.size(5, 3)
	err = r.alternate(ctx, turns{warm: 1, rounds: rounds, samples: 1},
		arm{name: floor, pace: commandPause, programs: []*launch.Program{f.broker.Program, f.crowd}, sample: bare.sample},
		arm{name: fmt.Sprintf("commands to %d, stored in %s", size, name), of: floor, goal: 2, pace: commandPause,
			programs: append(append(f.programs(), f.crowd), programs...), sample: stored})
	if err != nil {
		return err
	}
	if len(took) == 0 {
		return fmt.Errorf("%w: no request to %d robots was answered by all of them", errLost, size)
	}
	if !r.quick { // a quick run may run beside other work
		r.step("commands answered and stored in "+name, size, took...)
	}
	r.step("processor time of commands stored in "+name, size, cpu...)
	return nil
}

// commandAll sends a command to all robots and waits until every answer is stored.
func (f *fleet) commandAll(ctx context.Context) (sample, error) {
	var batch struct { // as it is answered, and then as it is stored
		ID     string
		Total  int
		Counts map[string]int
	}
	began := time.Now()
	body := map[string]any{"verb": pingVerb, "selector": everyRobot, "by": "bench", "why": "measured"}
	if _, err := f.fleetd.api.do(ctx, "POST", "/commands", body, &batch); err != nil {
		return sample{}, err
	}
	took := time.Since(began)
	if batch.Total != f.size {
		return sample{}, fmt.Errorf("the batch has %d commands, not %d", batch.Total, f.size)
	}
	// fleetd answers when the database has what every robot answered. That it has is checked after the time was taken.
	if _, err := f.fleetd.api.do(ctx, "GET", "/batches/"+batch.ID, nil, &batch); err != nil {
		return sample{}, err
	}
	succeeded := batch.Counts["SUCCEEDED"]
	if succeeded < f.size {
		f.say(fmt.Sprintf("of %d commands: %v", f.size, batch.Counts))
	}
	return sample{took: took, lost: f.size - succeeded}, nil
}
