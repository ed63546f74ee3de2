package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/command"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
	"troupe/schema/testlog"
)

// database is a database that can be away, and that other instances use too.
type database struct {
	*store.Store
	mu     sync.Mutex
	broken error // of every write; nil: it works
}

func (d *database) SingleInstance() bool { return false }

func (d *database) failure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.broken
}

func (d *database) breaks(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.broken = err
}

func (d *database) Tx(ctx context.Context, do func(tx *store.Tx) error) error {
	if err := d.failure(); err != nil {
		return err
	}
	return d.Store.Tx(ctx, do)
}

func (d *database) SaveCommands(ctx context.Context, all []command.Command) error {
	if err := d.failure(); err != nil {
		return err
	}
	return d.Store.SaveCommands(ctx, all)
}

// sent is a message to a robot.
type sent struct {
	after   time.Duration // since the test began
	robot   string
	verb    string
	payload string
}

// world is the commands of one instance, called fleetd, in fake time.
type world struct {
	*storetest.World
	*dispatch.Dispatcher
	deps  dispatch.Deps
	db    *database
	began time.Time
	end   func() // ends the dispatcher

	out    []sent
	away   map[string]bool // robots that are not reachable
	gone   map[string]bool // instances
	closed bool            // the database is not open
	n      int
}

func (w *world) Reachable(robot string) (is bool) {
	w.Locked(func() { is = !w.away[robot] })
	return is
}
func (w *world) Adopted(string) bool { return true }
func (w *world) Has(name string) bool {
	return name == "other"
}
func (w *world) Gone(name string, _ time.Time) (is bool) {
	w.Locked(func() { is = w.gone[name] })
	return is
}

var errAway = errors.New("the database is away")

// inWorld runs a test with a dispatcher, a database, and the robots r1 and r2.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	storetest.InWorld(t, func(in *storetest.World) {
		w := &world{World: in, db: &database{Store: in.DB}, began: time.Now(), away: map[string]bool{}, gone: map[string]bool{}}
		w.deps = dispatch.Deps{
			Log: slog.New(slog.NewTextHandler(testlog.Writer(in.T, "fleetd"), nil)), Namespace: schema.DefaultNamespace, Name: "fleetd",
			Now:    time.Now,
			Failed: func(string, error) {}, Robots: w, Instances: w, DeferIfReleasing: func(command.Command) bool { return false },
			Leads: w.Leads,
			Store: func() (s dispatch.Store, err error) {
				w.Locked(func() {
					if s = w.db; w.closed {
						s, err = nil, errAway
					}
				})
				return s, err
			},
			Publish: func(_ context.Context, m link.Message) error {
				_, at, _ := schema.DefaultNamespace.Match(m.Topic)
				w.Locked(func() {
					w.out = append(w.out, sent{time.Since(w.began), at.RID, at.Group + "/" + at.Verb, string(m.Payload)})
				})
				return nil
			},
		}
		w.start()
		defer func() { w.end() }()
		test(w)
	}, "r1", "r2")
}

// start starts a dispatcher, as a fleetd instance does.
func (w *world) start() {
	w.Dispatcher = dispatch.New(w.deps)
	if err := w.ResumeOwn(context.Background(), w.db, time.Now()); err != nil {
		w.Fatal(err)
	}
	w.end = w.Start(w.Dispatcher.Run)
}

// made is a command that nobody has issued yet.
func (w *world) made(robot, verb string) command.Command {
	w.n++
	id := fmt.Sprintf("c%d", w.n)
	return command.Command{ID: id, Batch: "b" + id, Robot: robot, Verb: verb, Payload: []byte(`{"id":"` + id + `"}`), CreatedAt: time.Now().Truncate(time.Microsecond), State: command.Queued}
}

// issue issues one command, and returns its id when the dispatcher has done what it does at
// once.
func (w *world) issue(robot, verb string) string {
	w.Helper()
	c := w.made(robot, verb)
	_, err := w.Issue(context.Background(), batchOf(c), []command.Command{c}, verb == "safety/stop")
	if err != nil {
		w.Fatal(err)
	}
	w.Sleep(time.Millisecond) // the next one is newer
	return c.ID
}

func batchOf(c command.Command) command.Batch {
	return command.Batch{ID: c.Batch, Verb: c.Verb, Selector: c.Robot, Total: 1, CreatedAt: c.CreatedAt, By: "ann"}
}

// answers posts a robot's answer to a command.
func (w *world) answers(robot, id string, status schema.Status) {
	w.ReceiveAnswer(robot, schema.Ack{ID: &id, Status: status, Session: "s", Verb: "any/verb", TS: schema.TimeOf(time.Now())})
	synctest.Wait()
}

// row is a command as the database has it.
func (w *world) row(id string) command.Command {
	w.Helper()
	rows, err := w.db.CommandsByID(context.Background(), []string{id})
	if err != nil || len(rows) != 1 {
		w.Fatalf("command %s is %v, %v", id, rows, err)
	}
	return rows[0]
}

// is requires the state of a command in the database.
func (w *world) is(id string, want command.State) {
	w.Helper()
	if c := w.row(id); c.State != want {
		w.Errorf("command %s is %s (%s), want %s", id, c.State, c.Because, want)
	}
}

// sents are the messages with a verb, or all.
func (w *world) sents(verb string) (found []sent) {
	w.Locked(func() {
		for _, m := range w.out {
			if verb == "" || m.verb == verb {
				found = append(found, m)
			}
		}
	})
	return found
}

// verbs are the verbs of all messages, in their order.
func (w *world) verbs() string {
	var all []string
	for _, m := range w.sents("") {
		all = append(all, m.verb)
	}
	return strings.Join(all, " ")
}
