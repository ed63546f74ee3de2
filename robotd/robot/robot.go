// Package robot is robotd put together: configuration, wiring, and the loop that
// owns the robot's state and performs its effects. What the robot decides stands
// in package brain; how each thing is done stands in the packages below it: the
// link to the broker, the disk, the body's driver.
//
// Three goroutines matter. The loop alone touches the state and never waits: it
// hands the body its commands itself, for they do not wait either. Run waits beside it,
// and ends robotd without it if a mode hangs. The writer
// writes to the disk and then publishes; what waits for a commit waits there. The
// link and the driver bring events. A stop has a way of its own through all of
// them.
package robot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"troupe/broker/link"
	"troupe/robotd/brain"
	"troupe/robotd/config"
	"troupe/robotd/control"
	"troupe/robotd/driver"
	"troupe/robotd/driver/sim"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/identity"
	"troupe/robotd/mode"
	"troupe/schema"
	"troupe/schema/sign"
)

// Config says which robot this is, where its broker is and what it does by
// itself. Zero values mean the defaults of the settings.
type Config struct {
	ID         string
	Broker     string                                      // mqtt:// or mqtts://host:port; empty: as the identity says
	Others     []string                                    // brokers to go to when Broker fails, one after the other; those of the identity, where Broker is empty
	Dial       func(ctx context.Context) (net.Conn, error) // instead of Broker, within one process
	Random     func() float64                              // what waits for the broker are drawn by; nil: at random
	LatchTime  time.Duration                               // tests in fake time: what a write of latches takes beside the disk's own time, so that its end has an instant of its own
	BrokerCA   string                                      // file; empty: that of the robot's identity, or those that the system trusts
	Fleetd     string                                      // https://host:port, or http:// on this machine; empty: as the identity says
	DialFleetd func(ctx context.Context) (net.Conn, error) // to Fleetd, within one process
	Password   string
	Namespace  schema.Namespace
	Data       string // directory

	Model, Serial    string
	Languages        []string
	BootMode         schema.ModeID
	LinkLoss         map[schema.ModeID]schema.LinkLoss
	ContinueOnReturn bool             // ato goes on by itself when a heartbeat of an operator comes again
	Modes            []mode.Installed // beside those of every robot
	LowBattery       float64
	Charged          float64
	RequireSight     bool
	Control          control.Required
	Signing          sign.Policy // of what the fleet desires
	Trust            sign.Ring   // whose signatures count, beside those of the data directory
	Probation        time.Duration
	Pinned           []string // keys of a desired configuration that the fleet may not set here
	Tick             time.Duration
	Wake             Wake // published at an orderly end

	// Driver is the body; nil is a simulated one as Sim says.
	Driver driver.Driver
	Sim    sim.Config

	pinned identity.Fleetd // what the robot was enrolled with

	clock *certificateClock // by which certificates are judged; Run's

	Version string // shown in caps and presence
	Logger  *slog.Logger
	// Ready is called once the loop runs; it does not wait for the broker.
	Ready func()
}

// brain is the configuration as the robot's decisions take it.
func (c *Config) brain() (*config.Config, error) {
	b := config.Defaults(c.ID)
	b.Version = cmp.Or(c.Version, "unknown")
	b.Mode.Boot = cmp.Or(c.BootMode, b.Mode.Boot)
	b.Mode.Modes = nil
	for _, m := range c.modes() {
		m.LinkLoss = cmp.Or(c.LinkLoss[m.ID], m.LinkLoss)
		b.Mode.Modes = append(b.Mode.Modes, m.Rule)
	}
	b.ContinueOnReturn = c.ContinueOnReturn
	if len(c.Languages) > 0 {
		b.Languages = c.Languages
	}
	b.LowBattery, b.Charged = cmp.Or(c.LowBattery, b.LowBattery), cmp.Or(c.Charged, b.Charged)
	b.Safety.RequireSight = c.RequireSight
	b.Control.Required = cmp.Or(c.Control, b.Control.Required)
	b.Signing, b.Probation, b.Pinned = cmp.Or(c.Signing, b.Signing), cmp.Or(c.Probation, b.Probation), c.Pinned
	b.Tick = cmp.Or(c.Tick, b.Tick)
	kept, err := trusted(c.dir())
	b.Trust, b.FleetID = append(slices.Clone(c.Trust), kept...), c.pinned.FleetID
	if len(b.Trust) == 0 && err == nil { // the robot's own settings go before what its fleetd said
		b.Trust, err = ringOf(c.pinned.TrustKeys)
	}
	faults := b.Check()
	if err != nil {
		faults = append(faults, err.Error())
	}
	if ns := cmp.Or(c.Namespace, schema.DefaultNamespace); !schema.ValidNamespace(string(ns)) {
		faults = append(faults, fmt.Sprintf("name space %q: want a-z, 0-9 and hyphens, at most 32", ns))
	}
	var errs []error
	for _, f := range faults {
		errs = append(errs, errors.New(f))
	}
	return &b, errors.Join(errs...)
}

// dir is the robot's data directory.
func (c *Config) dir() string { return cmp.Or(c.Data, "data") }

// How long an orderly end may take, part by part; together less than 5 s.
const (
	endGrace   = 2500 * time.Millisecond // for the mode in charge
	diskGrace  = 500 * time.Millisecond  // for the disk to take what was written last
	closeGrace = 2 * time.Second         // for the broker to take the last message
)

