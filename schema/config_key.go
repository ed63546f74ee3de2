package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ConfigType is the type of one value of a desired configuration.
type ConfigType string

const (
	ConfigWord    ConfigType = "word"    // one of OneOf
	ConfigMode    ConfigType = "mode"    // the id of a mode; the robot refuses one that cannot serve
	ConfigInteger ConfigType = "integer" // between Min and Max
	ConfigNumber  ConfigType = "number"  // between Min and Max
	ConfigBoolean ConfigType = "boolean"
	ConfigZone    ConfigType = "time_zone" // the IANA name of a time zone
	ConfigList    ConfigType = "list"      // of texts, at least one
	ConfigLabels  ConfigType = "labels"    // an object: names to texts
	ConfigRanks   ConfigType = "ranks"     // an object: clients to one of OneOf
	// ConfigObjects is a list of objects; the package that reads them checks them, see
	// schema/interrupts.
	ConfigObjects ConfigType = "objects"
	ConfigUnits   ConfigType = "units" // an object: units to one of OneOf
	// ConfigThresholds is an object: units to {"warm_c", "hot_c", "critical_c"}, rising,
	// between Min and Max.
	ConfigThresholds ConfigType = "thresholds"
	ConfigSwitches   ConfigType = "switches" // an object: names of OneOf to true or false
)

// ConfigKey is one key that a desired configuration may set.
type ConfigKey struct {
	Name     string
	Type     ConfigType
	OneOf    []string
	Min, Max float64
	Restart  bool // takes effect after the robot's next start; other keys take effect at once
	Purpose  string
}

var linkLossWords = []string{string(LinkLossSafe), string(LinkLossContinue)}

// Bounds of the link time-outs. Shorter silence is not a lost link yet.
const (
	MinLinkTimeoutMS = 5000
	MaxLinkTimeoutMS = 600_000
)

