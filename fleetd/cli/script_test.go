package cli_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/cli"
	"troupe/fleetd/command"
	"troupe/fleetd/fleet"
	"troupe/fleetd/fleet/fleettest"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fleetd": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		os.Exit(cli.Main(ctx, cli.System(), "v0-test", os.Args[1:]...))
	}})
}

// stage is what runs for every script: a broker, a fleetd instance, and the robots that
// the script starts.
type stage struct {
	t      testing.TB
	broker *brokertest.Broker
	fleetd *fleet.Fleet
	robots map[string]*fleettest.Robot
}

type stageKey struct{}

// TestScripts runs each script in testdata with its own fleetd instance. Besides fleetd,
// scripts can use these commands:
//
//	robot ID...          start simulated robots and wait until they are online
//	answers ID STATUS [REASON [POINTER]]   set how a robot answers from now on; "mute": not at all
//	leaves ID            disconnect a robot cleanly
//	happens ROBOT TYPE   let it publish an event of this type
//	teaches ROBOT POINT X Y [MAP]   let it list a point that it was taught, on the map of this digest
//	stands ROBOT STATUS REASON   let it publish that ato has this status
//	exits CODE ARGS...   run a command and expect this exit code
//	eventually ARGS...   repeat a command until it succeeds
//	hanging              start a server that accepts connections and never answers, at $HANGING
//	large FILE           make a file one byte larger than the limit of assets
//	envfrom VARIABLE FILE   set a variable to the first line of a file
//	printed FILE         write the password that the last fleetd printed to a file
//	sound FILE SAMPLES   write a recording
//	forbidding           start a fleetd API that forbids everything, at $FORBIDDING
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup:               func(env *testscript.Env) error { return setUp(t, env) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"robot": startRobots, "answers": answers, "leaves": leaves, "exits": exits, "eventually": eventually, "forbidding": forbidding,
			"envfrom": envFrom, "printed": printed,
			"hanging": hanging, "large": large, "sound": sound, "happens": happens, "stands": stands, "teaches": teaches,
		},
	})
}

func setUp(t *testing.T, env *testscript.Env) error {
	b, err := newStage(t)
	if err != nil {
		return err
	}
	env.Values[stageKey{}] = b
	env.Defer(b.close)
	_, port, err := net.SplitHostPort(b.broker.Addr())
	if err != nil {
		return err
	}
	env.Setenv("TROUPE_SERVER", b.fleetd.URL())
	env.Setenv("SERVER", b.fleetd.URL())
	env.Setenv("TROUPE_BY", "ann")
	env.Setenv("BROKER", "mqtt://127.0.0.1:"+port)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	env.Setenv("FREE", free.Addr().String()) // for a fleetd instance that the script starts
	if err := free.Close(); err != nil {
		return err
	}
	env.Setenv("NOBODY", "http://127.0.0.1:1") // no server listens there
	env.Setenv("GORACE", "atexit_sleep_ms=10") // each fleetd with the race detector would wait for a second at its end
	return nil
}

func newStage(t *testing.T) (*stage, error) {
	b := &stage{t: t, broker: brokertest.Start(t), robots: map[string]*fleettest.Robot{}}
	var err error
	b.fleetd, err = fleet.Start(context.Background(), fleet.Config{
		HTTP: "127.0.0.1:0", Broker: b.broker.URL(), Database: storetest.SQLite(t), Dev: true,
		Version: "v0-test", Logger: slog.New(slog.DiscardHandler),
	})
	return b, err
}

func (b *stage) close() {
	for _, r := range b.robots {
		r.Close()
	}
	if err := b.fleetd.Close(); err != nil {
		b.t.Errorf("close fleetd: %v", err)
	}
}

func startRobots(ts *testscript.TestScript, _ bool, ids []string) {
	b := ts.Value(stageKey{}).(*stage)
	for _, id := range ids {
		b.robots[id] = fleettest.Start(b.t, id, brokertestDial(b))
	}
	for _, id := range ids {
		until(ts, id+" is online", func() bool {
			d, ok := b.fleetd.Robot(id)
			return ok && d.Adopted && d.Presence.Status == "online" && d.Caps != nil && d.State != nil && d.Reported != nil
		})
	}
}

