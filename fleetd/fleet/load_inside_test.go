package fleet

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/fleetd/api"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// A load is a fleet that exists as messages only: fleetd's own receiver gets them.
type load struct {
	testing.TB
	fleet  *Fleet
	server *httptest.Server
	ids    []string
	seq    int64
}

// newLoad makes a load that ends with the test.
func newLoad(t testing.TB, robots int) *load {
	l := startLoad(t, robots)
	t.Cleanup(l.end)
	return l
}

func startLoad(t testing.TB, robots int) *load {
	broker := brokertest.Start(t, brokertest.InProcess)
	database := storetest.SQLite(t)
	addRobots(t, database, robots)
	f, err := Start(context.Background(), Config{
		Dial: broker.Dial, Database: database, Spool: filepath.Join(t.TempDir(), "stops"),
		Dev: true, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	l := &load{TB: t, fleet: f, server: httptest.NewServer(f.Handler())}
	for deadline := time.Now().Add(20 * time.Second); !f.Status().Broker.OK || !f.Status().Database.OK; pass(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("fleetd is not connected")
		}
	}
	for i := range robots {
		l.ids = append(l.ids, fmt.Sprintf("r%d", i+1))
	}
	for i := range l.ids {
		l.presence(i)
		l.beat(i)
		l.state(i)
	}
	f.intake.flush()
	return l
}

// end ends fleetd, which saves what it has received.
func (l *load) end() {
	l.server.CloseClientConnections()
	l.server.Close()
	if err := l.fleet.Close(); err != nil {
		l.Error(err)
	}
}

// addRobots adds r1 and so on with labels, in one statement: one by one, most of a test's time would go into it.
func addRobots(t testing.TB, database string, robots int) {
	t.Helper()
	db, err := sql.Open("sqlite", strings.TrimPrefix(database, "sqlite:"))
	if err == nil {
		_, err = db.ExecContext(t.Context(), `
			INSERT INTO robots (id, first_seen, last_seen)
				WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
				SELECT 'r' || i, $2, $2 FROM n;
			INSERT INTO labels (robot, key, value) SELECT id, 'site', 'museum-' || substr(id, 2) % 20 FROM robots;
			INSERT INTO labels (robot, key, value) SELECT id, 'floor', substr(id, 2) % 4 FROM robots`, robots, time.Now().UnixMicro())
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (l *load) receive(kind schema.TopicKind, id string, doc any) {
	body, err := schema.Encode(doc)
	if err != nil {
		l.Fatal(err)
	}
	l.fleet.receive(link.Message{Topic: schema.DefaultNamespace.Topic(kind, id), Payload: body})
}

func boot(id string) string { return "0198c0de-0000-7000-8000-" + fmt.Sprintf("%012s", id[1:]) }

// Every fiftieth robot is not connected.
func connected(i int) bool { return i%50 != 49 }

func (l *load) presence(i int) {
	p := schema.Presence{TS: schema.TimeOf(time.Now()), State: schema.PresenceOnline, Session: boot(l.ids[i]), Boot: boot(l.ids[i]),
		Software: "robotd"}
	if !connected(i) {
		p.State = schema.PresenceLost
	}
	l.receive(schema.TopicPresence, l.ids[i], p)
}

func (l *load) beat(i int) {
	if !connected(i) {
		return
	}
	l.seq++
	l.receive(schema.TopicHeartbeat, l.ids[i], schema.Heartbeat{
		Session: boot(l.ids[i]), Boot: boot(l.ids[i]), Seq: l.seq, MonoMS: l.seq, Mode: schema.ModeAto, Safety: schema.SafetyEnabled,
		StateSeq: max(1, l.seq),
		Link:     schema.HeartbeatLink{State: schema.LinkUp},
	})
}

// state publishes a state in which the robot is at another act than before; some robots are
// paused or disabled.
func (l *load) state(i int) {
	l.seq++
	id := l.ids[i]
	s := schema.State{
		TS: schema.TimeOf(time.Now()), Session: boot(id), Boot: boot(id), StateSeq: l.seq,
		Safety: schema.StateSafety{State: schema.SafetyEnabled},
		Mode: schema.StateMode{System: schema.SystemRunning, Active: schema.ModeAto, Intended: schema.ModeAto, Phase: schema.PhaseRunning,
			Calibrated: true},
		Auto: schema.StateAuto{
			Status: schema.AutoPerforming, Story: &schema.StoryRef{ID: fmt.Sprintf("tour-%d", i%7), Rev: 3, SHA256: strings.Repeat("5e", 32)},
			Act: fmt.Sprintf("act-%d", l.seq%9), ActIndex: int(l.seq % 9), PauseHolders: []schema.Pause{},
		},
		Life: &schema.StateLife{State: schema.LifeSolitary},
	}
	switch l.seq % 40 {
	case 0:
		s.Auto.Status, s.Auto.PauseHolders = schema.AutoPaused, []schema.Pause{{Token: "operator:ann", By: "ann", Why: "a speech", Since: s.TS}}
	case 1:
		s.Safety.State, s.Auto.Status = schema.SafetyDisabled, schema.AutoStopped
	}
	l.receive(schema.TopicState, id, s)
}

// run publishes so many states a second, and heartbeats, until ctx ends.
func (l *load) run(ctx context.Context, rate int) {
	const step = 20 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	states, beats := 0, 0
	for began := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		since := time.Since(began).Seconds()
		for ; states < int(since*float64(rate)); states++ {
			if i := states % len(l.ids); connected(i) {
				l.state(i)
			}
		}
		for ; beats < int(since*float64(len(l.ids))/3.5); beats++ {
			l.beat(beats % len(l.ids))
		}
	}
}

// The list of a large fleet stays small on the wire, and comes in parts.
func TestStreamOfALargeFleetIsSmall(t *testing.T) {
	const robots, parts = 1100, 2 // a part has 1000
	l := newLoad(t, robots)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.server.URL+"/api/v1/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "gzip")
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	wire := &countingReader{from: answer.Body}
	zip, err := gzip.NewReader(wire)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for piece := make([]byte, 64<<10); bytes.Count(text.Bytes(), []byte("\n\n")) < 1+parts; {
		n, err := zip.Read(piece)
		text.Write(piece[:n])
		if err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for i, event := range strings.Split(text.String(), "\n\n")[1 : 1+parts] {
		body, isPart := strings.CutPrefix(event, "event: robots\ndata: ")
		var part api.Snapshot
		if err := json.Unmarshal([]byte(body), &part); err != nil || !isPart {
			t.Fatalf("part %d of the list is %.80s: %v", i+1, event, err)
		}
		for _, r := range part.Robots {
			seen[r.ID] = true
		}
		if part.More != (i+1 < parts) {
			t.Errorf("part %d of %d says more=%v", i+1, parts, part.More)
		}
	}
	if len(seen) != robots {
		t.Errorf("the parts list %d robots, want %d", len(seen), robots)
	}
	t.Logf("a robot is %d bytes in the snapshot, %d compressed", text.Len()/robots, wire.n/robots)
	if text.Len()/robots > 700 || wire.n/robots > 120 {
		t.Errorf("a robot is %d bytes in the snapshot, %d compressed; want at most 700 and 120", text.Len()/robots, wire.n/robots)
	}
}

type countingReader struct {
	from io.Reader
	n    int
}

func (r *countingReader) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	r.n += n
	return n, err
}

// TestConsoleLoad measures the console in Chromium with TROUPE_CONSOLE_LOAD=robots,rate,minutes
// (make console-load), and prints the figures. Without it, only that the world of it runs.
func TestConsoleLoad(t *testing.T) {
	robots, rate, minutes := 20, 100, 0
	measured := os.Getenv("TROUPE_CONSOLE_LOAD")
	if measured != "" {
		if _, err := fmt.Sscanf(measured, "%d,%d,%d", &robots, &rate, &minutes); err != nil {
			t.Fatalf("TROUPE_CONSOLE_LOAD=%s: want robots,rate,minutes such as 10000,2000,10: %v", measured, err)
		}
	}
	l := newLoad(t, robots)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); l.run(ctx, rate) }()
	defer func() { cancel(); <-done }()
	if measured == "" {
		before := l.fleet.view.Robots()[0].Act
		for deadline := time.Now().Add(20 * time.Second); l.fleet.view.Robots()[0].Act == before; pass(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the generator changes nothing")
			}
		}
		return
	}
	fmt.Printf("%d robots, %d changes a second, %d processors\n", robots, rate, runtime.NumCPU())
	const consoles, span = 8, 20 * time.Second
	idle := l.use(span, 0)
	with := l.use(span, consoles)
	fmt.Printf("fleetd with the generator: %.1f %% of a core; each of %d further consoles: %.2f %% (at most 5)\n", idle, consoles,
		(with-idle)/consoles)
	const few = 10
	floor := newLoad(t, few)
	cmd := exec.Command("node", "e2e/load.mjs", l.server.URL, fmt.Sprint(robots), fmt.Sprint(minutes), floor.server.URL, fmt.Sprint(few))
	cmd.Dir, cmd.Stdout, cmd.Stderr = "../console/web", os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("measure the console: %v", err)
	}
}

// use is how much of a core this process uses while so many consoles are open, in per cent.
// They are read by another process.
func (l *load) use(span time.Duration, consoles int) float64 {
	if consoles > 0 {
		readers := exec.Command("node", "e2e/readers.mjs", l.server.URL, fmt.Sprint(consoles))
		readers.Dir, readers.Stderr = "../console/web", os.Stderr
		ready, err := readers.StdoutPipe()
		if err == nil {
			err = readers.Start()
		}
		if err != nil {
			l.Fatal(err)
		}
		defer func() { _ = readers.Process.Kill(); _ = readers.Wait() }()
		if _, err := io.ReadFull(ready, make([]byte, len("ready"))); err != nil {
			l.Fatalf("open %d consoles: %v", consoles, err)
		}
		pass(5 * time.Second) // their snapshots are not what is measured
	}
	before, began := processTime(), time.Now()
	pass(span)
	return 100 * (processTime() - before).Seconds() / time.Since(began).Seconds()
}

func processTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// pass lets real time pass, in which fleetd is measured.
func pass(d time.Duration) { <-time.NewTimer(d).C }