// ConfigKeys lists everything that the fleet may set. A key that also exists in the
// robot's own file has the same name there, but for probation_ms, a duration named probation there.
var ConfigKeys = []ConfigKey{
	{Name: "labels", Type: ConfigLabels, Purpose: "the robot's labels; stops and other requests may select robots by them"},
	{Name: "languages", Type: ConfigList, Restart: true,
		Purpose: "languages that the robot speaks, the preferred first; texts and durations of acts depend on them; default en"},
	{Name: "time_zone", Type: ConfigZone, Purpose: "the robot's time zone by its IANA name, such as Europe/Berlin: hour and weekday of " +
		"conditions are in it, and the times on its own page; default that of its computer"},
	{Name: "boot_mode", Type: ConfigWord, OneOf: []string{string(ModeMnl), string(ModeAto)}, Restart: true,
		Purpose: "the mode after start-up; a desired mode takes precedence; default mnl"},
	{Name: "calibration_mode", Type: ConfigMode, Restart: true,
		Purpose: "the mode that runs by itself at boot and calibrates the robot; default str"},
	{Name: "default_mode", Type: ConfigMode, Restart: true, Purpose: "the mode that replaces one that fails or is killed; only a mode that " +
		"can always be entered, such as mnl, and neither str nor ato; default mnl"},
	{Name: "safe_mode", Type: ConfigMode, Restart: true,
		Purpose: "the mode in which the robot waits for an operator; only a mode that never moves and can always be entered; default safe"},
	{Name: "link_loss.str", Type: ConfigWord, OneOf: linkLossWords, Purpose: "what str does when the link is lost; default safe"},
	{Name: "link_loss.mnl", Type: ConfigWord, OneOf: linkLossWords, Purpose: "what mnl does when the link is lost; default safe"},
	{Name: "link_loss.ato", Type: ConfigWord, OneOf: linkLossWords, Purpose: "what ato does when the link is lost; default safe"},
	{Name: "link_timeout_ms.str", Type: ConfigInteger, Min: MinLinkTimeoutMS, Max: MaxLinkTimeoutMS,
		Purpose: "time without a heartbeat of fleetd or of a panel at the robot after which str ends, unless link_loss.str is continue; " +
			"default 5000"},
	{Name: "link_timeout_ms.mnl", Type: ConfigInteger, Min: MinLinkTimeoutMS, Max: MaxLinkTimeoutMS,
		Purpose: "time without a heartbeat of fleetd or of a panel at the robot after which mnl ends, unless link_loss.mnl is continue; " +
			"default 5000"},
	{Name: "link_timeout_ms.ato", Type: ConfigInteger, Min: MinLinkTimeoutMS, Max: MaxLinkTimeoutMS,
		Purpose: "time without a heartbeat of fleetd or of a panel at the robot after which ato ends, unless link_loss.ato is continue; it " +
			"stops moving 5000 ms after the last heartbeat already; default 60000"},
	{Name: "on_link_return", Type: ConfigWord, OneOf: []string{"wait", "continue"},
		Purpose: "what ato does when the link is back: wait for auto/continue, or continue; default wait"},
	{Name: "require_sight", Type: ConfigBoolean,
		Purpose: "whether safety/enable and safety/reset are refused that do not name the newest heartbeat that their sender has seen; " +
			"default false"},
	{Name: "control.required", Type: ConfigWord, OneOf: []string{"none", "manual", "all"},
		Purpose: "what needs a lease: only driving (none), all manual commands (manual), or setting modes too (all); default manual"},
	{Name: "clients", Type: ConfigRanks, OneOf: []string{"automation", "operator", "admin", "local"},
		Purpose: "rank of each client, which decides whose lease another may take over; a client that is not listed is an operator"},
	{Name: "signing", Type: ConfigWord, OneOf: []string{"off", "warn", "require"}, Purpose: "what the robot does with a desired document " +
		"whose signature does not verify: accept it unchecked (off), accept it with an alert (warn) or reject it (require); such a document " +
		"cannot loosen this setting; default off"},
	{Name: "probation_ms", Type: ConfigInteger, Min: 1000, Max: 600_000,
		Purpose: "how long a new story may take to start before the previous one replaces it; default 10000"},
	{Name: "low_battery", Type: ConfigNumber, Min: 0, Max: 1,
		Purpose: "battery level, as a share of 1, below which a robot in ato goes to charge; default 0.2"},
	{Name: "charged", Type: ConfigNumber, Min: 0, Max: 1,
		Purpose: "battery level, as a share of 1, at which it has charged enough and goes on; default 0.8"},
	{Name: "estop_text", Type: ConfigLabels,
		Purpose: "what the robot says once when it comes to E_STOP, by language; {} = nothing; the default is a sentence about the cause"},
	{Name: "diagnosis.severity", Type: ConfigUnits, OneOf: []string{string(SeverityNegligible), string(SeveritySerious),
		string(SeverityCritical)},
		Purpose: "what a fault of each unit means; without a value a battery is critical and every other unit serious"},
	{Name: "diagnosis.temperatures", Type: ConfigThresholds, Min: 20, Max: 150, Purpose: "from which temperatures each unit is warm, hot " +
		"and critical, in degrees Celsius; default 45, 55 and 65 for a battery, and 60, 70 and 80 for other units"},
	{Name: "safeguards", Type: ConfigSwitches, OneOf: safeguardNames(),
		Purpose: "which safeguards keep the robot from moving; default all. life/safeguard decides which of them end activities"},
	{Name: "life.enabled", Type: ConfigBoolean, Purpose: "whether a robot in ato lives: starts activities by itself and performs its " +
		"abilities; if not, ato performs the story only; default true"},
	{Name: "life.humans_lost_timeout_ms", Type: ConfigInteger, Min: 0, Max: 600_000,
		Purpose: "how long the robot may see no people before it ends an interactive activity; 0 = it does not, the default"},
	{Name: "heartbeat_ms", Type: ConfigInteger, Min: 1000, Max: 5000, Purpose: "interval of the robot's heartbeat; default 2000"},
	{Name: "event_rate", Type: ConfigInteger, Min: 1, Max: 20,
		Purpose: "events per second; further ones are dropped and counted, but never those of safety; default 20"},
	{Name: "interrupts.handlers", Type: ConfigObjects, Restart: true,
		Purpose: "handlers beside the robot's own, or in place of service or attend: what an interrupt does"},
	{Name: "interrupts.rules", Type: ConfigObjects,
		Purpose: "which signals of the body ask for which handler, on behalf of which interrupter; the whole list"},
	{Name: "intents", Type: ConfigObjects,
		Purpose: "what the robot does about an intent: an act, an activity, an interrupt or a mode, and its emotion afterwards; the whole table"},
	{Name: "intent_confidence", Type: ConfigNumber, Min: 0, Max: 1,
		Purpose: "confidence below which an intent is published and nothing else is done; default 0.5"},
}

func safeguardNames() (names []string) {
	for _, s := range Safeguards {
		names = append(names, string(s))
	}
	return names
}

// Thresholds are the temperatures from which a unit is warm, hot and critical, in degrees
// Celsius.
type Thresholds struct {
	Warm     float64 `json:"warm_c"`
	Hot      float64 `json:"hot_c"`
	Critical float64 `json:"critical_c"`
}

// rise reports whether t rises from low to high.
func (t Thresholds) rise(low, high float64) bool {
	return low <= t.Warm && t.Warm < t.Hot && t.Hot < t.Critical && t.Critical <= high
}