func brokertestDial(b *stage) fleettest.Dial {
	return func(ctx context.Context) (net.Conn, error) { return b.broker.Dial(ctx) }
}

func until(ts *testscript.TestScript, what string, holds func() bool) {
	limit := time.NewTimer(fleettest.Timeout)
	defer limit.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !holds() {
		select {
		case <-limit.C:
			ts.Fatalf("timeout, waited until %s", what)
		case <-look.C:
		}
	}
}

func robotOf(ts *testscript.TestScript, id string) *fleettest.Robot {
	r := ts.Value(stageKey{}).(*stage).robots[id]
	if r == nil {
		ts.Fatalf("robot %s was not started", id)
	}
	return r
}

func answers(ts *testscript.TestScript, _ bool, args []string) {
	r := robotOf(ts, args[0])
	switch {
	case args[1] == "mute":
		r.Mute(true)
	case args[1] == "again":
		r.Mute(false)
		r.Answer(nil)
	default:
		a := schema.Ack{Status: schema.Status(args[1])}
		if len(args) > 2 {
			a.Reason = schema.Reason(args[2])
		}
		if len(args) > 3 {
			a.Pointer = args[3]
		}
		r.Answer(func(string, verb.Request) []schema.Ack { return []schema.Ack{a} })
	}
}

func happens(ts *testscript.TestScript, _ bool, args []string) {
	robotOf(ts, args[0]).Event(args[1])
	until(ts, args[1]+" of "+args[0]+" is stored", func() bool {
		return ts.Exec("fleetd", "event", "list", "--robot", args[0], "--type", args[1], "-o", "json") == nil &&
			strings.Contains(ts.ReadFile("stdout"), args[1])
	})
}

func teaches(ts *testscript.TestScript, _ bool, args []string) {
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		ts.Check(err)
		return v
	}
	b := ts.Value(stageKey{}).(*stage)
	d, _ := b.fleetd.Robot(args[0])
	caps := *d.Caps
	caps.Points = append(slices.Clone(caps.Points), args[1])
	caps.TaughtPoints = append(slices.Clone(caps.TaughtPoints), schema.TaughtPoint{ID: args[1], XM: number(args[2]), YM: number(args[3])})
	caps.TaughtMap = strings.Join(args[4:], "")
	payload, err := schema.Encode(caps)
	ts.Check(err)
	robotOf(ts, args[0]).Raw(schema.TopicCaps, string(payload))
	until(ts, args[0]+" lists "+args[1], func() bool {
		d, _ := b.fleetd.Robot(args[0])
		return len(d.Caps.TaughtPoints) == len(caps.TaughtPoints)
	})
}

func stands(ts *testscript.TestScript, _ bool, args []string) {
	status, reason := schema.AutoStatus(args[1]), schema.Reason(args[2])
	robotOf(ts, args[0]).Change(func(s *schema.State) {
		s.Mode.Active, s.Mode.Intended, s.Auto.Status, s.Auto.Reason = schema.ModeAto, schema.ModeAto, status, reason
	})
	until(ts, args[0]+" is "+args[1], func() bool {
		d, _ := ts.Value(stageKey{}).(*stage).fleetd.Robot(args[0])
		return d.Auto == status && d.AutoReason == reason
	})
}

func leaves(ts *testscript.TestScript, _ bool, args []string) {
	b := ts.Value(stageKey{}).(*stage)
	robotOf(ts, args[0]).Close()
	until(ts, args[0]+" is offline", func() bool { d, _ := b.fleetd.Robot(args[0]); return d.Presence.Status == "offline" })
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var e *exec.ExitError
		if !errors.As(err, &e) {
			ts.Fatalf("%v", err)
		}
		code = e.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// sound writes a recording of 8 bits, whose samples are a text.
func sound(ts *testscript.TestScript, _ bool, args []string) {
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(args[1])))
	head := "RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(head+string(size)+args[1]), 0o600))
}

func large(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(path, nil, 0o600))
	ts.Check(os.Truncate(path, score.MaxAsset+1))
}

func eventually(ts *testscript.TestScript, _ bool, args []string) {
	until(ts, strings.Join(args, " "), func() bool { return ts.Exec(args[0], args[1:]...) == nil })
}

