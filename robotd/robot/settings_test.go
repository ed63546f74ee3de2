package robot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/spf13/pflag"

	"troupe/schema"
)

// load reads settings from a file's text and flags.
func load(t *testing.T, file string, args ...string) (Config, error) {
	t.Helper()
	f := pflag.NewFlagSet("robotd", pflag.ContinueOnError)
	Flags(f)
	if file != "" {
		path := filepath.Join(t.TempDir(), "robot.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := Load(f, os.Environ())
	return cfg, err
}

func TestFlagsOverrideEnvironmentWhichOverridesFile(t *testing.T) {
	file := "id: file\nmodel: file\nserial: file\nlink_loss: {ato: continue}\nlink_timeout_ms: {mnl: 8000}\nlanguages: [de, en]\n" +
		"tick: 10ms\nlow_battery: 0.3\nsim: {no_map: true}\n"
	t.Setenv("TROUPE_ROBOTD_MODEL", "environment")
	t.Setenv("TROUPE_ROBOTD_SERIAL", "environment")
	t.Setenv("TROUPE_ROBOTD_LINK_LOSS_MNL", "continue")
	t.Setenv("TROUPE_ROBOTD_LINK_TIMEOUT_MS_ATO", "90000")
	cfg, err := load(t, file, "--serial", "flag", "--boot-mode", "ato")
	if err != nil {
		t.Fatal(err)
	}
	if cfg.ID != "file" || cfg.Body.Model != "environment" || cfg.Body.Serial != "flag" || cfg.Broker != "mqtt://127.0.0.1:1883" {
		t.Errorf("id %q, model %q, serial %q, broker %q", cfg.ID, cfg.Body.Model, cfg.Body.Serial, cfg.Broker)
	}
	if cfg.Link.Loss[schema.ModeAto] != schema.LinkLossContinue || cfg.Link.Loss[schema.ModeMnl] != schema.LinkLossContinue ||
		cfg.Link.Loss[schema.ModeStr] != schema.LinkLossSafe {
		t.Errorf("link loss %v", cfg.Link.Loss)
	}
	if cfg.Link.Timeout[schema.ModeStr] != 5*time.Second || cfg.Link.Timeout[schema.ModeMnl] != 8*time.Second ||
		cfg.Link.Timeout[schema.ModeAto] != 90*time.Second {
		t.Errorf("link time-outs %v", cfg.Link.Timeout)
	}
	if strings.Join(cfg.Languages, " ") != "de en" || cfg.Tick != 10*time.Millisecond || string(cfg.Values["low_battery"]) != "0.3" ||
		!cfg.Sim.NoMap || cfg.BootMode != schema.ModeAto {
		t.Errorf("%+v", cfg)
	}
}

func TestRecorderIsOnUnlessItIsSwitchedOff(t *testing.T) {
	for arg, want := range map[string]int64{"": 256 << 20, "0": 0, "32": 32 << 20, "-1": -1, "65537": -1} {
		args := []string{"--id", "r1"}
		if arg != "" {
			args = append(args, "--recorder-mib="+arg)
		}
		cfg, err := load(t, "", args...)
		if refused := err != nil && strings.Contains(err.Error(), "recorder_mib"); refused != (want < 0) || !refused &&
			cfg.RecorderBytes != want {
			t.Errorf("--recorder-mib=%s: %d bytes, %v", arg, cfg.RecorderBytes, err)
		}
	}
}

// One broker may be written as such, several as a list, the preferred first.
func TestOneOrSeveralBrokersCanBeSet(t *testing.T) {
	for _, c := range []struct {
		file, variable string
		flags          []string
		want           string
	}{
		{"broker: mqtt://a:1\n", "", nil, "mqtt://a:1"},
		{"broker: [mqtt://a:1, mqtt://b:1]\n", "", nil, "mqtt://a:1 mqtt://b:1"},
		{"broker: mqtt://a:1\n", "mqtt://b:1,mqtt://c:1", nil, "mqtt://b:1 mqtt://c:1"},
		{"broker: mqtt://a:1\n", "mqtt://b:1", []string{"--broker", "mqtt://c:1", "--broker", "mqtt://d:1,mqtt://e:1"},
			"mqtt://c:1 mqtt://d:1 mqtt://e:1"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if c.variable != "" {
				t.Setenv("TROUPE_ROBOTD_BROKER", c.variable)
			}
			cfg, err := load(t, c.file, append(c.flags, "--id", "r1")...)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(append([]string{cfg.Broker}, cfg.FallbackBrokers...), " "); got != c.want {
				t.Errorf("it goes to %s", got)
			}
		})
	}
}

func TestAllInvalidSettingsAreReportedTogether(t *testing.T) {
	_, err := load(t, "link_loss: {ato: perhaps}\non_link_return: never\nlink_timeout_ms: {mnl: 2000}\nlow_battery: 0.9\ndefault_mode: ato\n"+
		"calibration_mode: mnl\nsafe_mode: mnl\nboot_mode: dance\nmodes: [dance]\npassword_file: /nowhere\npage: 0.0.0.0:8090\npprof: true\n"+
		"sim: {at: nowhere}\n", "--id", "R 1")
	for _, want := range []string{"link_loss.ato", "link_timeout_ms.mnl: 2000 is not", "on_link_return", "the default mode cannot be ato", "the calibration mode cannot be mnl", "the safe mode cannot be mnl", "low battery", `boot mode "dance"`, `no mode "dance" to add; there is follow`, "sim.at: there is no point nowhere; the points are desk, dock, entrance", "password_file", `pprof with page "0.0.0.0:8090"`, `robot id "R 1"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nothing is said of %s: %v", want, err)
		}
	}
}

// Rules and handlers are lists in a file, and JSON on the command line.
func TestInterruptsCanBeSet(t *testing.T) {
	file := "interrupts:\n  handlers:\n    - {handler: hello, act: greet, priority: 20}\n  rules:\n" +
		"    - {rule: r, 'on': touch, for: 2s, interrupter: touch, handler: hello}\n"
	rules := `[{"rule":"r","on":"press","interrupter":"screen","handler":"HANDLER"}]`
	for _, c := range []struct {
		file, rules, want string
	}{
		{file, "", ""},
		{file, "[]", ""},
		{file, strings.ReplaceAll(rules, "HANDLER", "hello"), ""},
		{"", strings.ReplaceAll(rules, "HANDLER", "hello"),
			"/0/handler: there is no handler hello; the handlers are request, service, attend, power"},
		{"", strings.ReplaceAll(rules, `"on":"press"`, `"when":"dusk"`), "interrupts.rules/0/when: conditions have no key or function dusk"},
		{"", "touch", "interrupts.rules"},
		{strings.ReplaceAll(file, "priority", "weight"), "", "interrupts.handlers/0/weight: unknown field"},
	} {
		var flags []string
		if c.rules != "" {
			flags = []string{"--interrupts-rules", c.rules}
		}
		cfg, err := load(t, c.file, append(flags, "--id", "r1")...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s: %v, want %q", c.file, c.rules, err, c.want)
		}
		if b, wrong := cfg.brain(); err == nil && (wrong != nil || len(b.Rules.Handlers()) != strings.Count(c.rules+c.file, "rule:") &&
			c.rules == "") {
			t.Errorf("%v: %v", b, wrong)
		}
	}
}

func TestBrokenIdentityIsReportedOnceWithARemedy(t *testing.T) {
	data := t.TempDir()
	if err := os.Mkdir(filepath.Join(data, "identity"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"cert.pem", "key.pem", "ca.pem"} {
		if err := os.WriteFile(filepath.Join(data, "identity", file), []byte("torn"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := load(t, "", "--data", data)
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "open the identity") ||
		!strings.Contains(err.Error(), "robotd enrol --again --data "+data) {
		t.Errorf("%v", err)
	}
}

func TestUnknownSettingsAreErrors(t *testing.T) {
	if _, err := load(t, "id: r1\nlinkloss: safe\nsim: {mapp: 1}\n"); err == nil || !strings.Contains(err.Error(), "no setting linkloss") ||
		!strings.Contains(err.Error(), "no setting sim.mapp") {
		t.Errorf("in the file: %v", err)
	}
	t.Setenv("TROUPE_ROBOTD_LINKLOSS", "safe")
	if _, err := load(t, "id: r1\n"); err == nil || !strings.Contains(err.Error(), "no setting TROUPE_ROBOTD_LINKLOSS") {
		t.Errorf("in the environment: %v", err)
	}
}

// A value of another type is refused: read as false or 0 it would switch off what it shall switch on.
func TestValueOfAnotherTypeIsRefused(t *testing.T) {
	file := "id: r1\nrequire_sight: yes\nrecorder_mib: 1GB\ntick: 20\nlow_battery: 20%\n"
	_, err := load(t, file)
	for _, want := range []string{`require_sight: "yes" is neither true nor false`, `recorder_mib: "1GB" is not a whole number`, `tick: "20" is not a duration such as 20ms`, `low_battery: "20%" is not a number`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("in the file, nothing is said of %s: %v", want, err)
		}
	}
	t.Setenv("TROUPE_ROBOTD_REQUIRE_SIGHT", "on")
	if _, err := load(t, "id: r1\n"); err == nil || !strings.Contains(err.Error(), `TROUPE_ROBOTD_REQUIRE_SIGHT: "on" is neither true nor false`) {
		t.Errorf("in the environment: %v", err)
	}
}

func TestSettingWithoutAValueHasItsDefault(t *testing.T) {
	t.Setenv("TROUPE_ROBOTD_SIM_SPEED", "")
	cfg, err := load(t, "id: r1\nrecorder_mib:\nlife: {enabled: }\nbroker:\n")
	if err != nil || cfg.RecorderBytes != 256<<20 || string(cfg.Values["life.enabled"]) != "true" || cfg.Broker != DefaultBroker ||
		cfg.Sim.Speed != 1 {
		t.Errorf("%+v, %v", cfg, err)
	}
}

// A number is refused where programs read it differently, whether it is in the file, the environment or a flag.
func TestNumberOfASettingIsReadAsWritten(t *testing.T) {
	_, err := load(t, "id: r1\nrecorder_mib: 0256\n")
	if err == nil || !strings.Contains(err.Error(), "line 2: /recorder_mib: 0256 is 256 in decimal and 174 in octal; write 256 or 174") {
		t.Errorf("in the file: %v", err)
	}
	t.Setenv("TROUPE_ROBOTD_RECORDER_MIB", "0256")
	if _, err = load(t, "id: r1\n"); err == nil || !strings.Contains(err.Error(), "0256 is 256 in decimal and 174 in octal") {
		t.Errorf("in the environment: %v", err)
	}
	t.Setenv("TROUPE_ROBOTD_RECORDER_MIB", "256.0")
	if cfg, err := load(t, "id: r1\nlanguages: [no, de]\n"); err != nil || cfg.RecorderBytes != 256<<20 ||
		strings.Join(cfg.Languages, " ") != "no de" {
		t.Errorf("%+v, %v", cfg, err)
	}
}

// Values of the environment are texts, and those of the file need not be lists.
func TestValuesAreTakenInTheirType(t *testing.T) {
	t.Setenv("TROUPE_ROBOTD_LIFE_ENABLED", "0")
	t.Setenv("TROUPE_ROBOTD_REQUIRE_SIGHT", "1")
	cfg, err := load(t, "id: r1\nlanguages: de\nmodes: follow\npage_host: robot.local\n")
	if err != nil || !cfg.RequireSight || string(cfg.Values["life.enabled"]) != "false" || strings.Join(cfg.Languages, " ") != "de" ||
		len(cfg.Modes) != 1 || len(cfg.Page.Hosts) != 1 {
		t.Errorf("%+v, %v", cfg, err)
	}
}

func TestRobotMayBeToldNeverToGoToCharge(t *testing.T) {
	cfg, err := load(t, "id: r1\n", "--low-battery", "0")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := cfg.brain(); err != nil || b.LowBattery != 0 || b.Charged != 0.8 {
		t.Errorf("it goes to charge below %v, until %v; %v", b.LowBattery, b.Charged, err)
	}
}

func TestPasswordIsReadFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(path, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := load(t, "", "--id", "r1", "--password-file", path)
	if err != nil || cfg.Password != "secret" {
		t.Errorf("password %q, %v", cfg.Password, err)
	}
}

func TestEverySettingHasAFlag(t *testing.T) {
	f := pflag.NewFlagSet("robotd", pflag.ContinueOnError)
	Flags(f)
	for _, s := range settings {
		if f.Lookup(s.flag()) == nil {
			t.Errorf("%s has no flag", s.key)
		}
	}
}

func TestTimeZoneIsThatOfTheSettings(t *testing.T) {
	t.Setenv("TZ", ":Asia/Tokyo")
	for _, c := range []struct{ flag, want string }{{"", "Asia/Tokyo"}, {"Asia/Kolkata", "Asia/Kolkata"}} {
		cfg, err := load(t, "id: r1\n", "--time-zone", c.flag)
		if err != nil {
			t.Fatal(err)
		}
		b, err := cfg.brain()
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Zone.String(); got != c.want {
			t.Errorf("with --time-zone %q the robot is in %s, want %s", c.flag, got, c.want)
		}
		if err := b.Set("time_zone", jsontext.Value(`"Europe/Berlin"`)); err != nil || b.Zone.String() != "Europe/Berlin" {
			t.Errorf("with the fleet's setting the robot is in %s: %v", b.Zone, err)
		}
	}
	if _, err := load(t, "id: r1\n", "--time-zone", "Berlin"); err == nil || !strings.Contains(err.Error(), "time_zone: ") {
		t.Errorf("an unknown time zone: %v", err)
	}
}
