package crowd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"troupe/broker/brokertest"
	"troupe/robotd/brain"
	"troupe/robotd/clock"
	"troupe/robotd/driver/sim"
	"troupe/robotd/event"
	robotd "troupe/robotd/robot"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/score"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stand is a broker, clients, and a crowd s1, s2 ...; everything runs in one process and in fake time.
type stand struct {
	*testing.T
	broker     *brokertest.Broker
	op, fleetd *brokertest.Client
	crowd      *Crowd
}

func newStand(t *testing.T) *stand {
	b := brokertest.Start(t, brokertest.InProcess)
	brokertest.Record(t, b.Dial).Allow("troupe/v1/robots/+/cmd/op1/#") // the others are checked against the contract
	s := &stand{T: t, broker: b, op: b.Client(t, "op1"), fleetd: b.Client(t, "fleetd")}
	const robots = "troupe/v1/robots/+/"
	s.op.Subscribe(robots+"ack/op1", robots+"state", robots+"presence", robots+"caps", robots+"reported/+")
	return s
}

// start starts the crowd, and ends it with the test.
func (s *stand) start(cfg Config) {
	s.Helper()
	if cfg.Dial == nil {
		cfg.Dial = func(ctx context.Context, _ int) (net.Conn, error) { return s.broker.Dial(ctx) }
	}
	cfg.Prefix = "s"
	cfg.Logger = slog.New(slog.NewTextHandler(s.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctx, end := context.WithCancel(s.Context())
	running, ended := make(chan *Crowd, 1), make(chan error, 1)
	go func() { ended <- Run(ctx, cfg, func(c *Crowd) { running <- c }) }()
	select {
	case s.crowd = <-running:
	case err := <-ended:
		s.Fatal(err)
	}
	s.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			s.Errorf("the crowd ended with %v", err)
		}
	})
}

// until waits in fake time until the counts hold.
func (s *stand) until(within time.Duration, what string, holds func(Counts) bool) Counts {
	s.Helper()
	var c Counts
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if c = s.crowd.Counts(); holds(c) {
			return c
		}
	}
	s.Fatalf("%s not within %v: %v %v", what, within, c, c.ErrorLines())
	return c
}

func connected(n int) func(Counts) bool { return func(c Counts) bool { return c.Connected == n } }

// presence waits for a presence of a robot.
func (s *stand) presence(robot string, holds func(schema.Presence) bool) {
	s.Helper()
	s.op.ExpectThat("troupe/v1/robots/"+robot+"/presence", func(m brokertest.Message) bool {
		p, _ := schema.Decode[schema.Presence](m.Payload)
		return holds(p)
	})
}

// assign publishes a story and assigns it to robots.
func (s *stand) assign(rev int64, robots ...string) {
	s.Helper()
	seconds := int64(5000)
	act := score.Act{ID: "greet", Actions: []score.Action{{TimeoutMS: &seconds, Do: score.Say{Text: score.Text{"en": "Welcome"}}}}}
	story := score.Story{ID: "test", Name: score.Text{"en": "Test"}, Languages: []string{"en"}, Repeat: score.Repeat{Loop: true}}
	story.Acts = []score.Step{{Act: "greet"}}
	data, sum, err := score.EncodePublishedStory(story, map[string]score.Act{"greet": act}, rev)
	if err != nil {
		s.Fatal(err)
	}
	desired, err := schema.Encode(&schema.DesiredStory{Rev: rev, FleetID: "fleetd", Apply: schema.ApplyNextAct, TS: 1,
		Story: &schema.ContentPin{ID: "test", Rev: rev, SHA256: sum, Size: int64(len(data))}})
	if err != nil {
		s.Fatal(err)
	}
	s.fleetd.Retain("troupe/v1/blobs/"+sum, string(data))
	for _, r := range robots {
		s.fleetd.Retain("troupe/v1/robots/"+r+"/desired/story", string(desired))
	}
}

// ids are those of the crowd's first n robots.
func ids(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("s%d", i+1))
	}
	return all
}

// request is what an operator sends to both robots; sleep lets time pass before.
type request struct {
	Verb, Payload string
	Sleep         time.Duration
}

