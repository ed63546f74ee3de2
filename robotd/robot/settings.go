package robot

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"

	"troupe/broker/link"
	"troupe/robotd/control"
	"troupe/robotd/driver/sim"
	"troupe/robotd/mode"
	"troupe/schema"
	"troupe/schema/intents"
	"troupe/schema/interrupts"
	"troupe/schema/profile"
	"troupe/schema/sign"
)

// setting can be configured in a YAML file under its key, in the environment or by a flag; a
// flag overrides the environment, which overrides the file.
type setting struct {
	key     string // as in the file; a dot is a level
	def     any    // default; its type is the setting's
	purpose string
}

// settings lists all settings.
var settings = []setting{
	{"id", "", "the robot's name: a-z, 0-9 and hyphens; an enrolled robot knows its own"},
	{"broker", []string{},
		"address of the broker: mqtt, mqtts, ws or wss://host:port; if several, the preferred one first; default: that of the identity, else " +
			DefaultBroker},
	{"engine", string(link.Troupe), "engine of that broker: troupe (also for releases before v0.3.0), mosquitto or nats"},
	{"broker_ca", "",
		"PEM file with the CA certificates to trust for the broker; default: identity/ca.pem in the data directory, else those of the system"},
	{"fleetd", "", "address of fleetd, from which large files are fetched and to which flight records are sent: https://host:port, or " +
		"http:// on this machine; default: that of the identity, else " + DefaultFleetd},
	{"password_file", "", "file with the robot's password at the broker"},
	{"namespace", string(schema.DefaultNamespace), "first level of every topic"},
	{"data", "./data", "directory for everything that the robot must remember"},
	{"model", "", "the body's model, shown in caps; default: as the body says"},
	{"serial", "", "the body's serial number, shown in caps; default: as the body says"},
	{"languages", []string{"en"}, "languages that the robot speaks, the preferred one first"},
	{"time_zone", "", "the robot's time zone by its IANA name, such as Europe/Berlin; default: that of this computer"},
	{"boot_mode", string(mode.Defaults().Boot), "mode after calibration at boot: mnl or ato"},
	{"modes", []string{}, "modes that the robot has besides str, mnl, ato and safe: follow"},
	{"calibration_mode", string(mode.Defaults().Calibration), "the mode that runs by itself at boot and calibrates the robot"},
	{"default_mode", string(mode.Defaults().Default), "the mode that replaces one that fails"},
	{"safe_mode", string(mode.Defaults().Safe), "the mode in which the robot waits for an operator, without moving"},
	{"link_loss.str", string(schema.LinkLossSafe),
		"what str does when the link is lost, which means that heartbeats of fleetd and of panels at the robot do not arrive: safe or continue"},
	{"link_loss.mnl", string(schema.LinkLossSafe),
		"what mnl does when the link is lost, which means that heartbeats of fleetd and of panels at the robot do not arrive: safe or continue"},
	{"link_loss.ato", string(schema.LinkLossSafe),
		"what ato does when the link is lost, which means that heartbeats of fleetd and of panels at the robot do not arrive: safe or continue"},
	{"link_timeout_ms.str", 5000, "time without a heartbeat of fleetd or of a panel at the robot (role console), in milliseconds, after " +
		"which str ends, unless its link_loss is continue"},
	{"link_timeout_ms.mnl", 5000, "time without a heartbeat of fleetd or of a panel at the robot (role console), in milliseconds, after " +
		"which mnl ends, unless its link_loss is continue"},
	{"link_timeout_ms.ato", 60000, "time without a heartbeat of fleetd or of a panel at the robot (role console), in milliseconds, after " +
		"which ato ends, unless its link_loss is continue; it stops moving after 5 s"},
	{"on_link_return", "wait", "what ato does when the link is back: wait for auto/continue, or continue"},
	{"low_battery", 0.20, "battery level, as a share of 1, below which the robot in ato goes to charge"},
	{"charged", 0.80, "battery level, as a share of 1, at which it has charged enough and goes on"},
	{"life.enabled", true,
		"whether the robot in ato lives: starts activities by itself and performs its abilities; if not, ato performs the story only"},
	{lifeHumansLost, 0, "how long, in milliseconds, the robot may see no people before it ends an interactive activity; 0 = it does not"},
	{interrupts.HandlersSetting, "",
		"handlers of interrupts beside the robot's own: a list, as the fleet's setting of this name; JSON on the command line"},
	{interrupts.RulesSetting, "",
		"rules by which the body's signals ask for handlers: a list, as the fleet's setting of this name; JSON on the command line"},
	{intents.TableSetting, "", "what the robot does about intents: a list, as the fleet's setting of this name; JSON on the command line"},
	{intents.ConfidenceSetting, intents.DefaultConfidence, "confidence below which an intent is published and nothing else is done"},
	{"require_sight", false, "refuse safety/enable and safety/reset that do not name the newest heartbeat that their sender has seen"},
	{"control.required", string(control.RequireManual),
		"what needs a lease: only driving (none), all manual commands (manual), or setting modes too (all)"},
	{"signing", string(sign.Off), "what the robot does with a desired document whose signature does not verify: accept it unchecked (off), " +
		"accept it with an alert (warn) or reject it (require)"},
	{"trust_key", []string{}, "trusted key, as desired:BASE64 or release:BASE64, beside those in " + trustFile +
		" in the data directory; a key here or there replaces all those of the enrolment, so name these, too; may be repeated"},
	{"probation", 10 * time.Second, "how long a new story may take to start before the previous one replaces it"},
	{"wake_at", "", "when robotd will be started again: a time of day such as 08:30, or an instant such as 2026-05-17T08:30:00Z; after an " +
		"orderly end the presence is then sleeping instead of offline"},
	{"recorder_mib", 256,
		"how many MiB of the disk the flight recorder may fill, the oldest recordings are removed first; 0 = it is off, else 1 to 65536"},
	{"tick", 20 * time.Millisecond, "period of robotd's loop while the robot performs or may move, 1ms to 100ms; driving and the watchdogs " +
		"assume 20ms; with a longer period they may stop the robot"},
	{"body", bodySim, "the robot's body: " + bodySim + ", a simulated one, or " + bodyBus +
		", units that adapters serve over MQTT on the robot"},
	{"bus", "mqtt://127.0.0.1:1884", "address of the broker on the robot that connects robotd with the adapters of its units"},
	{"bus_adapters", []string{}, "names of the adapters that make the body, such as speaker,base"},
	{"bus_listen", "", "address on this machine at which robotd serves that broker itself, such as 127.0.0.1:1884; default: it does not"},
	{"sim.no_map", false, "the simulated body has no map, so it cannot go to points"},
	{"sim.homing", false, "the simulated body has to be homed, which waits for safety/enable"},
	{"sim.battery", 1.0, "the simulated battery at the start, as a share of 1; 0 = full"},
	{"sim.charging", 0.05, "share of the battery that the simulated dock charges in a minute; 0 = 0.05"},
	{"sim.dead_dock", false, "the simulated dock does not charge"},
	{"sim.at", "dock", "point at which the simulated body is at the start"},
	{"sim.faults", false, "administrators may play faults and signals into the simulated body, on robots/ID/sim/NAME"},
	{"sim.scenario", "", "YAML file of faults and signals to play into the simulated body, each at its time"},
	{"sim.speed", 1.0, "how many times as fast as in reality the clock of the scenario runs, and the simulated battery and temperatures " +
		"change, 1 to 100; acts, heartbeats and safety keep their own time"},
	{"page", DefaultPage, "address of the robot's own page, for this computer only unless it names another interface; off: it has none"},
	{"page_host", []string{}, "name by which browsers may ask for the robot's own page, beside localhost and IP addresses; may be repeated"},
	{"metrics_token_file", "",
		"file with a token: robotd then serves metrics for Prometheus as /metrics of its page, to programs that send the token as " +
			"Authorization: Bearer; default: no metrics"},
	{"pprof", false,
		"serve profiles of robotd for go tool pprof, below /debug/pprof/ of its page, which must be at an address of this machine"},
	{"log_level", "info", "debug, info, warn or error"},
	{"log_format", "text", "text or json: a line of the log is key=value, or a JSON object"},
}

