package bus_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"troupe/broker/brokertest"
	"troupe/robotd/driver"
	"troupe/robotd/driver/bus"
	"troupe/robotd/driver/bus/bustest"
	"troupe/robotd/driver/drivertest"
	"troupe/robotd/driver/sim"
	"troupe/schema"
)

// body is the driver under test, whose adapters serve a simulated body over a broker, all
// in one process.
type body struct {
	*bus.Bus
	sim      *sim.Sim
	adapters *bustest.Adapters
	broker   brokertest.Backend
	dir      string
	log      bytes.Buffer // read it while nothing runs
	config   sim.Config
	parts    map[string][]schema.UnitKind
	spoil    func(adapter, what string, payload []byte) []byte
}

// two adapters share the units.
var two = map[string][]schema.UnitKind{
	"base": {schema.UnitDrive, schema.UnitHead, schema.UnitBattery},
	"show": {schema.UnitSpeaker, schema.UnitFace, schema.UnitLED, schema.UnitScreen},
}

func newBody(t *testing.T, c sim.Config, parts map[string][]schema.UnitKind) *body {
	t.Helper()
	return newBodySpoilt(t, c, parts, nil)
}

func newBodySpoilt(t *testing.T, c sim.Config, parts map[string][]schema.UnitKind, spoil func(adapter, what string,
	payload []byte) []byte) *body {
	t.Helper()
	c.Assets = t.TempDir()
	s := brokertest.NewBus(t)
	b := &body{broker: s, dir: c.Assets, config: c, parts: parts, spoil: spoil}
	b.serve(t, "s1")
	config := bus.Config{Dial: s.Dial, Logger: slog.New(slog.NewTextHandler(&b.log, nil))}
	for name := range parts {
		config.Adapters = append(config.Adapters, name)
	}
	b.Bus = bus.New(config)
	return b
}

// serve connects adapters with a new body.
func (b *body) serve(t *testing.T, session string) {
	t.Helper()
	b.sim = sim.New(b.config)
	var err error
	if b.adapters, err = bustest.Serve(context.Background(), bustest.Config{Dial: b.broker.Dial, Body: b.sim, Parts: b.parts, Session: session,
		Spoil: b.spoil}); err != nil {
		t.Fatal(err)
	}
}

// serveAgain starts the adapters again after they were killed.
func (b *body) serveAgain(t *testing.T) { b.serve(t, "s2") }

func (b *body) Close() error {
	if err := b.Bus.Close(); err != nil {
		return err
	}
	if err := b.adapters.Close(); err != nil {
		return err
	}
	return b.broker.Close()
}

func (b *body) Break(unit, what string)              { b.sim.Break(unit, what) }
func (b *body) Repair(unit string)                   { b.sim.Repair(unit) }
func (b *body) PressStop(input string, pressed bool) { b.sim.PressStop(input, pressed) }
func (b *body) Hang(unit string, on bool)            { b.sim.Hang(unit, on) }

func (b *body) MapFile(point string, x, y float64) driver.Map {
	return b.write(fmt.Sprintf(`{"version":1,"bounds":{"min_x_m":-5,"min_y_m":-5,"max_x_m":5,"max_y_m":5},"points":{%q:{"x_m":%v,"y_m":%v}}}`, point, x, y))
}

func (b *body) BadMapFile() driver.Map { return b.write("no map") }

func (b *body) write(text string) driver.Map {
	sum := sha256.Sum256([]byte(text))
	is := driver.Map{Name: "hall", SHA256: hex.EncodeToString(sum[:])}
	if err := os.WriteFile(filepath.Join(b.dir, is.SHA256), []byte(text), 0o600); err != nil {
		panic(err)
	}
	return is
}

func TestBodyOfSeveralAdaptersAndUnitsOfAKindConforms(t *testing.T) {
	drivertest.Conform(t, func() drivertest.Body { return newBody(t, sim.Config{At: "entrance", Pairs: true}, two) })
}