// commands draws a conversation: what people and programs send, valid or not.
var commands = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) request {
	c := rapid.SampledFrom([]request{
		{Verb: "sys/ping"}, {Verb: "sys/query"}, {Verb: "sys/resync"}, {Verb: "sys/reboot"},
		{Verb: "mode/set", Payload: `"args":{"mode":"mnl"}`}, {Verb: "mode/set", Payload: `"args":{"mode":"ato"}`},
		{Verb: "mode/set", Payload: `"args":{"mode":"nope"}`},
		{Verb: "mode/set", Payload: `"args":{}`}, {Verb: "mode/calibrate"}, {Verb: "mode/pause"},
		{Verb: "safety/enable"}, {Verb: "safety/disable"}, {Verb: "safety/stop"}, {Verb: "safety/halt"}, {Verb: "safety/estop"},
		{Verb: "safety/reset"}, {Verb: "safety/stop", Payload: `"args":{"latch":"l1","why":"test"}`},
		{Verb: "auto/pause"}, {Verb: "auto/continue"}, {Verb: "auto/stop"},
		{Verb: "act/perform", Payload: `"args":{"actions":[{"type":"say","start_ms":0,"timeout_ms":5000,"text":{"en":"hello"}}]}`},
		{Verb: "manual/volume", Payload: `"args":{"volume":0.5}`}, {Verb: "life/set", Payload: `"args":{"state":"disabled"}`},
		{Verb: "no/such", Payload: `"args":{}`}, {Verb: "sys/ping", Payload: `"ttl_ms":-1`}, {Verb: "sys/ping", Payload: `"surplus":1`},
		{Verb: "control/acquire"}, {Verb: "control/release"}, {Verb: "intent/ask", Payload: `"args":{"name":"greet"}`},
	}).Draw(t, "command")
	c.Sleep = time.Duration(rapid.SampledFrom([]int{0, 0, 300, 2500}).Draw(t, "sleep ms")) * time.Millisecond
	return c
}), 5, 25)

// TestRobotsOfACrowdAnswerAsRobotdDoes sends the same commands to robotd and to a robot of a crowd, and compares their
// answers, and the state in which they end.
func TestRobotsOfACrowdAnswerAsRobotdDoes(t *testing.T) {
	for seed := range 12 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				s := newStand(t)
				ctx, end := context.WithCancel(t.Context())
				data, ended := t.TempDir(), make(chan error, 1)
				go func() {
					for {
						err := robotd.Run(ctx, robotd.Config{
							ID: "r1", Dial: s.broker.Dial, Data: data, Driver: sim.New(sim.Config{}), Version: "test",
						})
						if !errors.Is(err, robotd.ErrReboot) {
							ended <- err
							return
						}
						time.Sleep(restartTime)
					}
				}()
				defer func() {
					end()
					if err := <-ended; err != nil {
						t.Errorf("robotd ended with %v", err)
					}
				}()
				s.start(Config{Count: 1, Version: "test"})
				s.until(10*time.Second, "connected", connected(1))
				s.assign(1, "r1", "s1")
				time.Sleep(5 * time.Second)
				for i, c := range commands.Example(seed) {
					time.Sleep(c.Sleep)
					id := fmt.Sprintf("%d", i)
					payload := `{"id":"` + id + `"`
					if c.Payload != "" {
						payload += "," + c.Payload
					}
					var answers [2]string
					for j, robot := range []string{"r1", "s1"} {
						s.op.Publish("troupe/v1/robots/"+robot+"/cmd/op1/"+c.Verb, payload+"}")
						answers[j] = s.answer(robot, id)
					}
					if answers[0] != answers[1] {
						t.Fatalf("%d: %s %s: robotd answers %s, the crowd %s", i, c.Verb, payload, answers[0], answers[1])
					}
					if c.Verb == "sys/reboot" && strings.Contains(answers[0], "SUCCEEDED") {
						time.Sleep(30 * time.Second)
					}
				}
				for _, robot := range []string{"r1", "s1"} { // so that none is in the middle of an act
					s.op.Publish("troupe/v1/robots/"+robot+"/cmd/op1/mode/set", `{"id":"end","args":{"mode":"mnl"}}`)
					s.answer(robot, "end")
				}
				time.Sleep(15 * time.Second)
				if real, ours := s.document("r1"), s.document("s1"); real != ours {
					t.Errorf("the states differ:\nrobotd: %s\ncrowd:  %s", real, ours)
				}
			})
		})
	}
}

