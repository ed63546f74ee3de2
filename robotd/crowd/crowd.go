// Package crowd runs thousands of simulated robots in one process. Each has the brain of a robot, that is its Step with all of its
// documents and answers, a simulated body, a journal in memory and an MQTT connection of its own; fleetd and a broker
// see what they see of real ones, but for the model, the serial number and the hardware, which say that they are simulated.
//
// A shard is a goroutine that owns a share of the robots: it takes what their connections received, and calls each robot when its
// time has come (wheel). So a robot costs one goroutine, which reads its connection. Writes go to the network at once; only
// while the network does not take them, or a robot connects or fetches a blob, there is a second one.
//
// Contents that are the same for many robots, by their digest, are in memory once and parsed once.
package crowd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"troupe/broker/link"
	"troupe/robotd/config"
	"troupe/robotd/driver"
	"troupe/robotd/driver/sim"
	"troupe/robotd/mode"
	robotd "troupe/robotd/robot"
	"troupe/schema"
)

// Config says how many robots there are, where their broker is and what happens to them.
type Config struct {
	Prefix    string // of the ids: s gives s1, s2, ...
	First     int    // number of the first one; 0 = 1
	Count     int
	Broker    string                                                 // mqtt:// or mqtts://host:port
	Engine    link.Engine                                            // of that broker; empty = Troupe
	Dial      func(ctx context.Context, robot int) (net.Conn, error) // replaces Broker within one process
	TLS       *tls.Config                                            // for mqtts://; nil = the system's CAs
	Password  string                                                 // of every robot; empty = none
	Namespace schema.Namespace
	Spread    int // connect from as many local addresses, 127.0.0.1 and following, because a broker paces connections by address; 0 = one

	BootMode schema.ModeID
	LinkLoss map[schema.ModeID]schema.LinkLoss // what a mode does without heartbeats of fleetd; others: as that of robotd
	Version  string
	Scenario Scenario
	Seed     uint64 // of what the scenario draws
	Logger   *slog.Logger

	dial func(ctx context.Context, n int) (net.Conn, error)
}

// maxCount is a bound against a slip of the hand: 100,000 robots need as many sockets, and gigabytes.
const maxCount = 100_000

// check completes cfg, and returns all that is wrong with it.
func (cfg *Config) check() error {
	cfg.First = cmp.Or(cfg.First, 1)
	cfg.Namespace = cmp.Or(cfg.Namespace, schema.DefaultNamespace)
	cfg.Engine = cmp.Or(cfg.Engine, link.Troupe)
	cfg.Version = cmp.Or(cfg.Version, "unknown")
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if cfg.Count < 1 || cfg.Count > maxCount {
		refuse("count %d: want 1 to %d robots", cfg.Count, maxCount)
	}
	if cfg.First < 1 || cfg.First > 10_000_000 {
		refuse("first %d: want 1 to 10000000", cfg.First)
	}
	if last := cfg.Prefix + strconv.Itoa(cfg.First+cfg.Count); !schema.ValidID(last) {
		refuse("prefix %q: %s is not the id of a robot: a-z, 0-9 and hyphens, at most 63", cfg.Prefix, last)
	}
	if cfg.Spread < 0 || cfg.Spread > 250 {
		refuse("spread %d: want 0 to 250 local addresses", cfg.Spread)
	}
	if !schema.ValidNamespace(string(cfg.Namespace)) {
		refuse("name space %q: want a-z, 0-9 and hyphens, at most 32", cfg.Namespace)
	}
	if cfg.dial = cfg.Dial; cfg.dial == nil {
		var err error
		if cfg.dial, err = dialer(cfg.Broker, cfg.TLS, cfg.Spread); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// dialer returns a function that opens the connection of robot n.
func dialer(broker string, own *tls.Config, spread int) (func(ctx context.Context, n int) (net.Conn, error), error) {
	u, err := url.Parse(broker)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Scheme != "mqtt" && u.Scheme != "mqtts" {
		return nil, fmt.Errorf("broker %q: want mqtt://host:port or mqtts://host:port", schema.PrintableURL(broker))
	}
	port := map[string]string{"mqtt": "1883", "mqtts": "8883"}[u.Scheme]
	address := net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))
	return func(ctx context.Context, n int) (net.Conn, error) {
		d := net.Dialer{}
		if spread > 0 {
			d.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(1+n%spread))}
		}
		c, err := d.DialContext(ctx, "tcp", address)
		if err != nil || u.Scheme == "mqtt" {
			return c, err
		}
		config := &tls.Config{MinVersion: tls.VersionTLS13}
		if own != nil {
			config = own.Clone()
		}
		config.ServerName = u.Hostname()
		encrypted := tls.Client(c, config)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			c.Close()
			return nil, fmt.Errorf("TLS handshake: %w", err)
		}
		return encrypted, nil
	}, nil
}

