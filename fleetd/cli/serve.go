package cli

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"troupe/broker/link"
	"troupe/fleetd/alerts"
	"troupe/fleetd/api"
	"troupe/fleetd/atomicfile"
	"troupe/fleetd/fleet"
	"troupe/schema"
	"troupe/schema/logs"
	"troupe/schema/score"
)

// envPrefix is the prefix of environment variables with settings of serve.
const envPrefix = "TROUPE_FLEETD_"

// maxRetentionDays is 100 years, so that the duration does not overflow.
const maxRetentionDays = 36_500

// passwordSetting is a setting without a flag: flags are visible in process lists.
const passwordSetting = "broker-password"

func (sh *shell) serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "run fleetd",
		Long: `Run fleetd: API and console over HTTP, robots over MQTT, all lasting data in a database.
When it is ready it prints one line: ready http=http://127.0.0.1:8080

People sign in. The first start shows the password of the user admin once on a terminal, or else
writes it into a file (mode 0600) beside the database and says where. An address that other machines reach needs TLS. With --dev nobody has to sign in, on this machine only.

It checks an SQLite file first. It refuses a damaged one, and a database that a newer
fleetd has migrated; the error says what to do. It removes history older than
--audit-retention-days, --command-retention-days and --event-retention-days in small steps.

Each flag can also be set in a YAML file (--config) and in the environment (--log-level as
TROUPE_FLEETD_LOG_LEVEL); flags override the environment, which overrides the file. The
password for the broker is never a flag: set TROUPE_FLEETD_BROKER_PASSWORD, or
broker-password in the file.`,
		Example: `  fleetd serve --dev
  fleetd serve --broker mqtt://10.0.0.2:1883 --database postgres://troupe@db.example/troupe`,
		Args: cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error { return sh.serve(cmd) }),
	}
	f := c.Flags()
	f.String("name", "fleetd", "MQTT name of this instance")
	f.String("http", "127.0.0.1:8080", "address for the API and the console; port 0 takes a free one")
	f.StringSlice("broker", []string{"mqtt://127.0.0.1:1883"},
		"address of the MQTT broker: mqtt, mqtts, ws or wss://host:port; if several, the preferred one first")
	f.String("engine", string(link.Troupe), "engine of the broker: troupe, mosquitto or nats")
	f.String("broker-ca", "", "PEM file with the CA certificates to trust for the broker; default: the root of --ca, else those of the system")
	f.String("broker-cert", "", "PEM file with fleetd's client certificate for the broker; default with --ca: fleetd issues its own")
	f.String("broker-key", "", "PEM file with the key of --broker-cert")
	f.String("database", "sqlite:fleet.db", "sqlite:PATH, or postgres://...")
	f.String("spool", "", "file on this machine that keeps stops until the database has them, with the accounts beside it for a start "+
		"without the database, and flight records (up to 512 MiB); default: beside the SQLite file, else NAME.stops")
	f.String("namespace", string(schema.DefaultNamespace), "first level of every topic")
	f.StringSlice("fleets", nil,
		"fleets between which the console switches, this one among them: NAME=URL, each with the URL at which people reach its console")
	f.Bool("dev", false,
		"for this machine only: a person who is not signed in has every right, and every robot that connects is adopted without enrolment")
	f.Bool("behind-tls-proxy", false, "only a reverse proxy reaches --http; it speaks TLS with browsers and sets X-Forwarded-For")
	f.Bool("reset-admin", false, "give the user admin a new password at this start and print it")
	f.String("ca", "", "folder with the fleet's keys (fleetd ca init): fleetd issues certificates with it, also its own")
	f.String("http-tls-cert", "", "PEM file with the server certificate for --http and --enrol; --http then uses TLS")
	f.String("http-tls-key", "", "PEM file with the key of --http-tls-cert")
	f.String("enrol-tls-cert", "", "PEM file with the server certificate for --enrol, of the fleet's CA; default: that of --http")
	f.String("enrol-tls-key", "", "PEM file with the key of --enrol-tls-cert")
	f.String("enrol", "",
		"address at which robots get and renew certificates, fetch large files and send flight records, over TLS; it serves nothing else")
	f.String("enrol-url", "", "address that robots use for --enrol, if the certificate does not name it: https://host:port")
	f.StringSlice("robot-broker", nil, "broker to which enrolled robots connect, the preferred one first; default: --broker")
	f.String("metrics", "", "address of /metrics for Prometheus, such as 127.0.0.1:9102, which asks for no password; "+
		"http: at --http, with an access token; empty: no metrics")
	f.Bool("pprof", false,
		"also serve profiles of fleetd for go tool pprof, below /debug/pprof/ of --metrics, which must be an address of this machine")
	f.Bool("traces", false, "send OpenTelemetry traces over OTLP/HTTP; OTEL_EXPORTER_OTLP_ENDPOINT in the environment names the collector, "+
		"otherwise it is http://localhost:4318")
	f.String("sign-key", "", "file with the key that signs the desired state of robots (fleetd key new)")
	f.String("release-key", "", "file with a second key, which signs the stories, activities and places that are assigned; robots that "+
		"require signatures and trust such a key accept no others")
	f.Int("audit-retention-days", fleet.DefaultAuditDays, "how long to keep the audit; 0 = for ever")
	f.Int("command-retention-days", fleet.DefaultCommandDays, "how long to keep settled commands and their batches; 0 = for ever")
	f.Int("event-retention-days", fleet.DefaultEventDays, "how long to keep events of robots; 0 = for ever")
	f.String("backup-max-age-days", "",
		"age in days from which the newest backup is an alert, also if none was ever made; 0 = never; default: "+fmt.Sprint(defaultBackupDays)+
			", once a backup was made")
	f.Int("minute-retention-days", fleet.DefaultMinuteDays, "how long to keep measurements of robots with a point a minute; 0 = for ever")
	f.Int("measurement-retention-days", fleet.DefaultMeasurementDays,
		"how long to keep measurements of robots with a point each 15 minutes; 0 = for ever")
	f.StringSlice("stop-buttons", nil, "MQTT user names of the stop buttons that must be there: one that sends no heartbeat is an alert; "+
		"others are watched once fleetd has heard them")
	f.Int("approve-above", 0, "rollouts to more robots than this need the approval of a second person; 0 = none does")
	f.String("seal-key", "", "file with the key that seals the secrets of receivers of notifications, made if it is missing; instances on "+
		"one database need the same; default: with --ca a key that follows from the fleet's keys, else a file beside the spool")
	f.StringSlice("notify-allow", nil,
		"address or network (10.0.0.5, 127.0.0.0/8) to which notifications may go although it is of this machine or link-local")
	f.StringSlice("host", nil, "host name that HTTP requests may carry besides the addresses of --http, such as that of a reverse proxy")
	providerFlags(f)
	f.String("config", "", "YAML file with these settings")
	f.String("log-level", "info", "debug, info, warn or error")
	f.String("log-format", "text", "text or json: a line of the log is key=value, or a JSON object")
	return c
}