// answer returns what matters of a robot's final answer; "none" if none comes.
func (s *stand) answer(robot, id string) string {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		for _, m := range s.op.Inbox("troupe/v1/robots/" + robot + "/ack/op1") {
			a, problems := schema.Decode[schema.Ack](m.Payload)
			if len(problems) > 0 || a.ID == nil || *a.ID != id || !a.Status.Final() {
				continue
			}
			return fmt.Sprint(a.Status, a.Reason, a.Result, a.Detail, a.Current != nil, current(a))
		}
	}
	return "none"
}

// document returns the newest state of a robot, without what differs between two runs: ids, times and counters, and how far the
// story was, because whether an act had just ended when a command came is a matter of milliseconds.
func (s *stand) document(robot string) string {
	all := s.op.Inbox("troupe/v1/robots/" + robot + "/state")
	if len(all) == 0 {
		return "none"
	}
	var d map[string]any
	if err := json.Unmarshal(all[len(all)-1].Payload, &d); err != nil {
		s.Fatal(err)
	}
	for _, key := range []string{"ts", "session", "boot", "state_seq", "requests", "events", "alerts", "queue"} {
		delete(d, key)
	}
	if auto, is := d["auto"].(map[string]any); is {
		delete(auto, "loop")
		delete(auto, "act")
		delete(auto, "act_index")
	}
	strip(d)
	text, err := json.Marshal(d)
	if err != nil {
		s.Fatal(err)
	}
	return strings.ReplaceAll(string(text), robot, "ID")
}

// strip removes times, everywhere.
func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, one := range v {
			if _, number := one.(string); number && (key == "ts" || key == "since" || key == "at" || strings.HasSuffix(key, "_at")) {
				delete(v, key)
			} else if strings.HasSuffix(key, "_ms") || strings.HasSuffix(key, "_seq") {
				delete(v, key)
			} else {
				strip(one)
			}
		}
	case []any:
		for _, one := range v {
			strip(one)
		}
	}
}

func TestCrowdComesBackAfterARestartOfTheBroker(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const n = 50
		first := newStand(t)
		var broker atomic.Pointer[brokertest.Broker]
		broker.Store(first.broker)
		first.start(Config{Count: n, Dial: func(ctx context.Context, _ int) (net.Conn, error) {
			b := broker.Load()
			if b == nil {
				return nil, errors.New("connection refused")
			}
			return b.Dial(ctx)
		}})
		first.until(10*time.Second, "connected", connected(n))
		second := brokertest.Start(t, brokertest.InProcess)
		op := second.Client(t, "op1")
		op.Subscribe("troupe/v1/robots/+/state", "troupe/v1/robots/+/caps", "troupe/v1/robots/+/presence")
		broker.Store(nil)
		for i := range n {
			r := first.crowd.robot(i)
			r.shard.send(input{r: r, do: inDo, fn: func(r *robot) { r.conn.Close() }})
		}
		first.until(5*time.Second, "disconnected", connected(0))
		time.Sleep(30 * time.Second)
		broker.Store(second)
		c := first.until(20*time.Second, "connected again", connected(n))
		if c.Lost != n {
			t.Errorf("%d connections lost, want %d", c.Lost, n)
		}
		time.Sleep(time.Second)
		for _, kind := range []string{"state", "caps", "presence"} {
			robots := map[string]bool{}
			for _, m := range op.Inbox("troupe/v1/robots/+/" + kind) {
				robots[m.Topic] = true
			}
			if len(robots) != n {
				t.Errorf("the new broker has the %s of %d robots", kind, len(robots))
			}
		}
	})
}

func TestRobotsOfACrowdShareAStoryAndPerformIt(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const n = 20
		s := newStand(t)
		goesOn := map[schema.ModeID]schema.LinkLoss{"ato": schema.LinkLossContinue}
		s.start(Config{Count: n, LinkLoss: goesOn, Scenario: Scenario{Performing: 0.5}})
		s.until(10*time.Second, "connected", connected(n))
		s.assign(1, ids(n)...)
		s.until(20*time.Second, "have the story", func(c Counts) bool { return c.Story == n && c.Adopted == n })
		if got := len(s.crowd.blobs.stories.all); got != 1 {
			t.Errorf("%d robots with the same story parsed it %d times", n, got)
		}
		want := 0
		for i := range n {
			if Share(0.5).has(i, 3) {
				want++
			}
		}
		s.until(20*time.Second, "perform", func(c Counts) bool { return c.Performing == want })
		s.op.Publish("troupe/v1/fleet/cmd/op1/stop", `{"id":"all"}`)
		c := s.until(5*time.Second, "stopped", func(c Counts) bool { return c.Stopped == n && c.LiveStops == n })
		if c.StopLast.Before(c.StopFirst) || c.StopFirst.IsZero() {
			t.Errorf("first %v, last %v", c.StopFirst, c.StopLast)
		}
	})
}