// ConfigKeyOf returns the key of a name.
func ConfigKeyOf(name string) (ConfigKey, bool) {
	i := slices.IndexFunc(ConfigKeys, func(k ConfigKey) bool { return k.Name == name })
	if i < 0 {
		return ConfigKey{}, false
	}
	return ConfigKeys[i], true
}

// maxConfigBytes is the greatest size of a list of objects, in bytes.
const maxConfigBytes = 12 << 10

// maxConfigItems is the greatest length of lists of texts and of objects such as labels.
const maxConfigItems = 64

// maxConfigText is the greatest size of a text of a list or of labels, in bytes.
const maxConfigText = 64

// Check returns what is wrong with a value of k; empty if it is valid.
func (k ConfigKey) Check(v jsontext.Value) string {
	switch k.Type {
	case ConfigBoolean:
		return checkValue[bool](v, "true or false", nil)
	case ConfigWord:
		return checkValue(v, "one of "+strings.Join(k.OneOf, ", "), func(w string) bool { return slices.Contains(k.OneOf, w) })
	case ConfigZone:
		return checkValue(v, "the name of a time zone, such as Europe/Berlin or UTC", func(name string) bool {
			_, err := ZoneOf(name)
			return err == nil
		})
	case ConfigMode:
		return checkValue(v, "the id of a mode, such as "+string(ModeMnl), ValidID)
	case ConfigInteger:
		return checkValue(v, fmt.Sprintf("a whole number from %v to %v", k.Min, k.Max), func(n int64) bool {
			return float64(n) >= k.Min &&
				float64(n) <= k.Max
		})
	case ConfigNumber:
		return checkValue(v, fmt.Sprintf("a number from %v to %v", k.Min, k.Max), func(n float64) bool { return n >= k.Min && n <= k.Max })
	case ConfigList:
		return checkValue(v, fmt.Sprintf("a list of 1 to %d texts of 1 to %d bytes", maxConfigItems, maxConfigText), func(list []string) bool {
			return len(list) > 0 && len(list) <= maxConfigItems && !slices.ContainsFunc(list, badText)
		})
	case ConfigLabels:
		example := `{"site": "museum"}`
		if k.Name == "estop_text" {
			example = `{"en": "I was stopped."} (pt serves pt-BR, too)`
		}
		return checkValue(v, fmt.Sprintf("an object of at most %d texts of 1 to %d bytes, under names of a-z, 0-9 and hyphens, such as %s",
			maxConfigItems, maxConfigText, example), func(m map[string]string) bool {
			return validMap(m, func(text string) bool { return !badText(text) })
		})
	case ConfigRanks:
		return checkValue(v, "an object of names of clients (a-z, 0-9 and hyphens) and one of "+strings.Join(k.OneOf, ", "),
			func(m map[string]string) bool {
				return validMap(m, func(rank string) bool { return slices.Contains(k.OneOf, rank) })
			})
	case ConfigObjects:
		if len(v) > maxConfigBytes {
			return fmt.Sprintf("the value has %d bytes, %d are allowed", len(v), maxConfigBytes)
		}
		return checkValue(v, "a list of objects", func(list []jsontext.Value) bool {
			return !slices.ContainsFunc(list, func(o jsontext.Value) bool { return o.Kind() != '{' })
		})
	case ConfigUnits:
		return checkValue(v, "an object of ids of units and one of "+strings.Join(k.OneOf, ", "), func(m map[string]string) bool {
			return validMap(m, func(word string) bool { return slices.Contains(k.OneOf, word) })
		})
	case ConfigThresholds:
		return checkValue(v, fmt.Sprintf(`an object of ids of units and their thresholds, such as {"head": {"warm_c": 60, "hot_c": 70, "critical_c": 80}}, which rise and are from %v to %v`, k.Min, k.Max), func(m map[string]Thresholds) bool {
			return validMap(m, func(t Thresholds) bool { return t.rise(k.Min, k.Max) })
		})
	case ConfigSwitches:
		return checkValue(v, "an object of true and false for "+strings.Join(k.OneOf, ", "), func(m map[string]bool) bool {
			for name := range m {
				if !slices.Contains(k.OneOf, name) {
					return false
				}
			}
			return true
		})
	}
	return "unknown type of value: " + string(k.Type)
}

func checkValue[T any](v jsontext.Value, want string, ok func(T) bool) string {
	var got T
	if err := json.Unmarshal(v, &got); err != nil || string(v) == "null" || ok != nil && !ok(got) {
		return fmt.Sprintf("%.60s is not %s", string(v), want)
	}
	return ""
}

func badText(text string) bool { return text == "" || len(text) > maxConfigText }

func validMap[T any](m map[string]T, ok func(T) bool) bool {
	if len(m) > maxConfigItems {
		return false
	}
	for name, v := range m {
		if !ValidID(name) || !ok(v) {
			return false
		}
	}
	return true
}