// serverSystem refuses a system on which fleetd is the command line only: Windows has no lock of a file that ends with
// its process, by which two programs keep from one database and one spool, and no modes that keep secrets for their owner.
func serverSystem(goos string) error {
	if goos != "windows" {
		return nil
	}
	return errors.New("the server of a fleet does not run on Windows: install it on Linux (docs/install.md), also in a container or in WSL; " +
		"here fleetd is the command line: fleetd login --server https://HOST")
}

func (sh *shell) serve(cmd *cobra.Command) error {
	if err := serverSystem(runtime.GOOS); err != nil {
		return err
	}
	k, err := sh.settings(cmd.Flags())
	if err != nil {
		return &failure{code: exitUsage, err: err}
	}
	log, err := logs.New(sh.Err, k.String("log-format"), k.String("log-level"))
	if err != nil {
		return usage("%v", err)
	}
	key, err := signingKey(k.String("sign-key"))
	if err != nil {
		return err
	}
	release, err := signingKey(k.String("release-key"))
	if err != nil {
		return err
	}
	brokers := stringList(k, "broker")
	if len(brokers) == 0 {
		return usage("broker: no address given; write mqtt://host:port")
	}
	engine, err := link.ParseEngine(k.String("engine"))
	if err != nil {
		return usage("engine: %v", err)
	}
	var keep [5]time.Duration
	for i, name := range []string{"audit-retention-days", "command-retention-days", "event-retention-days", "minute-retention-days",
		"measurement-retention-days"} {
		if keep[i], err = retention(k, name); err != nil {
			return err
		}
	}
	backupAge, err := backupMaxAge(k)
	if err != nil {
		return err
	}
	allow, err := prefixes(k, "notify-allow")
	if err != nil {
		return err
	}
	people, err := providerConfig(k)
	if err != nil {
		return err
	}
	fleets, err := fleetLinks(k)
	if err != nil {
		return err
	}
	return fleet.Run(cmd.Context(), fleet.Config{
		PublicURL: k.String("public-url"), Fleets: fleets, Provider: people,
		BackupAge: backupAge, StopButtons: stringList(k, "stop-buttons"),
		Keep:    fleet.Retention{Audit: keep[0], Commands: keep[1], Events: keep[2], Minutes: keep[3], Measurements: keep[4]},
		SignKey: key, ReleaseKey: release, ApproveAbove: k.Int("approve-above"),
		Notifications: fleet.Notifications{SealKey: k.String("seal-key"), Allow: allow},
		Name:          k.String("name"), HTTP: k.String("http"), Broker: brokers[0], FallbackBrokers: brokers[1:], Engine: engine,
		Password: k.String(passwordSetting),
		Database: k.String("database"), Spool: k.String("spool"), Namespace: schema.Namespace(k.String("namespace")), Version: sh.version,
		BrokerFiles: link.Files{CA: k.String("broker-ca"), Cert: k.String("broker-cert"), Key: k.String("broker-key")},
		CA:          k.String("ca"), HTTPFiles: fleet.PairFiles{Cert: k.String("http-tls-cert"), Key: k.String("http-tls-key")},
		Observation: fleet.Observation{Metrics: k.String("metrics"), Pprof: k.Bool("pprof"), Traces: k.Bool("traces")},
		Enrolment: fleet.Enrolment{
			Enrol: k.String("enrol"), EnrolURL: k.String("enrol-url"), RobotBrokers: stringList(k, "robot-broker"),
			EnrolFiles: fleet.PairFiles{Cert: k.String("enrol-tls-cert"), Key: k.String("enrol-tls-key")},
		},
		Dev: k.Bool("dev"), BehindProxy: k.Bool("behind-tls-proxy"), ResetAdmin: k.Bool("reset-admin"), FirstAdmin: sh.showAdminPassword,
		Hosts:  k.Strings("host"),
		Logger: log,
	}, func(f *fleet.Fleet) {
		ready := "ready http=" + f.URL()
		if url := f.EnrolURL(); url != "" {
			ready += " enrol=" + url
		}
		if url := f.MetricsURL(); url != "" {
			ready += " metrics=" + url
		}
		fmt.Fprintln(sh.Out, ready)
	})
}