func TestScenarioHappens(t *testing.T) {
	for _, c := range []struct {
		name     string
		scenario Scenario
		seen     func(*stand)
	}{
		{"churn", Scenario{Churn: Rate{60, 5 * time.Second}}, func(s *stand) {
			s.presence("s1", func(p schema.Presence) bool {
				return p.State == schema.PresenceOffline && p.Reason == "scenario: churn"
			})
			s.presence("s1", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })
		}},
		{"link loss", Scenario{LinkLoss: Rate{60, 5 * time.Second}}, func(s *stand) {
			s.presence("s1", func(p schema.Presence) bool { return p.State == schema.PresenceLost })
			s.presence("s1", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })
		}},
		{"stalled", Scenario{Stalled: Rate{60, 40 * time.Second}}, func(s *stand) {
			time.Sleep(20 * time.Second) // the broker waits 15 s for a ping
			s.presence("s1", func(p schema.Presence) bool { return p.State == schema.PresenceLost })
			time.Sleep(30 * time.Second)
			s.presence("s1", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })
		}},
		{"slow", Scenario{Slow: Every{1, 700 * time.Millisecond}}, func(s *stand) {
			s.presence("s1", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })
			time.Sleep(5 * time.Second)
			began := time.Now()
			s.op.Publish("troupe/v1/robots/s1/cmd/op1/sys/ping", `{"id":"slow"}`)
			if got := s.answer("s1", "slow"); !strings.HasPrefix(got, "SUCCEEDED") || time.Since(began) < 700*time.Millisecond {
				s.Errorf("answered %s after %v", got, time.Since(began))
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				s := newStand(t)
				s.start(Config{Count: 1, Scenario: c.scenario})
				s.presence("s1", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })
				c.seen(s)
			})
		})
	}
}

func TestScenarioIsChangedWhileItHappens(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.start(Config{Count: 20})
		lost := func() int64 { return s.until(30*time.Second, "all are connected", connected(20)).Lost }
		if n := lost(); n != 0 {
			t.Errorf("%d connections are lost without a scenario", n)
		}
		s.crowd.Change(Scenario{LinkLoss: Rate{60, 5 * time.Second}})
		time.Sleep(30 * time.Second)
		s.crowd.Change(Scenario{})
		time.Sleep(10 * time.Second)
		during := lost()
		if during < 20 || during > 30 {
			t.Errorf("%d connections were lost within 30 s, of 60 a minute", during)
		}
		time.Sleep(time.Minute)
		if more := lost() - during; more != 0 {
			t.Errorf("%d connections were lost after the scenario", more)
		}
	})
}

// TestCountsAreThoseOfAllRobots compares the counts, for which only robots are looked at to which something has happened, with a look at
// all.
func TestCountsAreThoseOfAllRobots(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const n = 40
		s := newStand(t)
		goesOn := map[schema.ModeID]schema.LinkLoss{"ato": schema.LinkLossContinue}
		s.start(Config{Count: n, LinkLoss: goesOn, Scenario: Scenario{Performing: 0.5, Churn: Rate{60, 5 * time.Second},
			LinkLoss: Rate{60, 5 * time.Second}}})
		s.assign(1, ids(n)...)
		var most Counts
		for i := range 240 {
			switch i {
			case 60: // the robot crashes in a step
				r := s.crowd.robot(0)
				r.shard.send(input{r: r, do: inDo, fn: func(*robot) { panic("test") }})
			case 160:
				s.op.Publish("troupe/v1/fleet/cmd/op1/stop", `{"id":"all"}`)
			}
			time.Sleep(250 * time.Millisecond)
			for _, sh := range s.crowd.shards {
				done := make(chan struct{})
				sh.send(input{do: inDo, fn: func(*robot) {
					defer close(done)
					want := sh.own
					want.Connected, want.Away, want.Adopted, want.Story, want.Performing, want.Stopped = 0, 0, 0, 0, 0, 0
					for _, r := range sh.robots {
						is := standing{up: r.phase == up, away: r.state == nil}
						if r.state != nil {
							is.Tally = r.state.Tally()
						}
						want.stand(is, 1)
					}
					if got := sh.count(); got.String() != want.String() {
						t.Errorf("after %d rounds\n%v, and of all robots\n%v", i, got, want)
					}
				}})
				<-done
			}
			c := s.crowd.Counts()
			most.Connected, most.Away, most.Adopted = max(most.Connected, c.Connected), max(most.Away, c.Away), max(most.Adopted, c.Adopted)
			most.Story, most.Performing, most.Stopped = max(most.Story, c.Story), max(most.Performing, c.Performing), max(most.Stopped, c.Stopped)
			if c.Robots != n {
				t.Fatalf("%d robots are counted", c.Robots)
			}
		}
		if most.Connected == 0 || most.Away == 0 || most.Adopted == 0 || most.Story == 0 || most.Performing == 0 || most.Stopped == 0 {
			t.Errorf("not everything has happened: %v", most)
		}
	})
}

