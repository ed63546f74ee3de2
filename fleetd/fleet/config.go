package fleet

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/alerts"
	"troupe/fleetd/api"
	"troupe/fleetd/auth"
	"troupe/fleetd/provider"
	"troupe/fleetd/store"
	"troupe/schema"
)

// How many days of history are kept. The audit is small, and is read after an incident or in
// a yearly review. Commands are larger, with their payloads and answers. Events are by far
// the most.
const (
	DefaultAuditDays   = 365
	DefaultCommandDays = 90
	DefaultEventDays   = 30
	// Measurements are kept with a point a minute, and for longer with a point each 15 minutes.
	DefaultMinuteDays      = 7
	DefaultMeasurementDays = 365
)

// PairFiles are the PEM files of a server certificate and of its key.
type PairFiles struct{ Cert, Key string }

// Enrolment is where robots get their identity.
type Enrolment struct {
	// EnrolFiles, if not empty, are a certificate of Enrol's own. Robots trust only certificates of the fleet's CA, whereas
	// a browser may need one of another CA at HTTP.
	EnrolFiles PairFiles
	// Enrol is the address at which robots request certificates and large files and send flight
	// records, and which serves nothing else. EnrolURL is how robots reach it, and RobotBrokers are the brokers
	// to which enrolled robots connect.
	Enrol, EnrolURL string
	RobotBrokers    []string
}

// Observation is what fleetd lets others see of how it works.
type Observation struct {
	// Metrics is the address of /metrics for Prometheus; MetricsOnHTTP: that of HTTP, for tokens of users who see every robot; empty: none.
	Metrics string
	// Pprof adds the profiles of package schema/profile to the address Metrics, which then has to be one of this machine.
	Pprof bool

	// Traces sends OpenTelemetry traces as the variables OTEL_* of the environment say.
	Traces bool
}

// Config is the configuration of an instance. Zero values mean the defaults named beside
// them.
type Config struct {
	Name     string // MQTT name and client id; fleetd
	HTTP     string // address, such as 127.0.0.1:8080 or :0; empty: only Handler
	Database string // sqlite:PATH or postgres://...

	// DialDatabase and Listen take the place of the network, for PostgreSQL and for HTTP; nil:
	// the network.
	DialDatabase store.Dialer
	Listen       func(ctx context.Context, network, address string) (net.Listener, error)

	Broker          string      // mqtt, mqtts, ws or wss://host:port; may be empty with Dial
	FallbackBrokers []string    // brokers to try when Broker fails, in order
	Engine          link.Engine // of the brokers; empty: Troupe
	Dial            func(ctx context.Context) (net.Conn, error)
	Random          func() float64 // draws the pauses before reconnects; nil: at random
	Password        string

	// BeforePart is for tests, which let parts start late: if not nil, the goroutine of each part of
	// fleetd calls it before the part begins.
	BeforePart func(part string)

	// BrokerFiles are for mqtts and wss. CA supplies what is missing, and without CA the
	// system does.
	BrokerFiles link.Files

	// Spool is the file on this machine where stops wait for the database; beside an
	// SQLite file, and NAME.stops otherwise. The accounts are kept beside it, in a file whose
	// name ends in .accounts, for a start without the database.
	Spool string

	// SignKey signs the desired state of robots, and ReleaseKey the contents that it assigns; nil:
	// unsigned.
	SignKey, ReleaseKey ed25519.PrivateKey

	Namespace schema.Namespace // troupe
	Version   string

	// Dev adopts every robot at its first presence, and lets a person who is not signed in do
	// everything; other machines cannot reach the address then. Without it an unknown robot is
	// listed and can be stopped, but belongs to the fleet only after a person has adopted it.
	Dev bool
	// BehindProxy says that only a reverse proxy reaches HTTP, which speaks TLS with browsers
	// and names their addresses in X-Forwarded-For.
	BehindProxy bool
	// Authenticator replaces fleetd's own accounts; nil = none does.
	Authenticator auth.Authenticator
	// FirstAdmin gets the password of the first user, which fleetd adds to a database without
	// users; nil adds none. With ResetAdmin it gets a new password of admin at every start.
	FirstAdmin func(name, password, file string)
	ResetAdmin bool
	// PublicURL is how people reach the console, such as https://fleet.example, or https://site.example/troupe behind a
	// proxy that takes away the path.
	PublicURL string
	base      string // the path of PublicURL, such as /troupe; empty if it has none
	// Fleets are those between which the console switches, this one among them; empty = it does not.
	Fleets []api.FleetLink
	// Provider signs people in besides fleetd itself; without an issuer nobody else does. Redirect
	// follows from PublicURL.
	Provider provider.Config
	// CA is the folder with the fleet's keys. Without it no certificates are issued, and a broker
	// that requires one needs BrokerFiles.Cert.
	CA string
	// HTTPFiles, if not empty, are a certificate with which HTTP is served over TLS.
	HTTPFiles PairFiles
	Enrolment
	// Hosts are the Host names under which a reverse proxy reaches fleetd.
	Hosts []string

	Observation

	// ApproveAbove is how many robots a rollout may have without the approval of a second person; 0 = any number.
	ApproveAbove int

	// StopButtons are the names of the stop buttons that must be there. Others are watched once they were heard.
	StopButtons []string

	BackupAge     alerts.BackupAge
	Notifications Notifications

	Keep Retention

	Heartbeat  time.Duration // 1 s; robots rely on it, and only tests change it
	KeepUnused time.Duration // how long bytes that nothing refers to stay in the broker and the database; 24 h
	Logger     *slog.Logger
}