// showAdminPassword shows the operator the password of the first user: on a terminal, or else in a file, since many can read
// what a service manager keeps of the standard error.
func (sh *shell) showAdminPassword(name, password, path string) {
	if f, ok := unsanitized(sh.Err).(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(sh.Err, "\nThe user %s has the password  %s\n"+
			"It is not shown again. Sign in to the console, or with: fleetd login --user %s\n\n", name, password, name)
		return
	}
	if err := atomicfile.Write(path, []byte(password+"\n"), 0o600); err != nil {
		fmt.Fprintf(sh.Err, "\nThe password of the user %s is lost: %v\nStart fleetd again with --reset-admin when the file can be written.\n\n",
			name, err)
		return
	}
	fmt.Fprintf(sh.Err, "\nThe password of the user %s is in the file  %s\nSign in with: fleetd login --user %s --password-file %s\n"+
		"Delete the file when you have the password.\n\n", name, path, name, path)
}

// retention reads a setting in days. 0 means for ever, which fleet.Config writes as -1.
func retention(k *koanf.Koanf, name string) (time.Duration, error) {
	days, err := schema.ReadWhole(k.String(name))
	switch {
	case err != nil || days < 0 || days > maxRetentionDays:
		return 0, usage("%s %q: write a number of days up to %d, or 0 to keep everything", name, k.String(name), maxRetentionDays)
	case days == 0:
		return -1, nil
	}
	return time.Duration(days) * 24 * time.Hour, nil
}