func TestRobotsOfACrowdSayThatTheyAreSimulated(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.start(Config{Count: 1, First: 7})
		s.op.ExpectThat("troupe/v1/robots/s7/caps", func(m brokertest.Message) bool {
			caps, problems := schema.Decode[schema.Caps](m.Payload)
			if len(problems) > 0 || caps.Robot.Model != Model || caps.Robot.Serial != "simulated-s7" || caps.Robot.HW != "simulated" {
				t.Errorf("caps %s %v", m.Payload, problems)
			}
			return true
		})
	})
}

func TestConfigurationIsRefusedWithAllReasons(t *testing.T) {
	err := Run(t.Context(), Config{Count: 0, Prefix: "S_", Broker: "http://broker", Spread: 300, First: -1}, nil)
	for _, want := range []string{"count 0", `prefix "S_"`, `broker "http://broker"`, "spread 300", "first -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

func TestScenarioFileIsRefusedWithLineAndReason(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "1: want entries such as link_loss: {per_minute: 60, away_s: 5}"},
		{"- churn", "1: want entries such as link_loss: {per_minute: 60, away_s: 5}"},
		{"churn: {per_minute: 60, away_s: 5}\n---\na: 1", "2: want one document, and here is another"},
		{"\n\tchurn: 1", "2: yaml: line 2: found character that cannot start any token"},
		{"rain: {per_minute: 1}", "1: rain: no such entry; there are churn, failing, link_loss, performing, slow, stalled"},
		{"churn: 5", "1: churn: want {per_minute: ..., away_s: ...}"},
		{"churn: {per_minute: 60}", "1: churn: away_s is missing"},
		{"churn: {per_minute: 60, away_s: 5, away_ms: 5}", "1: churn: away_ms: no such field; there are per_minute, away_s"},
		{"churn:\n  per_minute: many\n  away_s: 5", `2: churn: per_minute: "many" is not a number from 0 to 1e+06`},
		{"slow: {share: 1.5, delay_ms: 10}", `1: slow: share: "1.5" is not a number from 0 to 1`},
		{"slow: {share: .nan, delay_ms: 10}", `1: slow: share: ".nan" is not a number from 0 to 1`},
		{"slow: {share: [1], delay_ms: 10}", `1: slow: share: "" is not a number from 0 to 1`},
		{"stalled: {per_minute: 1, per_minute: 2, for_s: 1}", "1: stalled: per_minute is given twice"},
		{"performing: {share: 1}\nperforming: {share: 0}", "2: performing is given twice, first in line 1"},
		{"failing: {share: 1, every_s: 0}\nslow: {share: 2, delay_ms: 0}",
			`1: failing: every_s: "0" is not a number from 0.1 to 3600|2: slow: share: "2" is not a number from 0 to 1|` +
				`2: slow: delay_ms: "0" is not a number from 1 to 60000`},
		{strings.Repeat("#", scenarioBytes+1), "1: the scenario has more than 65536 bytes"},
	} {
		_, faults := parseScenario([]byte(c.text))
		var got []string
		for _, f := range faults {
			got = append(got, fmt.Sprintf("%d: %s", f.line, f.text))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%.60q:\n got %s\nwant %s", c.text, strings.Join(got, "|"), c.want)
		}
	}
}