// sameAsFleet are the settings that have the form of the fleet's setting of the same name, in
// the order in which they are applied: rules name handlers.
var sameAsFleet = []string{"low_battery", "charged", "life.enabled", lifeHumansLost, interrupts.HandlersSetting, interrupts.RulesSetting,
	intents.TableSetting, intents.ConfidenceSetting}

// minToken is how many characters a token has at least, so that nobody guesses it.
const minToken = 16

const lifeHumansLost = "life.humans_lost_timeout_ms"

// flag is the name of the setting's flag.
func (s setting) flag() string { return strings.NewReplacer("_", "-", ".", "-").Replace(s.key) }

// variable is the name of the setting's environment variable.
func (s setting) variable() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

const envPrefix = "TROUPE_ROBOTD_"

// Flags adds a flag for each setting, and --config.
func Flags(f *pflag.FlagSet) {
	f.String("config", "", "YAML file of settings; unknown keys are errors")
	for _, s := range settings {
		switch def := s.def.(type) {
		case string:
			f.String(s.flag(), def, s.purpose)
		case bool:
			f.Bool(s.flag(), def, s.purpose)
		case int:
			f.Int(s.flag(), def, s.purpose)
		case float64:
			f.Float64(s.flag(), def, s.purpose)
		case time.Duration:
			f.Duration(s.flag(), def, s.purpose)
		case []string:
			f.StringSlice(s.flag(), def, s.purpose)
		}
	}
	f.VisitAll(func(flag *pflag.Flag) {
		if schema.IsNumeric(flag.Value.Type()) {
			flag.Value = schema.NumberFlag{Flag: flag.Value}
		}
	})
}