func envFrom(ts *testscript.TestScript, _ bool, args []string) {
	line, _, _ := strings.Cut(ts.ReadFile(args[1]), "\n")
	ts.Setenv(args[0], line)
}

func printed(ts *testscript.TestScript, _ bool, args []string) {
	found := regexp.MustCompile(`The password of the user admin is in the file  (.+)\n`).FindStringSubmatch(ts.ReadFile("stderr"))
	if found == nil {
		ts.Fatalf("no file with the password was named")
	}
	file := ts.MkAbs(found[1])
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		ts.Fatalf("the file of the password: %v, %v", info, err)
	}
	password := strings.TrimSpace(ts.ReadFile(file))
	if strings.Contains(ts.ReadFile("stderr"), password) {
		ts.Fatalf("the password is on the standard error, too")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(password+"\n"), 0o600))
}

func forbidding(ts *testscript.TestScript, _ bool, _ []string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := api.KindNotAllowed.Problem("not with this token: "+r.Header.Get("Authorization"), "ask for another")
		w.WriteHeader(p.Status)
		if err := json.NewEncoder(w).Encode(p); err != nil {
			panic(err)
		}
	}))
	ts.Defer(s.Close)
	ts.Setenv("FORBIDDING", s.URL)
}

func hanging(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	ts.Setenv("HANGING", "http://"+l.Addr().String())
}

func TestInterruptedCallIsNotReportedAsUnreachable(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		interrupt()
		<-r.Context().Done()
	}))
	defer s.Close()
	var out, errs strings.Builder
	code := cli.Main(ctx, cli.Streams{Out: &out, Err: &errs}, "v0", "robot", "list", "--server", s.URL)
	if code == 0 || !strings.Contains(errs.String(), "interrupted") || strings.Contains(errs.String(), "cannot reach") {
		t.Errorf("code %d, %s", code, errs.String())
	}
}

func TestPausesAndStopsAreShownWithWhatEndsThem(t *testing.T) {
	fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		robot := view.Robot{ID: "r1", Auto: schema.AutoPaused, PauseHolders: []schema.Pause{
			{Token: "operator:fleetd/1"}, {Token: "operator:fleetd/ann/2", By: "ann"}, {Token: "operator:fleetd/3"},
		}}
		robot.Latches = []schema.StopLatch{{ID: "s-1"}}
		stopped := view.Robot{ID: "r2", Auto: schema.AutoPaused,
			PauseHolders: []schema.Pause{{Token: "safety", Why: string(schema.ReasonNeedsContinue)}}}
		var answer any
		switch {
		case r.Method == http.MethodPost:
			answer = api.Batch{ID: "b", Verb: "mode/set", Total: 1, Outcome: command.OutcomeSucceeded,
				Commands: []api.Command{{Robot: "r1", State: command.Succeeded}}}
		case strings.HasSuffix(r.URL.Path, "/r1"):
			answer = view.Detail{Robot: robot, Modes: &schema.Modes{Modes: []schema.Mode{
				{ID: schema.ModeSafe, WhyNot: []schema.WhyNot{{Reason: schema.ReasonInvalidTransition}}},
				{ID: schema.ModeAto, WhyNot: []schema.WhyNot{{Reason: schema.ReasonNoDefaultStory, Detail: "no story"}}},
			}}}
		case strings.HasSuffix(r.URL.Path, "/r2"):
			answer = view.Detail{Robot: stopped}
		default:
			answer = map[string]any{"robots": []view.Robot{robot, stopped}}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer fleetd.Close()
	for line, want := range map[string]string{
		"robot list":    "paused by fleetd (2), ann",
		"robot get r1":  "cannot go to ato: no story",
		"robot get r2":  "its cause is gone: fleetd auto continue r2 resumes\n",
		"robot list r2": "paused by safety (fleetd auto continue r2)",
		"mode set ato r1 --wait": "r1 is stopped by latched stop s-1: performs after its release (fleetd stop release s-1 --why REASON) and " +
			"fleetd safety enable r1\n",
	} {
		var out strings.Builder
		cli.Main(t.Context(), cli.Streams{Out: &out, Err: &out}, "v0", append(strings.Fields(line), "--server", fleetd.URL)...)
		if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "to safe") {
			t.Errorf("%s: want %q in\n%s", line, want, out.String())
		}
	}
}
