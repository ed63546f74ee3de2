package setup

import (
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"troupe/schema"
)

// The system users that the programs run as, which the packages make.
const (
	FleetdUser = "fleetd"
	BrokerUser = "troupe-broker"
)

// Kind is what a step of a plan makes.
type Kind string

// The kinds of steps.
const (
	Folder      Kind = "folder"
	Authority   Kind = "CA"          // the keys of the fleet, in a folder of package vault
	Certificate Kind = "certificate" // of a server, at Path.pem and Path.key.pem
	Copy        Kind = "copy"        // of the file From
	Users       Kind = "users"       // the broker's users file
	Settings    Kind = "settings"    // a file of environment variables
	Admin       Kind = "account"     // the first administrator, in the database
	Token       Kind = "token"       // the enrolment token of the first robot, in the database
)

// Step is one thing that a set-up makes.
type Step struct {
	Kind  Kind
	Path  string // of a file or folder; the name of an account or robot otherwise
	Mode  fs.FileMode
	Owner string // a system user; "" = who runs the set-up
	What  string // for the person who reads the plan

	From     string    // of a Copy
	Hosts    []string  // of a Certificate
	Names    []string  // of Users: each a name and a role
	Settings []Setting // of Settings
	Label    string    // of a Token: the site; "" = none
	Pointer  string    // the answer from which it follows
}

// Setting is an environment variable.
type Setting struct {
	Name, Value string
	Secret      bool // the value has a password
}

// Shown is the setting for people.
func (s Setting) Shown() string {
	if s.Secret {
		return s.Name + "=" + schema.PrintableURL(s.Value)
	}
	return s.Name + "=" + s.Value
}

// Plan is what a set-up makes, in the order in which it is made: settings come after what they name, so that a program
// that starts meanwhile finds all of it or does not start.
type Plan struct {
	Answers Answers
	Steps   []Step

	Database  string // address for fleetd, with its password
	CA        string // folder
	RobotsURL string // where robots enrol
}

// Sections of the settings files that a set-up writes; each other variable in them is the person's own.
var (
	fleetdVariables = []string{"NAME", "DATABASE", "SPOOL", "CA", "BROKER", "ROBOT_BROKER", "HTTP", "HTTP_TLS_CERT", "HTTP_TLS_KEY",
		"PUBLIC_URL", "BEHIND_TLS_PROXY",
		"ENROL", "ENROL_URL", "ENROL_TLS_CERT", "ENROL_TLS_KEY"}
	brokerVariables = []string{"MQTT", "MQTTS", "TLS_CERT", "TLS_KEY", "CLIENT_CA", "CRL", "USERS", "HTTP"}
)

const (
	fleetdPrefix = "TROUPE_FLEETD_"
	brokerPrefix = "TROUPE_BROKER_"
)

// Managed reports whether a set-up may write the variable.
func Managed(name string) bool {
	if rest, ok := strings.CutPrefix(name, fleetdPrefix); ok {
		return slices.Contains(fleetdVariables, rest)
	}
	rest, ok := strings.CutPrefix(name, brokerPrefix)
	return ok && slices.Contains(brokerVariables, rest)
}

// FleetdEnv is the file of fleetd's settings.
func (p Plan) FleetdEnv() string { return filepath.Join(p.Answers.Config, "fleetd.env") }

// SQLiteFile is the file of the database; "" with PostgreSQL.
func (p Plan) SQLiteFile() string {
	path, _ := strings.CutPrefix(p.Database, sqlite+":")
	if path == p.Database {
		return ""
	}
	return path
}