// Notifications are the settings of notifications.
type Notifications struct {
	// SealKey is a file with the key that seals the secrets of receivers; it is made if it is missing. Default: with CA a key
	// that follows from the fleet's keys, else a file beside Spool. Instances on one database need the same.
	SealKey string
	// Allow are addresses to which notifications may go although they are of this machine or link-local.
	Allow []netip.Prefix
}

// Retention is how long history is kept; negative = for ever.
type Retention struct {
	Audit        time.Duration // 365 days
	Commands     time.Duration // 90 days, with their batches; an open one stays
	Events       time.Duration // 30 days
	Minutes      time.Duration // measurements with a point a minute; 7 days
	Measurements time.Duration // measurements with a point each 15 minutes; 365 days
}

func (c *Config) complete() error {
	text := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	text(&c.Name, "fleetd")
	text(&c.Version, "unknown")
	if c.Namespace == "" {
		c.Namespace = schema.DefaultNamespace
	}
	if path, ok := strings.CutPrefix(c.Database, "sqlite:"); ok && c.Spool == "" {
		c.Spool = path + ".stops"
	}
	text(&c.Spool, c.Name+".stops")
	if c.BeforePart == nil {
		c.BeforePart = func(string) {}
	}
	if c.Listen == nil {
		c.Listen = new(net.ListenConfig).Listen
	}
	if err := errors.Join(c.completePublicURL(), c.checkFleets()); err != nil {
		return err
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = time.Second
	}
	days := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v * 24 * time.Hour
		}
	}
	days(&c.Keep.Audit, DefaultAuditDays)
	days(&c.Keep.Commands, DefaultCommandDays)
	days(&c.Keep.Events, DefaultEventDays)
	days(&c.Keep.Minutes, DefaultMinuteDays)
	days(&c.Keep.Measurements, DefaultMeasurementDays)
	if c.KeepUnused == 0 {
		c.KeepUnused = 24 * time.Hour
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case !schema.ValidID(c.Name):
		return fmt.Errorf("name %q: use a-z, 0-9 and hyphens, at most %d", c.Name, schema.MaxIDLen)
	case !schema.ValidNamespace(string(c.Namespace)):
		return fmt.Errorf("namespace %q: use a-z, 0-9 and hyphens, at most 32", c.Namespace)
	case slices.ContainsFunc(c.StopButtons, func(name string) bool { return !schema.ValidID(name) }):
		return fmt.Errorf("stop-buttons %s: each is the MQTT user name of a stop button, of a-z, 0-9 and hyphens",
			strings.Join(c.StopButtons, ","))
	case c.ApproveAbove < 0:
		return fmt.Errorf("approve-above %d: write a number of robots; 0 = no rollout needs approval", c.ApproveAbove)
	case c.Broker == "" && c.Dial == nil:
		return errors.New("no broker is given: write --broker mqtt://host:port")
	}
	if err := c.completeIdentity(); err != nil {
		return err
	}
	if err := c.checkMetrics(); err != nil {
		return err
	}
	return c.checkDatabase()
}

