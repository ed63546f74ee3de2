// Package check tries an adapter on the bus and says which rules of the contract it keeps.
//
// It takes the place of robotd: it feeds the adapter, orders and commands it, and looks at
// what comes back. Rules that make a unit move are tried only on request. Some rules are
// watched all the time: those about states, permission and answers.
package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"troupe/broker/link"
	"troupe/schema"
	"troupe/schema/bus"
)

// Config says which adapter is tried.
type Config struct {
	URL     string                                      // of the bus; errors name it
	Dial    func(ctx context.Context) (net.Conn, error) // replaces URL within one process
	Adapter string                                      // empty: the only one on the bus
	Move    bool                                        // also try rules that make units move
	Begin   func(Report)                                // called before the rules are tried, if set
	Wait    time.Duration                               // for the adapter; 0 means 10 s

	only map[string]bool // the rules that are tried; nil = all
}

// Verdict is what became of a rule.
type Verdict string

// The verdicts.
const (
	Keeps   Verdict = "keeps"
	Breaks  Verdict = "breaks"
	Untried Verdict = "untried"
)

// Result is the verdict about one rule.
type Result struct {
	Rule    string
	Verdict Verdict
	Says    string // the rule
	Why     string // what was seen, or why it was not tried
}

// answerLimit is how long an action of a check may take.
const answerLimit = 15 * time.Second

// checker drives one adapter. It runs on one goroutine, and counts time in ticks.
type checker struct {
	config Config
	link   *link.Link
	inbox  chan link.Message
	ticker *time.Ticker

	name    string
	about   *bus.Describe
	session string
	robotd  string // session of another robotd that is there

	order   bus.Order
	ordered int // ticks since
	feeds   bool
	seq     int64
	key     uint64
	now     int // ticks

	state    *bus.State
	previous map[string]bus.UnitState
	stateAt  int // tick of the newest state
	got      int // messages in this second
	second   int
	answers  map[uint64][]bus.Event
	stopped  map[uint64]bool
	waited   bool              // a calibration reported that it waits for a permission
	broken   map[string]string // by rule that is watched all the time: what was seen first
}

// Report is what became of every rule.
type Report struct {
	Adapter string
	Units   []string
	Results []Result
}

// Run tries the adapter. An error means that it could not be tried.
func Run(ctx context.Context, cfg Config) (Report, error) {
	if cfg.Wait == 0 {
		cfg.Wait = 10 * time.Second
	}
	c := &checker{
		config: cfg, name: cfg.Adapter, inbox: make(chan link.Message, 8192), order: bus.OrderIdle,
		answers: map[uint64][]bus.Event{}, stopped: map[uint64]bool{}, broken: map[string]string{}, previous: map[string]bus.UnitState{},
	}
	if err := c.look(ctx); err != nil {
		return Report{}, err
	}
	if err := c.connect(ctx, c.presence); err != nil {
		return Report{}, err
	}
	report := Report{Adapter: c.name}
	for _, u := range c.about.Units {
		report.Units = append(report.Units, u.ID)
	}
	if cfg.Begin != nil {
		cfg.Begin(report)
	}
	c.ticker = time.NewTicker(bus.TickEvery)
	defer c.ticker.Stop()
	report.Results = c.tryAll(ctx)
	c.setOrder(bus.OrderStop)
	return report, errors.Join(ctx.Err(), c.link.Close(context.Background(), c.gone))
}

// look finds the adapter without being seen, and that no robotd is there.
func (c *checker) look(ctx context.Context) error {
	if err := c.connect(ctx, nil); err != nil {
		return err
	}
	var problem string
	present, others := map[string]*bus.Presence{}, map[string]bool{}
	c.ticker = time.NewTicker(bus.TickEvery)
	defer c.ticker.Stop()
	limit := int(c.config.Wait / bus.TickEvery)
	for n := 0; n < limit && (n < 25 || len(present) == 0); {
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), c.link.Close(context.Background()))
		case <-c.ticker.C:
			n++
		case m := <-c.inbox:
			if m.Topic == bus.RobotPresenceTopic {
				r, problems := schema.Decode[bus.RobotPresence](m.Payload)
				if c.robotd = ""; len(problems) == 0 && r.Present {
					c.robotd = r.Session
				}
				continue
			}
			name, what, ok := bus.FromAdapter(m.Topic)
			if !ok || what != bus.OutPresence {
				continue
			}
			p, problems := schema.DecodeStrict[bus.Presence](m.Payload)
			if c.config.Adapter != "" && name != c.config.Adapter {
				if delete(others, name); p.Present {
					others[name] = true
				}
				continue
			}
			if errs := schema.Errors(problems); len(errs) > 0 {
				problem = fmt.Sprintf("the presence of adapter %s is wrong: %s", name, errs[0])
				continue
			}
			if delete(present, name); p.Present {
				present[name] = &p
			}
		}
	}
	err := c.link.Close(context.Background())
	switch {
	case c.robotd != "":
		return fmt.Errorf("robotd is on the bus %s: end it first, only one may drive the adapter", c.config.URL)
	case len(present) == 0 && problem != "":
		return fmt.Errorf("%s, on the bus %s", problem, c.config.URL)
	case len(present) == 0 && c.config.Adapter != "" && len(others) > 0:
		return fmt.Errorf("adapter %s is not on the bus %s, but %s: start it, or give --adapter another name", c.config.Adapter, c.config.URL,
			strings.Join(slices.Sorted(maps.Keys(others)), ", "))
	case len(present) == 0:
		return fmt.Errorf("after %v no adapter%s is on the bus %s: start it with this address, and see its log if it runs", c.config.Wait,
			strings.TrimRight(" "+c.config.Adapter, " "), c.config.URL)
	case len(present) > 1:
		return fmt.Errorf("several adapters are on the bus %s: name one with --adapter: %s", c.config.URL,
			strings.Join(slices.Sorted(maps.Keys(present)), ", "))
	}
	for name, p := range present {
		c.name, c.about, c.session = name, p.Describe, p.Session
	}
	return err
}