// defaultBackupDays is the age from which the newest backup is an alert, once one was made.
const defaultBackupDays = 7

// backupMaxAge reads the age from which the newest backup is an alert, and whether one is expected before there ever was one.
func backupMaxAge(k *koanf.Koanf) (age alerts.BackupAge, err error) {
	text := k.String("backup-max-age-days")
	if text == "" {
		return alerts.BackupAge{Max: defaultBackupDays * 24 * time.Hour}, nil
	}
	days, err := schema.ReadWhole(text)
	if err != nil || days < 0 || days > maxRetentionDays {
		return age, usage("backup-max-age-days %q: write a number of days up to %d, or 0 for no alert", text, maxRetentionDays)
	}
	return alerts.BackupAge{Max: time.Duration(days) * 24 * time.Hour, Expected: days > 0}, nil
}

// prefixes reads a setting with addresses and networks.
func prefixes(k *koanf.Koanf, name string) (all []netip.Prefix, err error) {
	for _, text := range stringList(k, name) {
		p, err := netip.ParsePrefix(text)
		if a, notOne := netip.ParseAddr(text); err != nil && notOne == nil {
			p, err = a.Prefix(a.BitLen())
		}
		if err != nil {
			return nil, usage("%s %q: write addresses or networks, such as 127.0.0.1 or 127.0.0.0/8", name, text)
		}
		all = append(all, p)
	}
	return all, nil
}

// fleetLinks reads the fleets between which the console switches.
func fleetLinks(k *koanf.Koanf) (all []api.FleetLink, err error) {
	for _, text := range stringList(k, "fleets") {
		name, address, ok := strings.Cut(text, "=")
		if !ok || name == "" || address == "" {
			return nil, usage("fleets %q: write NAME=URL, such as museum=https://museum.example", text)
		}
		all = append(all, api.FleetLink{Name: name, URL: address})
	}
	return all, nil
}

// stringList returns the values of a setting that may be a list or a single value in
// the file.
func stringList(k *koanf.Koanf, key string) []string {
	if one, ok := k.Get(key).(string); ok {
		return []string{one}
	}
	return k.Strings(key)
}

// settings merges, in increasing priority, the flags' defaults, the file, the
// environment and the flags that were given. An unknown setting is an error; those of also are known.
func (sh *shell) settings(flags *pflag.FlagSet, also ...*pflag.FlagSet) (*koanf.Koanf, error) {
	k := koanf.New(".")
	known := map[string]bool{passwordSetting: true}
	for _, set := range append(also, flags) {
		set.VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	}
	path := flags.Lookup("config").Value.String()
	if path == "" {
		path = sh.Env(envPrefix + "CONFIG")
	}
	if path != "" {
		if err := k.Load(file.Provider(path), score.SettingsParser{}); err != nil {
			return nil, fmt.Errorf("read settings from %s: %w", path, err)
		}
		for _, key := range k.Keys() {
			if !known[key] {
				return nil, fmt.Errorf("%s: unknown setting %q", path, key)
			}
		}
	}
	found := map[string]any{}
	for _, pair := range sh.Environ {
		variable, value, _ := strings.Cut(pair, "=")
		name, ok := strings.CutPrefix(variable, envPrefix)
		if !ok {
			continue
		}
		name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
		switch {
		case !known[name]:
			return nil, fmt.Errorf("environment: unknown setting %s", variable)
		case name == "host", name == "broker", name == "robot-broker", name == "oidc-scope", name == "oidc-allow", name == "notify-allow",
			name == "fleets", name == "stop-buttons":
			found[name] = strings.Split(value, ",")
		default:
			found[name] = value
		}
	}
	if err := errors.Join(k.Load(confmap.Provider(found, "."), nil), k.Load(posflag.Provider(flags, ".", k), nil)); err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	var faults []error
	flags.VisitAll(func(f *pflag.Flag) {
		if text := k.String(f.Name); text != "" && f.Value.Type() == "bool" {
			if _, err := strconv.ParseBool(text); err != nil { // koanf would read it as false
				faults = append(faults, fmt.Errorf("setting %s: %q is neither true nor false", f.Name, text))
			}
		}
	})
	return k, errors.Join(faults...)
}
