// Package robot assembles robotd: configuration, wiring, and the loop that owns the robot's
// state and carries out its effects. Package brain decides; the connection to the broker, the
// disk and the body's driver do the work.
//
// Only the loop's goroutine touches the state. It never blocks, and passes commands to the
// body itself, because the driver does not block either. Run waits beside it, and ends robotd
// without it if a mode hangs. The writer's goroutine writes to the disk and then publishes, so
// a publication waits there for its commit. The goroutines of the connection and of the driver
// send events to the loop. Stops have channels of their own and overtake everything else.
package robot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
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
	"troupe/robotd/recorder"
	"troupe/schema"
	"troupe/schema/sign"
)

// Config says which robot this is, where its broker is and how it behaves. Zero values mean
// the defaults of the settings.
type Config struct {
	ID     string
	Broker string      // mqtt:// or mqtts://host:port; empty: that of the identity
	Engine link.Engine // of the brokers; empty: Troupe
	// brokers to try in this order when Broker fails; if Broker is empty, those of the identity
	FallbackBrokers []string
	Dial            func(ctx context.Context) (net.Conn, error) // replaces Broker within one process
	Random          func() float64                              // random source of the pauses between connection attempts; nil: math/rand
	// file with CA certificates; empty: that of the identity, or those of the system
	BrokerCA   string
	Fleetd     string                                      // https://host:port, or http:// on this machine; empty: that of the identity
	DialFleetd func(ctx context.Context) (net.Conn, error) // replaces Fleetd within one process
	Password   string
	Namespace  schema.Namespace
	Data       string // directory

	Languages    []string
	BootMode     schema.ModeID
	SpecialModes SpecialModes
	Link         LinkRules
	Modes        []mode.Installed          // in addition to those of every robot
	TimeZone     string                    // its IANA name; empty = that of the computer
	Values       map[string]jsontext.Value // of settings that have the form of the fleet's setting of the same name
	RequireSight bool
	Control      control.Required
	Signing      sign.Policy // for desired documents
	Trust        sign.Ring   // trusted keys, beside those of trust.keys; either replaces those of the enrolment
	Probation    time.Duration
	LocalOnly    []string // settings that a desired configuration may not change here
	Tick         time.Duration
	Wake         Wake // published at an orderly end
	// RecorderBytes is how much of the disk the flight recorder may fill; 0 = it is off.
	RecorderBytes int64

	Page Page

	// Driver is the body; nil means the adapters of Body, or without any a simulated body,
	// configured by Sim.
	Driver   driver.Driver
	Body     Body
	Sim      sim.Config
	Scenario Scenario

	enrolled // set by Run

	Version string // shown in caps and presence
	Logger  *slog.Logger
	// LogFormat is the setting log_format: text or json.
	LogFormat string
	// Ready is called once the loop runs; it does not wait for the broker.
	Ready func()
	// BeforeWrite, if not nil, is called with "latches" or "saves" before each write of them
	// to the disk, and with "publications" before what waited for the saves is published. The
	// goroutine that does it makes the call.
	BeforeWrite    func(what string)
	ServiceManager ServiceManager
}

// enrolled is what the robot has from its enrolment.
type enrolled struct {
	enrolment identity.Fleetd
	clock     *certificateClock // judges certificates
}

// spread is a number from 0 to 1 that differs from robot to robot.
func spread(id string) float64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return float64(h.Sum32()) / math.MaxUint32
}

// Page is the robot's own page.
type Page struct {
	Listen string   // address, on this computer unless it names an interface; empty or off: the robot has no page
	Hosts  []string // names by which browsers may ask for it, beside localhost
	// MetricsToken is what a scraper sends as Authorization: Bearer to get the metrics there; empty: there are none.
	MetricsToken string
	// Pprof adds the profiles of package schema/profile, if Listen is an address of this machine.
	Pprof bool
}