func (c *checker) connect(ctx context.Context, presence func(string) link.Message) error {
	cfg := link.Config{
		URL: c.config.URL, Dial: c.config.Dial, ClientID: "check", MaxPacket: 2 * bus.MaxPayload, Presence: presence,
		Subscribe: []link.Subscription{{Filter: bus.RobotPresenceTopic, QoS: 1}, {Filter: bus.Out("+", bus.OutPresence), QoS: 1}},
		OnMessage: func(m link.Message) {
			select {
			case c.inbox <- m:
			default: // a flood; those that fit show it
			}
		},
	}
	if presence != nil {
		cfg.Will = c.gone
		cfg.Subscribe = append(cfg.Subscribe, link.Subscription{Filter: bus.Out(c.name, "#"), QoS: 1})
	}
	l, err := link.Open(ctx, cfg)
	if err != nil {
		return err
	}
	c.link = l
	up, cancel := context.WithTimeout(ctx, c.config.Wait)
	defer cancel()
	if err := l.WaitUp(up); err != nil {
		return errors.Join(fmt.Errorf("connect to the bus %s within %v: %w; start its broker, or serve the bus here with --bus-listen",
			c.config.URL, c.config.Wait, err), l.Close(context.Background()))
	}
	return nil
}

func (c *checker) presence(session string) link.Message {
	return c.robotPresence(bus.RobotPresence{V: bus.Version, Present: true, Session: session, Robot: "check", Language: "en"})
}

func (c *checker) gone(session string) link.Message {
	return c.robotPresence(bus.RobotPresence{V: bus.Version, Session: session})
}

// publishPresence says that robotd is there, or gone.
func (c *checker) publishPresence(m link.Message) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := c.link.Publish(ctx, m); err != nil {
		c.breaks("contract", "the bus takes no messages any more: "+err.Error())
	}
}

func (c *checker) robotPresence(p bus.RobotPresence) link.Message {
	return link.Message{Topic: bus.RobotPresenceTopic, Payload: encode(p), QoS: 1, Retain: true}
}

func encode(v any) []byte {
	payload, err := schema.Encode(v)
	if err != nil {
		panic("check: " + err.Error())
	}
	return payload
}

func (c *checker) send(what string, qos byte, payload []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := c.link.Publish(ctx, link.Message{Topic: bus.In(c.name, what), Payload: payload, QoS: qos}); err != nil {
		c.breaks("contract", "the bus takes no messages any more: "+err.Error())
	}
}

// tryAll tries every rule.
func (c *checker) tryAll(ctx context.Context) []Result {
	var results []Result
	for _, r := range rules {
		result := Result{Rule: r.name, Says: r.says, Verdict: Keeps}
		switch {
		case ctx.Err() != nil:
			result.Verdict, result.Why = Untried, "the check was ended"
		case r.applies != nil && !r.applies(c):
			result.Verdict, result.Why = Untried, "the adapter describes nothing to which it applies"
		case r.moves && !c.config.Move:
			result.Verdict, result.Why = Untried, "it makes a unit move: ask for it with --move, with the wheels off the ground"
		case r.cannot != nil && r.cannot(c) != "":
			result.Verdict, result.Why = Untried, r.cannot(c)
		case r.try != nil && c.config.only != nil && !c.config.only[r.name]:
			result.Verdict, result.Why = Untried, "only other rules are to be tried"
		case r.try != nil:
			c.calm()
			if result.Why = r.try(c); result.Why != "" {
				result.Verdict = Breaks
			}
		}
		results = append(results, result)
	}
	for i, r := range rules { // what was watched meanwhile
		if why := c.broken[r.name]; why != "" && results[i].Verdict != Breaks {
			results[i].Verdict, results[i].Why = Breaks, why
		}
	}
	return results
}

func (c *checker) breaks(rule, why string) {
	if c.broken[rule] == "" {
		c.broken[rule] = why
	}
}