// NewPlan makes the plan of answers without problems. databasePassword is the first line of
// database.password_file; "" = the address has what it needs.
func NewPlan(a Answers, databasePassword string) Plan {
	data := filepath.Join(a.Data, "fleetd")
	p := Plan{Answers: a, Database: a.Database, CA: filepath.Join(a.Config, "ca")}
	if a.Database == sqlite {
		p.Database = "sqlite:" + filepath.Join(data, "fleet.db")
	}
	if u, err := url.Parse(a.Database); err == nil && databasePassword != "" {
		u.User = url.UserPassword(u.User.Username(), databasePassword)
		p.Database = u.String()
	}
	brokerPort := portOf(a.BrokerListen)
	brokerHost := a.Hosts[0]
	if a.Broker != Here {
		brokerHost = a.BrokerHost
	}
	robotBroker := "mqtts://" + joinAddress(brokerHost, brokerPort)
	ownBroker := robotBroker
	if a.Broker == Here {
		ownBroker = "mqtts://" + joinAddress(reachedAt(a.BrokerListen), brokerPort)
	}
	p.RobotsURL = "https://" + joinAddress(a.Hosts[0], portOf(a.Robots))

	add := func(s Step) { p.Steps = append(p.Steps, s) }
	add(Step{Kind: Folder, Path: a.Config, Mode: 0o755, What: "configuration", Pointer: "/folders/config"})
	add(Step{Kind: Folder, Path: a.Data, Mode: 0o755, What: "data of the programs", Pointer: "/folders/data"})
	add(Step{Kind: Folder, Path: data, Mode: 0o700, Owner: FleetdUser, What: "data of fleetd", Pointer: "/folders/data"})
	if file := p.SQLiteFile(); file != "" && filepath.Dir(file) != data { // SQLite makes files beside it
		add(Step{Kind: Folder, Path: filepath.Dir(file), Mode: 0o700, Owner: FleetdUser, What: "the database", Pointer: "/database/address"})
	}
	add(Step{Kind: Authority, Path: p.CA, Mode: 0o755, Owner: FleetdUser, Pointer: "/folders/config",
		What: "the fleet's CA, of which fleetd signs the certificates of robots"})
	own := filepath.Join(a.Config, "fleetd")
	add(Step{Kind: Certificate, Path: own, Owner: FleetdUser, Hosts: withLocal(a.Hosts, a.HTTP, a.Robots),
		What: "server certificate of fleetd", Pointer: "/hosts"})
	if a.Broker != Existing {
		p.broker(add, a, brokerHost)
	}

	env := []Setting{
		{Name: "NAME", Value: a.Instance}, {Name: "DATABASE", Value: p.Database, Secret: true}, {Name: "SPOOL",
			Value: filepath.Join(data, "fleetd.stops")}, {Name: "CA", Value: p.CA},
		{Name: "BROKER", Value: ownBroker}, {Name: "ROBOT_BROKER", Value: robotBroker}, {Name: "HTTP", Value: a.HTTP},
	}
	switch a.Console {
	case OwnTLS:
		env = append(env, Setting{Name: "HTTP_TLS_CERT", Value: own + ".pem"}, Setting{Name: "HTTP_TLS_KEY", Value: own + ".key.pem"})
	case GivenTLS:
		env = append(env, Setting{Name: "HTTP_TLS_CERT", Value: a.Certificate}, Setting{Name: "HTTP_TLS_KEY", Value: a.Key})
	case ProxyTLS:
		env = append(env, Setting{Name: "BEHIND_TLS_PROXY", Value: "true"})
	}
	env = append(env, Setting{Name: "PUBLIC_URL", Value: a.PublicURL}, Setting{Name: "ENROL", Value: a.Robots},
		Setting{Name: "ENROL_URL", Value: p.RobotsURL})
	if a.Console != OwnTLS {
		env = append(env, Setting{Name: "ENROL_TLS_CERT", Value: own + ".pem"}, Setting{Name: "ENROL_TLS_KEY", Value: own + ".key.pem"})
	}
	add(Step{Kind: Settings, Path: p.FleetdEnv(), Mode: 0o640, Owner: FleetdUser, Settings: prefixed(fleetdPrefix, env),
		What: "settings of fleetd", Pointer: "/http/listen"})
	add(Step{Kind: Admin, Path: a.Admin, What: "the first administrator, with a new password", Pointer: "/accounts/admin"})
	if a.First != Nobody {
		site := ""
		if len(a.Sites) > 0 {
			site = a.Sites[0]
		}
		add(Step{Kind: Token, Path: a.First, Label: site, What: "the token with which the first robot enrols, valid for a day",
			Pointer: "/robots/first"})
	}
	return p
}