// SpecialModes names the modes that calibrate, that replace a failed one, and that wait for an operator; empty: str, mnl and safe.
type SpecialModes struct{ Calibration, Default, Safe schema.ModeID }

// LinkRules say what each mode does without heartbeats of fleetd and of panels at the robot, and after
// which time.
type LinkRules struct {
	Loss             map[schema.ModeID]schema.LinkLoss
	Timeout          map[schema.ModeID]time.Duration
	ContinueOnReturn bool // ato resumes by itself when heartbeats return
}

// brain returns the part of the configuration on which the robot's decisions depend.
func (c *Config) brain() (*config.Config, error) {
	b := config.Defaults(c.ID)
	b.Zone = c.zone()
	b.Version = cmp.Or(c.Version, "unknown")
	b.Mode.Boot = cmp.Or(c.BootMode, b.Mode.Boot)
	b.Mode.Calibration = cmp.Or(c.SpecialModes.Calibration, b.Mode.Calibration)
	b.Mode.Default, b.Mode.Safe = cmp.Or(c.SpecialModes.Default, b.Mode.Default), cmp.Or(c.SpecialModes.Safe, b.Mode.Safe)
	b.Mode.Modes = nil
	for _, m := range c.modes() {
		m.LinkLoss, m.LostAfter = cmp.Or(c.Link.Loss[m.ID], m.LinkLoss), cmp.Or(c.Link.Timeout[m.ID], m.LostAfter)
		b.Mode.Modes = append(b.Mode.Modes, m.Settings)
	}
	b.ContinueOnReturn = c.Link.ContinueOnReturn
	b.Link.Brokers, b.Link.Spread = 1+len(c.FallbackBrokers), spread(c.ID)
	if len(c.Languages) > 0 {
		b.Languages = c.Languages
	}
	b.Safety.RequireSight = c.RequireSight
	b.Control.Required = cmp.Or(c.Control, b.Control.Required)
	b.Signing, b.Probation, b.LocalOnly = cmp.Or(c.Signing, b.Signing), cmp.Or(c.Probation, b.Probation), c.LocalOnly
	b.Tick = cmp.Or(c.Tick, b.Tick)
	kept, err := trusted(c.dir())
	b.Trust, b.FleetID = append(slices.Clone(c.Trust), kept...), c.enrolment.FleetID
	if len(b.Trust) == 0 && err == nil { // configured keys replace those of the enrolment
		b.Trust, err = ringOf(c.enrolment.TrustKeys)
	}
	var faults []string
	for _, key := range sameAsFleet {
		if v, given := c.Values[key]; given {
			if err := b.Set(key, v); err != nil {
				faults = append(faults, key+err.Error())
			}
		}
	}
	faults = append(faults, b.Check()...)
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

// Time limits of the parts of an orderly end. Its other parts take milliseconds, so that all of it fits
// into the 15 s that robotd.service gives.
const (
	endGrace   = 2500 * time.Millisecond // for the mode in charge
	diskGrace  = 500 * time.Millisecond  // for the last writes to the disk
	closeGrace = 2 * time.Second         // for the broker's confirmation of the last message
)

// Run runs a robot until ctx ends or it fails. At its end the robot's body is at rest, even
// after a failure, and its presence says that it is offline.
func Run(ctx context.Context, cfg Config) (err error) {
	var brainConfig *config.Config
	if err = cfg.applyIdentity(); err == nil {
		brainConfig, err = cfg.brain()
	}
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	log := cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)).With("robot", cfg.ID)
	if cfg.Dial == nil && cfg.Password != "" && slices.ContainsFunc(append([]string{cfg.Broker}, cfg.FallbackBrokers...), link.IsPlaintext) {
		log.Warn("password is sent unencrypted, so others on the network can read it: use mqtts or wss", "broker", cfg.Broker)
	}
	cfg.clock = openClock(cfg.dir(), log)
	disk, assets, memory, err := openStore(cfg.dir(), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, disk.close()) }()

	onPage := newPageRobot(cfg.busAddress(), func(id, why string) ([]schema.StopLatch, error) {
		value, latched := memory.Latch(nowAt(time.Now()), id, why)
		err := disk.saveLatches(value)
		memory.LatchesUnsaved = err != nil
		return latched, err
	})
	body := cfg.Driver
	if body == nil {
		if body, err = cfg.newBody(onPage.waits, log); err != nil {
			return err
		}
	}
	guard := newGuard(log)
	inputs, scenario, err := newSimInputs(&cfg, body, guard, log)
	if err != nil {
		return err
	}
	pageCtx, closePage := context.WithCancel(context.Background())
	var pages sync.WaitGroup
	measured := newMeter(cfg.Page, brainConfig.Tick)
	pages.Go(func() { servePage(pageCtx, &cfg, onPage, measured.handler(&cfg, onPage), log) })
	defer pages.Wait()
	defer closePage()
	if err := body.Open(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // it was ended while it waited for its adapters
		}
		return fmt.Errorf("open the body: %w", err)
	}
	closeBody := body.Close
	defer func() { err = errors.Join(err, closeBody()) }()

	onPage.begin()
	start, boot := time.Now(), uuid.NewString()
	state, first := brain.New(brainConfig, boot, bodyDescription(&cfg, body.Body()), memory, mode.NewRunner(cfg.modes(), guard.run),
		nowAt(start))
	running, end := context.WithCancel(context.Background())
	defer end()
	h := &effectRunner{ctx: running, body: body, log: log}
	h.loop = newLoop(state, start, log)
	h.loop.meter = measured
	h.loop.carryOut, h.loop.unitsOff = h.carryOut, func() { body.Order(driver.ToError); h.logFailure() }
	h.mqtt = &mqttTranslator{ns: cmp.Or(cfg.Namespace, schema.DefaultNamespace), id: cfg.ID, boot: boot, boots: state.BootIDs(),
		version: brainConfig.Version, log: log, loop: h.loop, ctx: running}
	if inputs != nil {
		inputs.report = func(ev event.SimInput) { h.loop.send(running, ev) }
	}
	if cfg.Scenario.Live {
		h.mqtt.sim = inputs
	}
	h.writer = newWriter(running, h.mqtt, disk, h.loop, log)
	h.localLog = newLocalLog(cfg.dir(), logBytes, log)
	record := recorder.New(cfg.dir(), cfg.RecorderBytes, recorder.About{Robot: cfg.ID, Boot: boot, Version: brainConfig.Version}, log)
	h.loop.flight = newFlight(record, body.Body())
	h.latches = newLatchWriter(running, disk, h.loop, log)
	if cfg.BeforeWrite != nil {
		h.writer.before, h.latches.before = cfg.BeforeWrite, cfg.BeforeWrite
	}
	h.local = newLocal(running, h.loop)
	h.local.remember(disk.events)
	h.loop.begin = guard.begin
	h.loop.behind = h.writer.in.full
	h.loop.onFleetTime = cfg.clock.receive
	h.downloads = newDownloads(running, cfg, assets, h.loop, log)
	h.calls = newCalls(running, h.loop)
	h.exports = &exports{ctx: running, recorder: record, fleetd: cfg.fleetd, loop: h.loop, log: log}

	// The connection to the broker outlives ctx, because it has a last message to send.
	if h.link, err = link.Open(context.WithoutCancel(ctx), h.mqtt.config(cfg)); err != nil {
		return err
	}
	if h.stops, err = h.mqtt.openStopLink(context.WithoutCancel(ctx), cfg, h.link); err != nil {
		return errors.Join(err, h.link.Close(running))
	}
	h.fetcher = newFetcher(running, cfg, h.link, h.mqtt, h.loop, log)
	h.start(&cfg)
	onPage.open(h.local)
	h.work.Go(func() { inputs.playScenario(running, cfg.Scenario, cmp.Or(cfg.Sim.Speed, 1), scenario) })
	h.carryOut(first, false)
	ended := make(chan error, 1)
	go func() { ended <- h.loop.run(ctx, endGrace, cfg.ready) }()
	h.work.Go(func() { cfg.ServiceManager.notifyServiceManager(ctx, running, h.loop, h.local) })

	select { // the units are ordered to stop, or off if a mode hangs
	case err = <-ended:
		body.Order(driver.ToStop)
	case call := <-guard.hung:
		body.Order(driver.ToError)
		log.Error("a mode does not return; the units are switched off and robotd ends", "mode", call.Mode, "call", call.Do)
		h.writer.in.put(batch{saves: []effect.Save{effect.SaveValue{Name: mode.HungKey, Value: string(call.Mode)}}})
		err = fmt.Errorf("%s %w within %v; the units were switched off", call, ErrHung, modeHung)
	}
	end()
	closePage()
	err = h.close(err, closeBody, cfg.Wake)
	closeBody = func() error { return nil }
	return err
}