func TestScenarioFileIsRead(t *testing.T) {
	s, faults := parseScenario([]byte(`
churn: {per_minute: 60, away_s: 20}
link_loss: {per_minute: 120.5, away_s: 5}
stalled: {per_minute: 6, for_s: 30}
slow: {share: 0.01, delay_ms: 200}
failing: {share: 0.05, every_s: 30}
performing: {share: 0.5}
`))
	want := Scenario{
		Churn: Rate{60, 20 * time.Second}, LinkLoss: Rate{120.5, 5 * time.Second}, Stalled: Rate{6, 30 * time.Second},
		Slow: Every{0.01, 200 * time.Millisecond}, Failing: Every{0.05, 30 * time.Second}, Performing: 0.5,
	}
	if s != want || len(faults) > 0 {
		t.Errorf("%+v %v", s, faults)
	}
}

// TestWheelCallsEachRobotAtItsTime sets and changes the times of robots at random.
func TestWheelCallsEachRobotAtItsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w wheel
		robots := make([]*robot, 20)
		due := map[*robot]time.Duration{}
		for i := range robots {
			robots[i] = &robot{n: i}
		}
		now := time.Duration(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			r := robots[rapid.IntRange(0, len(robots)-1).Draw(t, "robot")]
			switch rapid.IntRange(0, 3).Draw(t, "do") {
			case 0:
				w.remove(r)
				delete(due, r)
			case 1, 2:
				at := now + time.Duration(rapid.IntRange(-100, 1900).Draw(t, "in ms"))*time.Millisecond
				w.set(r, at)
				due[r] = max(at, now)
			case 3:
				now += time.Duration(rapid.IntRange(0, 500).Draw(t, "ms")) * time.Millisecond
				for r := w.take(now); r != nil; r = w.take(now) {
					at, is := due[r]
					if !is || at > now+wheelSlot {
						t.Fatalf("robot %d is called at %v, its time is %v", r.n, now, at)
					}
					delete(due, r)
				}
				for r, at := range due {
					if at+wheelSlot <= now {
						t.Fatalf("robot %d is not called at %v, its time is %v", r.n, now, at)
					}
				}
			}
			if w.len != len(due) {
				t.Fatalf("the wheel has %d robots, want %d", w.len, len(due))
			}
			at, any := w.next()
			if any != (len(due) > 0) {
				t.Fatalf("next is %v %v, %d robots wait", at, any, len(due))
			}
			for r, d := range due {
				if d < at-wheelSlot {
					t.Fatalf("next is %v, the time of robot %d is %v", at, r.n, d)
				}
			}
		}
	})
}

// TestRobotIsSmall measures what a robot without a connection has beyond its brain. A connection adds a goroutine and a buffer
// of 256 bytes.
func TestRobotIsSmall(t *testing.T) {
	const n, most = 200, 16 << 10
	newTestCrowd := func() *Crowd {
		dial := func(context.Context, int) (net.Conn, error) { return nil, net.ErrClosed }
		c, err := newCrowd(Config{Count: n, Prefix: "s", Dial: dial})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	inUse := func() int64 {
		for last := uint64(0); ; { // until what the tests before have left is gone
			runtime.GC()
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.HeapAlloc >= last-last/200 && m.HeapAlloc <= last+last/200 {
				return int64(m.HeapAlloc)
			}
			last = m.HeapAlloc
		}
	}
	c, brains := newTestCrowd(), make([]*brain.State, n)
	before := inUse()
	for i := range brains {
		at := time.Now()
		brains[i], _ = c.newBrain(c.id(i), c.id(i)+"-boot", brain.Memory{}, at)
		brain.Step(brains[i], clock.Read(at, at), event.Begin{}, nil)
	}
	ofBrain := (inUse() - before) / n
	runtime.KeepAlive(brains)
	brains = nil
	c = newTestCrowd()
	before = inUse()
	for i := range n {
		c.robot(i).start()
	}
	whole := (inUse() - before) / n
	runtime.KeepAlive(c)
	t.Logf("the brain has %d bytes, the rest of a robot %d", ofBrain, whole-ofBrain)
	if whole-ofBrain > most {
		t.Errorf("a robot has %d bytes beyond the %d of its brain, want at most %d", whole-ofBrain, ofBrain, most)
	}
}

func current(a schema.Ack) schema.AckState {
	if a.Current == nil {
		return schema.AckState{}
	}
	return *a.Current
}
