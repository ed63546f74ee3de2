package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"sync"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"troupe/deploy/launch"
	"troupe/fleetd/store"
	"troupe/schema"
)

var burstBenches = []bench{{
	Name:  "burst",
	What:  "10,000 robots publish a new state at the same time, until the database has each of them; what it does not get is lost",
	Floor: "the driver writes the same rows in one transaction that is synced to the disk",
	Run:   bursts,
}}

// burstLimit is how long a state may take until it counts as lost.
const burstLimit = 30 * time.Second

func bursts(ctx context.Context, r *run) error {
	for _, kind := range []string{"SQLite", "Postgres"} {
		r.say(kind)
		if err := burstInto(ctx, r, kind); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		r.endAll()
	}
	return nil
}

// burstInto lets publishers send states to fleetd, and the driver alone write as many rows, in turn.
func burstInto(ctx context.Context, r *run, kind string) error {
	size := r.size(10_000, 1000)
	documents, err := r.documentsOfARobot(ctx)
	if err != nil {
		return err
	}
	b, err := r.startBroker(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	database, driver, source := "sqlite:"+r.path("burst.db"), "sqlite", "file:"+r.path("burst.db")+"?mode=ro"
	servers := []*launch.Program{b.Program}
	if kind == "Postgres" {
		url, server, err := r.startPostgres()
		if err != nil {
			return err
		}
		database, driver, source, servers = url, "pgx", url, append(servers, server)
	}
	f, err := r.startFleetd(ctx, database, b.addr)
	if err != nil {
		return err
	}
	p, err := r.startPublishers(ctx, size, b.addr, documents)
	if err != nil {
		return err
	}
	if p.db, err = sql.Open(driver, source); err != nil {
		return err
	}
	r.atEnd(func() { _ = p.db.Close() }) // it only reads
	if p.count = countInSQLite; kind == "Postgres" {
		p.count = countInPostgres
	}
	missing, err := p.awaitStored(ctx, fleetLimit)
	if err != nil {
		return err
	}
	if missing > 0 {
		return fmt.Errorf("%w: the database lacks %d of %d", errLost, missing, size)
	}
	floor, err := r.bareRows(ctx, kind, size)
	if err != nil {
		return err
	}
	bare := kind + ", bare rows"
	return r.alternate(ctx, turns{rounds: r.size(4, 2), samples: 1},
		arm{name: bare, sample: func(ctx context.Context) (sample, error) {
			rows := p.rows(time.Now())
			began := time.Now()
			err := floor(ctx, rows)
			return sample{took: time.Since(began)}, err
		}},
		arm{name: fmt.Sprintf("%s, %d states over the broker", kind, size), of: bare, programs: append(servers, f.Program), sample: p.burst})
}

// bareRows returns a function that writes documents with the driver alone, into a database of its own.
func (r *run) bareRows(ctx context.Context, kind string, robots int) (func(context.Context, []store.Document) error, error) {
	address := "sqlite:" + r.path("rows.db")
	if kind == "Postgres" {
		url, _, err := r.startPostgres()
		if err != nil {
			return nil, err
		}
		address = url
	}
	s, err := r.openStore(ctx, address, robots)
	if err == nil {
		err = s.Close() // it has the tables and the robots now
	}
	if err != nil {
		return nil, err
	}
	if kind == "Postgres" {
		conn, err := r.openRows(ctx, address)
		return func(ctx context.Context, d []store.Document) error { return writeRowsAtOnce(ctx, conn, d) }, err
	}
	file, err := openRowsFile(ctx, r.path("rows.db"))
	if err != nil {
		return nil, err
	}
	r.atEnd(func() { _ = file.Close() }) // its data is removed
	return func(ctx context.Context, d []store.Document) error { return writeRowsOneByOne(ctx, file, d) }, nil
}

// documentsOfARobot returns what a robot retains at its broker, by the last levels of the topic.
func (r *run) documentsOfARobot(ctx context.Context) (map[string][]byte, error) {
	b, err := r.startBroker(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	const id = "model"
	robot, err := r.startRobot(ctx, id, b.addr)
	if err != nil {
		return nil, err
	}
	if err := sleep(ctx, settling); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	documents := map[string][]byte{}
	prefix := robotPrefix(id)
	c, err := dial(b.addr, clientOptions{id: "obs.bench", user: "obs", on: func(_ *client, m message) {
		if m.Retain {
			mu.Lock()
			defer mu.Unlock()
			documents[string(bytes.TrimPrefix(m.Topic, []byte(prefix)))] = bytes.Clone(m.Payload)
		}
	}})
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.subscribe(1, prefix+"#"); err != nil {
		return nil, err
	}
	if err := sleep(ctx, time.Second); err != nil {
		return nil, err
	}
	robot.End()
	b.End()
	mu.Lock()
	defer mu.Unlock()
	if documents[stateTopic] == nil || documents[presenceTopic] == nil {
		return nil, fmt.Errorf("a robot retains only %d documents", len(documents))
	}
	return maps.Clone(documents), nil
}

const (
	stateTopic    = string(schema.TopicState)
	presenceTopic = string(schema.TopicPresence)
)

// publishers are connections that publish the documents of robots, and read nothing.
type publishers struct {
	clients []*client
	state   []byte
	seq     int64 // of the newest states
	db      *sql.DB
	count   string // query in db
}

// startPublishers connects robots and publishes their documents.
func (r *run) startPublishers(ctx context.Context, count int, addr string, documents map[string][]byte) (*publishers, error) {
	p := &publishers{state: documents[stateTopic], seq: 1_000_000}
	pace := time.NewTicker(2 * time.Millisecond) // the broker accepts 1,000 connections a second
	defer pace.Stop()
	for n := range count {
		select {
		case <-pace.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		c, err := dial(addr, clientOptions{id: robotName(n), user: robotName(n), from: n % crowdAddresses})
		if err != nil {
			return nil, err
		}
		r.atEnd(c.close)
		p.clients = append(p.clients, c)
		for topic, body := range documents {
			if topic == stateTopic {
				body = p.stateNow()
			}
			if err := c.publish(robotPrefix(robotName(n))+topic, body, 1, true); err != nil {
				return nil, err
			}
		}
		if n%2000 == 1999 {
			r.say(fmt.Sprintf("%d of %d publishers are connected", n+1, count))
		}
	}
	return p, nil
}

var (
	stateSeq  = regexp.MustCompile(`"state_seq":\d+`)
	stateLoop = regexp.MustCompile(`"loop":\d+`)
	stateAt   = regexp.MustCompile(`^\{"ts":"[^"]*"`)
)

// stateNow is the state of each robot, with the present number and time. The number is in the round of the story as
// well: fleetd does not store a state in which only its own number and time are new.
func (p *publishers) stateNow() []byte {
	numbered := stateSeq.ReplaceAllLiteral(p.state, strconv.AppendInt([]byte(`"state_seq":`), p.seq, 10))
	numbered = stateLoop.ReplaceAllLiteral(numbered, strconv.AppendInt([]byte(`"loop":`), p.seq, 10))
	return stateAt.ReplaceAllLiteral(numbered, fmt.Appendf(nil, `{"ts":%q`, schema.TimeOf(time.Now())))
}

// rows are the states as rows.
func (p *publishers) rows(at time.Time) (all []store.Document) {
	body := p.stateNow()
	for n := range p.clients {
		all = append(all, store.Document{Robot: robotName(n), Kind: schema.TopicState, Body: body, ReceivedAt: at})
	}
	return all
}

// writers is how many goroutines publish a burst: a broker's own work limits it, not the publishers'.
const writers = 8

// burst publishes a new state of each robot, and waits until the database has them.
func (p *publishers) burst(ctx context.Context) (s sample, err error) {
	p.seq++
	body := p.stateNow()
	began := time.Now()
	failed := make([]error, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := w; n < len(p.clients) && failed[w] == nil; n += writers {
				failed[w] = p.clients[n].publish(robotPrefix(robotName(n))+stateTopic, body, 1, true)
			}
		})
	}
	all.Wait()
	for _, err := range failed {
		if err != nil {
			return s, err
		}
	}
	s.lost, err = p.awaitStored(ctx, burstLimit)
	s.took = time.Since(began)
	return s, err
}

// awaitStored waits until the database has the newest state of each robot, and returns how many it lacks after the limit.
func (p *publishers) awaitStored(ctx context.Context, limit time.Duration) (missing int, err error) {
	for end := time.Now().Add(limit); ; {
		asked := time.Now()
		var stored int
		if err := p.db.QueryRowContext(ctx, p.count, fmt.Sprintf(`"loop":%d`, p.seq)).Scan(&stored); err != nil {
			return 0, fmt.Errorf("count the stored states: %w", err)
		}
		if missing = len(p.clients) - stored; missing <= 0 || time.Now().After(end) {
			return missing, nil
		}
		if err := sleep(ctx, max(20*time.Millisecond, 4*time.Since(asked))); err != nil {
			return missing, err
		}
	}
}

// The queries that count the states with a number.
const (
	countInSQLite   = `SELECT count(*) FROM documents WHERE kind = 'state' AND instr(body, CAST($1 AS BLOB)) > 0`
	countInPostgres = `SELECT count(*) FROM documents WHERE kind = 'state' AND position(convert_to($1, 'UTF8') IN body) > 0`
)

// robotPrefix is how the topics of a robot begin.
func robotPrefix(id string) string { return schema.DefaultNamespace.Root() + "robots/" + id + "/" }