// start starts the goroutines of the parts.
func (h *effectRunner) start(cfg *Config) {
	h.writer.link, h.writer.local = h.link, h.local
	go h.writer.run()
	go h.latches.run()
	go h.localLog.run()
	go h.exports.recorder.Run()
	h.work.Go(h.listen)
	h.work.Go(func() { h.mqtt.watch(h.ctx, h.link) })
	if h.stops != nil {
		h.work.Go(func() { keepApart(h.ctx, h.link, h.stops, stopLinkEvery) })
	}
	h.work.Go(func() { cfg.clock.saveFleetTime(h.ctx) })
	h.work.Go(func() { h.loop.flight.watch(h.ctx, h.loop) })
	h.work.Go(func() {
		(&renewer{
			data: cfg.dir(), now: cfg.clock.now, log: h.log, send: func(ev event.Event) { h.loop.send(h.ctx, ev) },
			renewed: func() {
				for _, l := range []*link.Link{h.link, h.stops} {
					if l != nil {
						l.ReplaceSession(errors.New("certificate renewed"))
					}
				}
			},
		}).run(h.ctx)
	})
}

// close ends the parts of the robot in this order: what sends events to the loop; the body; the writer, the latches and the
// recorder, so that what they got is on the disk; the connection, because the last presence comes after
// everything else. err is why the loop ended.
func (h *effectRunner) close(err error, closeBody func() error, wake Wake) error {
	h.fetcher.close()
	h.downloads.close()
	h.calls.close()
	h.exports.close()
	h.endCalibration()
	err = errors.Join(err, closeBody())
	h.writer.in.close()
	h.latches.close()
	h.localLog.close()
	record := h.exports.recorder
	record.Close()
	diskCtx, cancelDisk := context.WithTimeout(context.Background(), diskGrace)
	defer cancelDisk()
	for _, done := range []<-chan struct{}{h.latches.done, h.writer.done, h.localLog.done, record.Done()} {
		select {
		case <-done:
		case <-diskCtx.Done(): // a disk that hangs must not prevent the last presence
			h.log.Error("disk does not answer: the last writes may be lost")
		}
	}
	h.work.Wait()
	closeCtx, cancelClose := context.WithTimeout(context.Background(), closeGrace)
	defer cancelClose()
	if h.stops != nil {
		_ = h.stops.Close(closeCtx) // it has nothing to say
	}
	if err := h.link.Close(closeCtx, h.farewell(err, wake)); err != nil {
		h.log.Warn("last presence not confirmed by the broker; the last will may replace it", "error", err)
	}
	return err
}

// modes returns the modes of every robot and those of this one.
func (c *Config) modes() []mode.Installed { return slices.Concat(modes, c.Modes) }

// bodyDescription returns the driver's description of the body with the configured values.
func bodyDescription(c *Config, b driver.Body) driver.Body {
	b.Model, b.Serial = cmp.Or(c.Body.Model, b.Model), cmp.Or(c.Body.Serial, b.Serial)
	return b
}