// Run runs a robot, from its boot until ctx ends or it fails. Its end is announced to the
// broker; its body stands still then, whatever else went wrong.
func Run(ctx context.Context, cfg Config) (err error) {
	var decide *config.Config
	if err = cfg.enrolled(); err == nil {
		decide, err = cfg.brain()
	}
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	log := cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)).With("robot", cfg.ID)
	if cfg.Dial == nil && cfg.Password != "" && slices.ContainsFunc(append([]string{cfg.Broker}, cfg.Others...), link.IsPlaintext) {
		log.Warn("the robot's password goes to the broker in the clear: whoever is on the way reads it; use mqtts or wss", "broker", cfg.Broker)
	}
	cfg.clock = openClock(cfg.dir(), log)
	disk, assets, memory, err := openStore(cfg.dir(), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, disk.close()) }()

	body := cfg.Driver
	if body == nil {
		cfg.Sim.Assets = filepath.Join(cfg.dir(), assetsDir)
		body = sim.New(cfg.Sim)
	}
	if err := body.Open(ctx); err != nil {
		return fmt.Errorf("open the body: %w", err)
	}
	closeBody := body.Close
	defer func() { err = errors.Join(err, closeBody()) }()

	start, boot := time.Now(), uuid.NewString()
	guard := newGuard(log)
	state, first := brain.New(decide, boot, about(&cfg, body.Body()), memory, mode.NewRunner(cfg.modes(), guard.run), nowAt(start))
	running, end := context.WithCancel(context.Background())
	defer end()
	h := &effects{ctx: running, body: body, log: log}
	h.loop = newLoop(state, start, log)
	h.loop.perform, h.loop.halt = h.perform, func() { body.Order(driver.ToError); h.logFailure() }
	h.mqtt = &mqttAdapter{ns: cmp.Or(cfg.Namespace, schema.DefaultNamespace), id: cfg.ID, boot: boot, boots: state.Boots(), version: decide.Version, log: log, loop: h.loop, ctx: running}
	h.writer = newScribe(running, h.mqtt, disk, h.loop, log)
	h.latches = newLatchWriter(running, disk, h.loop, log)
	h.latches.takes = cfg.LatchTime
	h.loop.begin = guard.step
	h.loop.behind = h.writer.in.full
	h.loop.onFleetTime = cfg.clock.hear
	h.downloads = newDownloads(running, cfg, assets, h.loop, log)

	// The link lives on after ctx, for it has a last message to send.
	if h.link, err = link.Open(context.WithoutCancel(ctx), h.mqtt.config(cfg)); err != nil {
		return err
	}
	h.fetcher = newFetcher(running, cfg, h.link, h.mqtt, h.loop, log)
	h.writer.link = h.link
	go h.writer.run()
	go h.latches.run()
	h.work.Go(h.listen)
	h.work.Go(func() { h.mqtt.watch(running, h.link) })
	h.work.Go(func() { cfg.clock.keep(running) })
	h.work.Go(func() {
		(&renewer{
			data: cfg.dir(), now: cfg.clock.now, log: log, tell: func(ev event.Event) { h.loop.send(running, ev) },
			renewed: func() { h.link.Renew(errors.New("the robot shows its new certificate")) },
		}).run(running)
	})
	h.perform(first, false)
	ended := make(chan error, 1)
	go func() { ended <- h.loop.run(ctx, endGrace, cfg.Ready) }()

	// The body first. Then nobody waits for the loop any more.
	select {
	case err = <-ended:
		body.Order(driver.ToStop)
	case call := <-guard.hung:
		body.Order(driver.ToError)
		log.Error("a mode does not return; the units are switched off and robotd ends", "mode", call.Mode, "call", call.Do)
		h.writer.in.put(batch{saves: []effect.Effect{effect.SaveSetting{Name: brain.HungSetting, Value: string(call.Mode)}}})
		err = fmt.Errorf("%s did not return within %v; the robot's body was halted", call, modeHung)
	}
	end()
	h.fetcher.close()
	h.downloads.close()
	h.endCalibration()
	err = errors.Join(err, closeBody())
	closeBody = func() error { return nil }
	h.writer.in.close()
	h.latches.close()
	late, enough := context.WithTimeout(context.Background(), diskGrace)
	defer enough()
	for _, done := range []chan struct{}{h.latches.done, h.writer.done} {
		select {
		case <-done:
		case <-late.Done(): // a disk that hangs does not prevent the last presence
			log.Error("the disk does not answer; what was to be written last may be lost")
		}
	}
	h.work.Wait()
	last, stop := context.WithTimeout(context.Background(), closeGrace)
	defer stop()
	if unheard := h.link.Close(last, h.farewell(err, cfg.Wake)); unheard != nil {
		log.Warn("the broker did not take the robot's last words; it will say that the robot was lost", "error", unheard)
	}
	return err
}

// modes are those of every robot, and those that this one has beside them.
func (c *Config) modes() []mode.Installed { return slices.Concat(modes, c.Modes) }

// about is the body with what the configuration says of it.
func about(c *Config, b driver.Body) driver.Body {
	b.Model, b.Serial = cmp.Or(c.Model, b.Model), cmp.Or(c.Serial, b.Serial)
	return b
}