func (c *Config) checkDatabase() error {
	switch scheme, rest, _ := strings.Cut(c.Database, ":"); scheme {
	case "":
		return errors.New("no database is given: write --database sqlite:PATH or --database postgres://USER@HOST/NAME")
	case "sqlite":
		if rest == "" {
			return errors.New("the SQLite database has no file: write --database sqlite:PATH")
		}
	case "postgres", "postgresql":
		return store.CheckAddress(c.Database)
	default:
		if !schema.ValidID(scheme) {
			scheme = "that" // it may be an address in another form that includes a password
		}
		return fmt.Errorf("%s is no kind of database: write --database sqlite:PATH or --database postgres://USER@HOST/NAME", scheme)
	}
	return nil
}

// reachable reports whether other machines can connect to addr.
func reachable(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || !tcp.IP.IsLoopback()
}

// completePublicURL lets requests carry the host of the public URL, and derives from it where
// the provider sends browsers back.
func (c *Config) completePublicURL() error {
	if c.PublicURL == "" {
		return nil
	}
	u, err := url.Parse(c.PublicURL)
	if !validURL(u, err) {
		return fmt.Errorf("public-url %q: write the URL of the console, such as https://fleet.example or https://site.example/troupe",
			schema.PrintableURL(c.PublicURL))
	}
	c.base = strings.TrimRight(u.EscapedPath(), "/")
	c.Hosts = append(slices.Clone(c.Hosts), u.Hostname())
	c.Provider.Redirect = u.Scheme + "://" + u.Host + c.base + api.CallbackPath
	return nil
}

// checkFleets checks and completes the fleets between which the console switches.
func (c *Config) checkFleets() error {
	hosts := map[string]string{} // fleet by host
	own := len(c.Fleets) == 0 || c.PublicURL == ""
	c.Fleets = slices.Clone(c.Fleets)
	for i, f := range c.Fleets {
		c.Fleets[i].URL = strings.TrimRight(f.URL, "/")
		u, err := url.Parse(f.URL)
		switch {
		case !validURL(u, err):
			return fmt.Errorf("fleets: %s: %q: write the URL of its console, such as https://fleet.example", f.Name, schema.PrintableURL(f.URL))
		case hosts[u.Hostname()] != "" && !c.Dev:
			return fmt.Errorf(
				"fleets: %s and %s are on the host %s, and a browser keeps one session for a host, on any port: give each its own host name",
				hosts[u.Hostname()], f.Name, u.Hostname())
		}
		hosts[u.Hostname()] = f.Name
		own = own || c.Fleets[i].URL == strings.TrimRight(c.PublicURL, "/")
	}
	if !own {
		return fmt.Errorf("fleets: none of them has the URL of this one, %s", schema.PrintableURL(c.PublicURL))
	}
	return nil
}

// validURL reports whether a URL can be that of a console.
func validURL(u *url.URL, err error) bool {
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// completeIdentity checks the settings of certificates and addresses.
func (c *Config) completeIdentity() error {
	switch {
	case (c.HTTPFiles.Cert == "") != (c.HTTPFiles.Key == ""):
		return errors.New("a certificate needs its key: write --http-tls-cert FILE --http-tls-key FILE")
	case (c.BrokerFiles.Cert == "") != (c.BrokerFiles.Key == ""):
		return errors.New("a certificate needs its key: write --broker-cert FILE --broker-key FILE")
	case c.Enrol != "" && c.CA == "":
		return errors.New("--enrol needs the keys of the fleet: write --ca DIR; fleetd ca init makes them")
	case (c.EnrolFiles.Cert == "") != (c.EnrolFiles.Key == ""):
		return errors.New("a certificate needs its key: write --enrol-tls-cert FILE --enrol-tls-key FILE")
	case c.Enrol != "" && c.HTTPFiles.Cert == "" && c.EnrolFiles.Cert == "":
		return errors.New("--enrol needs TLS: write --http-tls-cert FILE --http-tls-key FILE, or --enrol-tls-cert and --enrol-tls-key for " +
			"--enrol only; fleetd ca server makes them")
	}
	if len(c.RobotBrokers) == 0 && c.Broker != "" {
		c.RobotBrokers = append([]string{c.Broker}, c.FallbackBrokers...)
	}
	for i, b := range c.RobotBrokers {
		if !strings.Contains(b, "://") {
			return fmt.Errorf("robot broker %s: %q is no address such as mqtts://broker.example:8883", strconv.Itoa(i+1), b)
		}
	}
	return nil
}