func find(key string) (setting, bool) {
	for _, s := range settings {
		if s.key == key {
			return s, true
		}
	}
	return setting{}, false
}

// configOf makes a configuration from settings, and returns all errors in them together.
func configOf(k *koanf.Koanf) (c Config, level slog.Level, err error) {
	brokers := k.Strings("broker")
	c = Config{
		ID: k.String("id"), Fleetd: k.String("fleetd"), BrokerCA: k.String("broker_ca"), Namespace: schema.Namespace(k.String("namespace")),
		Data: k.String("data"), Languages: k.Strings("languages"), TimeZone: k.String("time_zone"),
		BootMode: schema.ModeID(k.String("boot_mode")),
		SpecialModes: SpecialModes{schema.ModeID(k.String("calibration_mode")), schema.ModeID(k.String("default_mode")),
			schema.ModeID(k.String("safe_mode"))},
		Values:       map[string]jsontext.Value{},
		Link:         LinkRules{map[schema.ModeID]schema.LinkLoss{}, map[schema.ModeID]time.Duration{}, k.String("on_link_return") == "continue"},
		RequireSight: k.Bool("require_sight"), Tick: k.Duration("tick"), RecorderBytes: k.Int64("recorder_mib") << 20,
		Control: control.Required(k.String("control.required")), Signing: sign.Policy(k.String("signing")), Probation: k.Duration("probation"),
		Sim: sim.Config{NoMap: k.Bool("sim.no_map"), Homing: k.Bool("sim.homing"), Battery: k.Float64("sim.battery"),
			Charging: k.Float64("sim.charging"), DeadDock: k.Bool("sim.dead_dock"), At: k.String("sim.at"), Speed: k.Float64("sim.speed"),
			Serial: k.String("serial")},
		Page:     Page{Listen: k.String("page"), Hosts: k.Strings("page_host")},
		Scenario: Scenario{Live: k.Bool("sim.faults"), File: k.String("sim.scenario")},
		Body: Body{
			Model: k.String("model"), Serial: k.String("serial"),
			Bus: k.String("bus"), Adapters: k.Strings("bus_adapters"), Listen: k.String("bus_listen"),
		},
	}
	if err := c.readValues(k); err != nil {
		return c, level, err
	}
	if len(brokers) > 0 {
		c.Broker, c.FallbackBrokers = brokers[0], brokers[1:]
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if engine, err := link.ParseEngine(k.String("engine")); err != nil {
		fault("engine: %v", err)
	} else {
		c.Engine = engine
	}
	if c.TimeZone != "" {
		if _, err := schema.ZoneOf(c.TimeZone); err != nil {
			fault("time_zone: %v", err)
		}
	}
	faults = append(append(faults, c.readModes(k)...), inBounds(k, lifeHumansLost))
	for _, text := range k.Strings("trust_key") {
		key, err := sign.ParseKey(text)
		if err != nil {
			fault("trust_key: %w", err)
			continue
		}
		c.Trust = append(c.Trust, key)
	}
	if why := c.Body.check(k.String("body")); why != "" {
		fault("%s", why)
	}
	if at := c.Sim.At; at != "" && !slices.Contains(sim.PointNames(), at) {
		fault("sim.at: there is no point %s; the points are %s", at, strings.Join(sim.PointNames(), ", "))
	}
	if v := k.Int64("recorder_mib"); v < 0 || v > 65536 {
		fault("recorder_mib: %d is neither 0 nor within 1 to 65536", v)
	}
	if v := k.String("on_link_return"); v != "wait" && v != "continue" {
		fault("on_link_return: %q is neither wait nor continue", v)
	}
	if wake, err := ParseWake(k.String("wake_at")); err != nil {
		fault("wake_at: %w", err)
	} else {
		c.Wake = wake
	}
	if path := k.String("password_file"); path != "" {
		b, err := os.ReadFile(filepath.Clean(path))
		if err != nil {
			fault("password_file: %w", err)
		}
		c.Password = strings.TrimRight(string(b), "\r\n")
	}
	if c.Page.Pprof = k.Bool("pprof"); c.Page.Pprof {
		if err := profile.CheckAddress(c.Page.Listen); err != nil {
			fault("pprof with page %q: %w", c.Page.Listen, err)
		}
	}
	if path := k.String("metrics_token_file"); path != "" {
		b, err := os.ReadFile(filepath.Clean(path))
		if c.Page.MetricsToken = strings.TrimSpace(string(b)); err == nil && len(c.Page.MetricsToken) < minToken {
			err = fmt.Errorf("the token in %s has fewer than %d characters", path, minToken)
		}
		if err == nil && (c.Page.Listen == "" || c.Page.Listen == noPage) {
			err = errors.New("metrics are at the address of the page, and page is off")
		}
		if err != nil {
			fault("metrics_token_file: %w", err)
		}
	}
	if c.LogFormat = k.String("log_format"); c.LogFormat != "text" && c.LogFormat != "json" {
		fault("log_format: %q is neither text nor json", c.LogFormat)
	}
	if err := level.UnmarshalText([]byte(k.String("log_level"))); err != nil {
		fault("log_level: %w", err)
	}
	if err := c.applyIdentity(); err != nil { // who it is, and what follows from it, is not known
		faults = append(faults, err)
	} else if _, err := c.brain(); err != nil {
		faults = append(faults, err)
	}
	return c, level, errors.Join(faults...)
}

// readValues reads the settings in sameAsFleet, whose values have the form that a desired configuration has.
func (c *Config) readValues(k *koanf.Koanf) (err error) {
	for _, key := range sameAsFleet {
		switch v := k.Get(key).(type) {
		case string: // JSON, or nothing
			if v != "" {
				c.Values[key] = jsontext.Value(v)
			}
		default: // of a file, or a default
			if c.Values[key], err = json.Marshal(v); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	return nil
}

// readModes reads which modes there are, and the rules of each, and returns all errors in them.
func (c *Config) readModes(k *koanf.Koanf) (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for _, name := range k.Strings("modes") {
		i := slices.IndexFunc(optional, func(m mode.Installed) bool { return string(m.ID) == name })
		if i < 0 {
			fault("modes: there is no mode %q to add; there is %s", name, optionalNames())
			continue
		}
		c.Modes = append(c.Modes, optional[i])
	}
	rules := mode.Defaults()
	for _, m := range rules.Selectable() {
		key := "link_loss." + string(m)
		switch v := schema.LinkLoss(k.String(key)); v {
		case schema.LinkLossSafe, schema.LinkLossContinue:
			c.Link.Loss[m] = v
		default:
			fault("%s: %q is neither safe nor continue", key, v)
		}
		key = "link_timeout_ms." + string(m)
		faults = append(faults, inBounds(k, key))
		c.Link.Timeout[m] = time.Duration(k.Int64(key)) * time.Millisecond
	}
	return faults
}

func inBounds(k *koanf.Koanf, key string) error {
	row, _ := schema.ConfigKeyOf(key)
	if why := row.Check(jsontext.Value(k.String(key))); why != "" {
		return fmt.Errorf("%s: %s", key, why)
	}
	return nil
}
