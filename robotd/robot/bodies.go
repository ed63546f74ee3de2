package robot

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"

	"troupe/robotd/driver"
	"troupe/robotd/driver/bus"
	"troupe/robotd/driver/sim"
	"troupe/schema"
)

// Body says which adapters make the body, and where robotd meets them. Without adapters the
// body is a simulated one.
type Body struct {
	Model, Serial string // as caps shows them; empty: as the body says
	Adapters      []string
	Bus           string                                      // mqtt://host:port
	Listen        string                                      // address at which the program serves the bus itself; empty: it does not
	Dial          func(ctx context.Context) (net.Conn, error) // replaces Bus within one process
}

// The values of the setting body.
const (
	bodySim = "sim"
	bodyBus = "bus"
)

// busAddress is where the page says that the robot's adapters are; empty = there are none.
func (c *Config) busAddress() string {
	if len(c.Body.Adapters) == 0 {
		return ""
	}
	return c.Body.Bus
}

// check returns what is wrong with the choice of the body; empty = nothing.
func (b *Body) check(kind string) string {
	switch {
	case kind != bodySim && kind != bodyBus:
		return fmt.Sprintf("body: %q is neither %s nor %s", kind, bodySim, bodyBus)
	case kind == bodyBus && len(b.Adapters) == 0:
		return "bus_adapters: the body has no unit: name the adapters that serve its units"
	case kind == bodySim && (len(b.Adapters) > 0 || b.Listen != ""):
		return "bus_adapters, bus_listen: the body is a simulated one; for adapters write body: " + bodyBus
	}
	return ""
}

// newBody returns the body that the configuration names. It says what it waits for.
func (c *Config) newBody(waits func(what string), log *slog.Logger) (driver.Driver, error) {
	assets, err := filepath.Abs(filepath.Join(c.dir(), assetsDir)) // adapters have other working directories
	if err != nil {
		return nil, fmt.Errorf("directory of assets: %w", err)
	}
	if len(c.Body.Adapters) == 0 {
		c.Sim.Assets = assets
		return sim.New(c.Sim), nil
	}
	language := ""
	if len(c.Languages) > 0 {
		language = c.Languages[0]
	}
	return bus.New(bus.Config{
		URL: c.Body.Bus, Dial: c.Body.Dial, Adapters: c.Body.Adapters, Robot: c.ID, Language: language, Assets: assets,
		Logger: log.With("connection", "bus"),
		Waiting: func(what string) {
			waits(what)
			c.ServiceManager.tell(tellStatus + schema.SanitizeText("starting: "+what))
		},
	}), nil
}