// broker adds the files of the broker: those of this machine, or a folder to copy to its own.
func (p Plan) broker(add func(Step), a Answers, host string) {
	// Paths in the settings are those on the broker's machine.
	there, here, owner := a.Config, a.Config, BrokerUser
	if a.Broker == Elsewhere {
		there, here, owner = "/etc/troupe", filepath.Join(a.Config, "for-the-broker"), ""
		add(Step{Kind: Folder, Path: here, Mode: 0o700, What: "files to copy to " + there + " of " + host, Pointer: "/broker/where"})
		add(Step{Kind: Folder, Path: filepath.Join(here, "ca"), Mode: 0o755, What: "what the broker knows of the CA", Pointer: "/broker/where"})
	}
	hosts := withLocal(a.Hosts, a.BrokerListen)
	if a.Broker == Elsewhere {
		hosts = withLocal([]string{host}, a.BrokerListen)
	}
	add(Step{Kind: Certificate, Path: filepath.Join(here, "broker"), Owner: owner, Hosts: hosts,
		What: "server certificate of the broker", Pointer: "/hosts"})
	if a.Broker == Elsewhere {
		for _, file := range []string{"ca.pem", "crl.pem"} {
			add(Step{Kind: Copy, Path: filepath.Join(here, "ca", file), Mode: 0o644, From: filepath.Join(p.CA, file),
				What: "copy of the CA's", Pointer: "/broker/where"})
		}
	}
	add(Step{Kind: Users, Path: filepath.Join(here, "broker.users"), Mode: 0o640, Owner: owner, Names: a.BrokerUsers,
		What: "clients with a password, and their roles", Pointer: "/broker/users"})
	add(Step{Kind: Settings, Path: filepath.Join(here, "broker.env"), Mode: 0o640, Owner: owner, What: "settings of the broker",
		Pointer: "/broker/listen",
		Settings: prefixed(brokerPrefix, []Setting{
			{Name: "MQTT", Value: ""}, {Name: "MQTTS", Value: a.BrokerListen},
			{Name: "TLS_CERT", Value: filepath.Join(there, "broker.pem")}, {Name: "TLS_KEY", Value: filepath.Join(there, "broker.key.pem")},
			{Name: "CLIENT_CA", Value: filepath.Join(there, "ca", "ca.pem")}, {Name: "CRL", Value: filepath.Join(there, "ca", "crl.pem")},
			{Name: "USERS", Value: filepath.Join(there, "broker.users")}, {Name: "HTTP", Value: a.BrokerHTTP},
		})})
}

func prefixed(prefix string, settings []Setting) []Setting {
	for i := range settings {
		settings[i].Name = prefix + settings[i].Name
	}
	return settings
}

// reachedAt is the host at which a program of the same machine reaches an address.
func reachedAt(listen string) string {
	host, _, _ := splitAddress(listen)
	if ip, err := netip.ParseAddr(host); err == nil && !ip.IsUnspecified() {
		return host
	}
	return "localhost"
}

// withLocal are the names of a certificate: those that are given, those of the machine itself, and the addresses at
// which the program listens.
func withLocal(hosts []string, listen ...string) []string {
	all := slices.Clone(hosts)
	more := []string{"localhost", "127.0.0.1"}
	for _, at := range listen {
		more = append(more, reachedAt(at))
	}
	for _, host := range more {
		if !slices.Contains(all, host) {
			all = append(all, host)
		}
	}
	return all
}

// Describe is the step for people, in a line.
func (s Step) Describe() string {
	path, more := s.Path, ""
	if s.Kind == Certificate {
		path, more = path+".pem and .key.pem", ", for "+strings.Join(s.Hosts, ", ")
	}
	return fmt.Sprintf("%-11s %s: %s%s", s.Kind, path, s.What, more)
}