// Crowd is the running robots.
type Crowd struct {
	cfg       Config
	base      config.Config // of every robot but for its id
	body      driver.Body   // of every robot but for its serial number
	modes     []mode.Installed
	performer schema.ModeID // the mode that performs the story
	began     time.Time
	ctx       context.Context // ends when the crowd has ended
	shards    []*shard
	dials     chan struct{} // semaphore of fetchers
	starts    chan struct{} // semaphore of robots from the dial until the connection is up or lost
	blobs     *sharedBlobs
	playing   atomic.Pointer[Scenario]
	totals    totals
	work      sync.WaitGroup
}

const (
	mostDials = 256 // at once
	// mostStarts is how many robots connect at once. All share the processors of one computer, which may be the broker's, too: if all began
	// at once, each would wait for all others, and give up before its turn.
	mostStarts = 128
)

// newCrowd returns robots that have not started.
func newCrowd(cfg Config) (*Crowd, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	c := &Crowd{
		cfg: cfg, base: config.Defaults(cfg.Prefix), modes: robotd.Modes(), began: time.Now(), dials: make(chan struct{}, mostDials),
		starts: make(chan struct{}, mostStarts), blobs: newSharedBlobs(),
	}
	c.Change(cfg.Scenario)
	c.base.Version, c.base.Zone = cfg.Version, time.Local
	c.base.Mode.Boot = cmp.Or(cfg.BootMode, c.base.Mode.Boot)
	c.base.Mode.Modes = nil
	for _, m := range c.modes {
		m.LinkLoss = cmp.Or(cfg.LinkLoss[m.ID], m.LinkLoss)
		c.base.Mode.Modes = append(c.base.Mode.Modes, m.Settings)
		if m.Performs {
			c.performer = m.ID
		}
	}
	c.base.Readers = c.blobs.readers()
	if faults := c.base.Check(); len(faults) > 0 {
		return nil, fmt.Errorf("configuration: %s", strings.Join(faults, "; "))
	}
	c.body = sim.NewStepped(sim.Config{}).Body()
	c.body.Model, c.body.Hardware = Model, "simulated"
	n := min(runtime.GOMAXPROCS(0), cfg.Count)
	for i := range n {
		c.shards = append(c.shards, newShard(c, i, n))
	}
	return c, nil
}

// Run runs the robots until ctx ends; then each one publishes that it is offline. started, if not nil, is called with the crowd at
// the beginning.
func Run(ctx context.Context, cfg Config, started func(*Crowd)) error {
	c, err := newCrowd(cfg)
	if err != nil {
		return err
	}
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	defer c.work.Wait()
	defer end()
	c.ctx = running
	var shards sync.WaitGroup
	for _, s := range c.shards {
		shards.Go(func() { s.run(ctx) })
	}
	play, stop := context.WithCancel(ctx)
	defer stop()
	c.work.Go(func() { c.play(play) })
	if started != nil {
		started(c)
	}
	shards.Wait()
	return nil
}

// id is that of robot n, counted from 0.
func (c *Crowd) id(n int) string { return c.cfg.Prefix + strconv.Itoa(c.cfg.First+n) }

// jitter draws a time from half of d to one and a half.
func jitter(d time.Duration) time.Duration { return time.Duration((0.5 + rand.Float64()) * float64(d)) }
