// Package setup decides how a server of a fleet is set up: it reads the answers of a person, from a file or
// from questions on a terminal, and turns them into a plan of folders, keys, files and accounts. It reads and writes
// nothing itself: package apply carries a plan out.
package setup

import (
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"troupe/fleetd/auth"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// Answers is what a set-up needs to know. The zero value has no answer; Complete adds the defaults.
type Answers struct {
	Name         string
	Instance     string // MQTT name of this fleetd
	Hosts, Sites []string
	Config, Data string // folders

	Console          string // who proves to browsers that this is the console: OwnTLS, GivenTLS or ProxyTLS
	Certificate, Key string // files, with GivenTLS

	Database, DatabasePasswordFile string

	HTTP, PublicURL string
	Robots, First   string // address for robots; name of the first robot, Nobody = none

	Broker, BrokerHost, BrokerListen, BrokerHTTP string
	BrokerUsers                                  []string // each a name and a role

	Admin, SecretsFile string
}

// The answers to tls.console.
const (
	OwnTLS   = "own"
	GivenTLS = "given"
	ProxyTLS = "proxy"
)

// The answers to broker.where.
const (
	Here      = "here"
	Elsewhere = "elsewhere"
	Existing  = "existing" // on another machine, as the set-up of another instance made it
)

// Nobody is the answer to robots.first of a person who enrols the first robot later.
const Nobody = "none"

// Question asks for one answer.
type Question struct {
	Key  string // in the file of answers; a.b is b below a
	Ask  string // the question, for a terminal
	Help string // what the answer means
	List bool   // there may be several values, separated by commas on a terminal

	text    func(*Answers) *string
	list    func(*Answers) *[]string
	without func(Answers) string // the default; "" = none
	// asked: whether the answer matters beside the others; nil = it does.
	asked    func(Answers) bool
	optional bool
	check    func(a Answers, value string) (detail, hint string) // of one value that is not empty
}

// Asked reports whether the answer matters beside the others.
func (q Question) Asked(a Answers) bool { return q.asked == nil || q.asked(a) }

// Default is the answer of a person who gives none; "" if there is no default.
func (q Question) Default(a Answers) string {
	if q.without == nil {
		return ""
	}
	return q.without(a)
}

// Value is the answer as a person writes it on a terminal.
func (q Question) Value(a Answers) string {
	if q.List {
		return strings.Join(*q.list(&a), ", ")
	}
	return *q.text(&a)
}

// Set sets the answer from what a person wrote on a terminal.
func (q Question) Set(a *Answers, value string) {
	if !q.List {
		*q.text(a) = strings.TrimSpace(value)
		return
	}
	*q.list(a) = nil
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*q.list(a) = append(*q.list(a), part)
		}
	}
}

// Pointer is where the answer is in the file of answers.
func (q Question) Pointer() string { return "/" + strings.ReplaceAll(q.Key, ".", "/") }

// Problems says what is wrong with the answer by itself.
func (q Question) Problems(a Answers) (found []schema.Problem) {
	values := []string{}
	if q.List {
		values = *q.list(&a)
	} else if value := *q.text(&a); value != "" {
		values = append(values, value)
	}
	if len(values) == 0 && !q.optional {
		return []schema.Problem{schema.NewProblem(q.Pointer(), "missing", q.Key+" has no answer", q.Help)}
	}
	for i, value := range values {
		at := q.Pointer()
		if q.List {
			at = fmt.Sprintf("%s/%d", at, i)
		}
		if slices.Index(values, value) < i {
			found = append(found, schema.NewProblem(at, "twice", fmt.Sprintf("%q is there twice", value), "leave one of them out"))
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			found = append(found, schema.NewProblem(at, "bad_value", "the answer has a control character", "write it in one line, without tabs"))
		} else if detail, hint := q.check(a, value); detail != "" {
			found = append(found, schema.NewProblem(at, "bad_value", detail, hint))
		}
	}
	return found
}

// Questions are all questions, in the order in which a person is asked.
var Questions = []Question{
	{Key: "name", Ask: "Name of the fleet", Help: "It is in the fleet's certificates.",
		text: func(a *Answers) *string { return &a.Name }, without: func(Answers) string { return "troupe" }, check: checkID},
	{Key: "instance", Ask: "Name of this fleetd",
		Help: "fleetd, if it is the only one. Another instance on the same database is fleetd-b, for example, and needs the folder ca of " +
			"the first one.",
		text: func(a *Answers) *string { return &a.Instance }, without: func(Answers) string { return "fleetd" }, check: checkInstance},
	{Key: "hosts", Ask: "Names and addresses of this server", List: true,
		Help: "People and robots reach this server under them; the first one is what robots are given. Write DNS names or IP addresses.",
		list: func(a *Answers) *[]string { return &a.Hosts }, check: checkHost},
	{Key: "sites", Ask: "Sites of the fleet", List: true, optional: true,
		Help: "Values of the label site of robots, such as lobby or hall-2, to which the rights of people can be limited. The first robot " +
			"gets the first one.",
		list: func(a *Answers) *[]string { return &a.Sites }, check: checkSite},
	{Key: "folders.config", Ask: "Folder of the configuration", Help: "It gets the settings, certificates and keys.",
		text: func(a *Answers) *string { return &a.Config }, without: func(Answers) string { return "/etc/troupe" }, check: checkPath},
	{Key: "folders.data", Ask: "Folder of the data", Help: "The programs keep their data below it.",
		text: func(a *Answers) *string { return &a.Data }, without: func(Answers) string { return "/var/lib/troupe" }, check: checkPath},
	{Key: "tls.console", Ask: "Who proves to browsers that this is the console",
		Help: "own: a certificate of the fleet's own CA, whose root people install once. given: a certificate that browsers trust already, " +
			"which you have. " +
			"proxy: a reverse proxy that speaks TLS. Robots and the broker use the fleet's own CA in any case.",
		text: func(a *Answers) *string { return &a.Console }, without: func(Answers) string { return OwnTLS },
		check: oneOf(OwnTLS, GivenTLS, ProxyTLS)},
	{Key: "tls.certificate", Ask: "File of that certificate", Help: "PEM, with its chain up to but without the root. fleetd reads it " +
		"again when it is renewed.",
		text: func(a *Answers) *string { return &a.Certificate }, asked: isGiven, check: checkPath},
	{Key: "tls.key", Ask: "File of its key", Help: "PEM; the user fleetd has to be able to read it.",
		text: func(a *Answers) *string { return &a.Key }, asked: isGiven, check: checkPath},
	{Key: "database.address", Ask: "Database", Help: "sqlite keeps it in one file below the data folder. For several instances, or more " +
		"than a few hundred robots, write postgres://USER@HOST/NAME.",
		text: func(a *Answers) *string { return &a.Database }, without: func(Answers) string { return "sqlite" }, check: checkDatabase},
	{Key: "database.password_file", Ask: "File with the password of the database", optional: true,
		Help: "Its first line. Without a file the address has the password, or the server asks for none.",
		text: func(a *Answers) *string { return &a.DatabasePasswordFile }, asked: isPostgres, check: checkPath},
	{Key: "http.listen", Ask: "Address of the console and the API", Help: "0.0.0.0 is every address of this machine.",
		text: func(a *Answers) *string { return &a.HTTP }, check: checkListen,
		without: func(a Answers) string {
			if a.Console == ProxyTLS {
				return "127.0.0.1:8080"
			}
			return "0.0.0.0:8080"
		}},
	{Key: "http.public_url", Ask: "URL of the console", Help: "What people write into their browser.",
		text: func(a *Answers) *string { return &a.PublicURL }, without: publicURL, check: checkPublicURL},
	{Key: "robots.listen", Ask: "Address for robots", Help: "Robots get and renew their certificates there, and fetch large files.",
		text: func(a *Answers) *string { return &a.Robots }, without: func(Answers) string { return "0.0.0.0:8443" }, check: checkListen},
	{Key: "robots.first", Ask: "Name of the first robot", Help: "The set-up makes a token with which it enrols, valid for a day. none " +
		"makes no token.",
		text: func(a *Answers) *string { return &a.First }, without: func(Answers) string { return "r1" }, check: checkRobot},
	{Key: "broker.where", Ask: "Where the broker runs", Help: "here: on this machine. elsewhere: on another machine, for which the " +
		"set-up makes a folder of files. existing: it runs there already, set up with another instance of this fleet.",
		text: func(a *Answers) *string { return &a.Broker }, without: func(Answers) string { return Here },
		check: oneOf(Here, Elsewhere, Existing)},
	{Key: "broker.host", Ask: "Name or address of the broker's machine", Help: "Robots and fleetd reach the broker under it.",
		text: func(a *Answers) *string { return &a.BrokerHost }, asked: isElsewhere, check: checkHost},
	{Key: "broker.listen", Ask: "Address of the broker, for MQTT over TLS", Help: "0.0.0.0 is every address of its machine.",
		text: func(a *Answers) *string { return &a.BrokerListen }, without: func(Answers) string { return "0.0.0.0:8883" },
		check: checkBrokerListen},
	{Key: "broker.http", Ask: "Address of the broker's health and counters", Help: "They are open to everybody who reaches the address.",
		text: func(a *Answers) *string { return &a.BrokerHTTP }, asked: makesBroker,
		without: func(Answers) string { return "127.0.0.1:9101" }, check: checkLoopback},
	{Key: "broker.users", Ask: "Programs that connect with a password", List: true, optional: true,
		Help: "Each a name and a role: observer, stop, responder, operator, admin or console:ROBOT, such as: wall observer. fleetd and " +
			"robots need none: they have certificates.",
		list: func(a *Answers) *[]string { return &a.BrokerUsers }, asked: makesBroker, check: checkBrokerUser},
	{Key: "accounts.admin", Ask: "Login name of the first administrator", Help: "The set-up makes this account, with a password that it " +
		"shows once.",
		text: func(a *Answers) *string { return &a.Admin }, without: func(Answers) string { return "admin" }, check: checkLogin},
	{Key: "accounts.secrets_file", Ask: "File for the first passwords and the token",
		Help: "Written, for its owner only, if no terminal shows them. Delete it when you have them.",
		text: func(a *Answers) *string { return &a.SecretsFile }, without: secretsFile, check: checkPath},
}

func makesBroker(a Answers) bool   { return a.Broker != Existing }
func secretsFile(a Answers) string { return filepath.Join(a.Config, "first-secrets") }

func isGiven(a Answers) bool     { return a.Console == GivenTLS }
func isElsewhere(a Answers) bool { return a.Broker == Elsewhere || a.Broker == Existing }
func isPostgres(a Answers) bool  { return a.Database != "" && !strings.HasPrefix(a.Database, sqlite) }

const sqlite = "sqlite"

// Complete adds the defaults.
func (a Answers) Complete() Answers {
	for _, q := range Questions {
		if !q.List && q.Asked(a) && q.Value(a) == "" {
			q.Set(&a, q.Default(a))
		}
	}
	return a
}

// Problems says everything that is wrong with complete answers.
func (a Answers) Problems() (found []schema.Problem) {
	for _, q := range Questions {
		switch {
		case q.without != nil && q.Value(a) == q.Default(a): // it is wrong only with an answer from which it follows
		case q.Asked(a):
			found = append(found, q.Problems(a)...)
		case q.Value(a) != "":
			found = append(found, schema.NewProblem(q.Pointer(), "not_used", q.Key+" means nothing beside the other answers",
				"leave it out, or change the answer that it belongs to"))
		}
	}
	if len(found) > 0 {
		return found // what follows would be said of the same answers again
	}
	return append(found, a.clashes()...)
}

// clashes says which answers do not fit together.
func (a Answers) clashes() (found []schema.Problem) {
	add := func(pointer, detail, hint string) {
		found = append(found, schema.NewProblem(pointer, "clash", detail, hint))
	}
	ports := []struct{ key, listen string }{{"http.listen", a.HTTP}, {"robots.listen", a.Robots}}
	if a.Broker == Here {
		ports = append(ports, struct{ key, listen string }{"broker.listen", a.BrokerListen}, struct{ key, listen string }{"broker.http",
			a.BrokerHTTP})
	}
	for i, p := range ports {
		for _, q := range ports[:i] {
			if p.listen != "" && portOf(p.listen) == portOf(q.listen) {
				add("/"+strings.ReplaceAll(p.key, ".", "/"), fmt.Sprintf("%s and %s have the same port %s", q.key, p.key, portOf(p.listen)),
					"choose another port for one of them")
			}
		}
	}
	if u, err := url.Parse(a.PublicURL); err == nil && a.Console == OwnTLS && !slices.Contains(a.Hosts, u.Hostname()) {
		add("/http/public_url", fmt.Sprintf("%s is not one of hosts, so the certificate would not be valid for it", u.Hostname()),
			"add it to hosts, or write one of them")
	}
	if a.Console != ProxyTLS && strings.HasPrefix(a.PublicURL, "http://") {
		add("/http/public_url", "the console speaks TLS", "write https://")
	}
	if a.Console == ProxyTLS && !isLoopback(a.HTTP) {
		add("/http/listen", a.HTTP+" can be reached by others, who would go around the reverse proxy and its TLS",
			"write an address of this machine, such as 127.0.0.1:8080, and let the proxy run here")
	}
	if within(a.Config, a.Data) || within(a.Data, a.Config) {
		add("/folders/data", "the folders of the configuration and of the data contain each other", "name two folders beside each other")
	}
	if strings.HasPrefix(a.Database, "postgres") && a.DatabasePasswordFile != "" {
		if u, err := url.Parse(a.Database); err == nil && u.User != nil {
			if _, has := u.User.Password(); has {
				add("/database/password_file", "the address of the database has a password, too", "take it out of the address")
			}
		}
	}
	names := map[string]bool{}
	for i, user := range a.BrokerUsers {
		name := strings.Fields(user)[0]
		if names[name] || name == a.First {
			add(fmt.Sprintf("/broker/users/%d", i), name+" is the name of another client", "give each client a name of its own")
		}
		names[name] = true
	}
	return found
}

func within(outer, inner string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// splitAddress splits host:port, in which an IPv6 address is in brackets.
func splitAddress(address string) (host, port string, ok bool) {
	i := strings.LastIndexByte(address, ':')
	if i < 0 {
		return "", "", false
	}
	host, port = address[:i], address[i+1:]
	if inner, is := strings.CutPrefix(host, "["); is {
		inner, is = strings.CutSuffix(inner, "]")
		return inner, port, is
	}
	return host, port, !strings.Contains(host, ":")
}

func joinAddress(host, port string) string { return bracketed(host) + ":" + port }

func portOf(listen string) string {
	_, port, _ := splitAddress(listen)
	return port
}

func isLoopback(listen string) bool {
	host, _, _ := splitAddress(listen)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func publicURL(a Answers) string {
	if len(a.Hosts) == 0 {
		return ""
	}
	if a.Console == ProxyTLS {
		return "https://" + bracketed(a.Hosts[0])
	}
	return "https://" + joinAddress(a.Hosts[0], portOf(a.HTTP))
}

func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

func checkID(_ Answers, value string) (detail, hint string) {
	if !schema.ValidID(value) {
		return fmt.Sprintf("%q cannot be a name", value), fmt.Sprintf("use a-z, 0-9 and hyphens, at most %d", schema.MaxIDLen)
	}
	return "", ""
}

func checkInstance(_ Answers, value string) (detail, hint string) {
	if !schema.ValidID(value) || value != "fleetd" && !strings.HasPrefix(value, "fleetd-") {
		return fmt.Sprintf("%q cannot name a fleetd", value), "write fleetd, or fleetd-b and the like for further instances"
	}
	return "", ""
}

func checkRobot(a Answers, value string) (detail, hint string) {
	if schema.ReservedName(value) {
		return value + " cannot name a robot: it is a name of fleetd instances or people's tools", "choose another name, such as r1"
	}
	return checkID(a, value)
}

func checkSite(_ Answers, value string) (detail, hint string) {
	if found := selector.LabelProblems(map[string]string{"site": value}); len(found) > 0 {
		return found[0].Detail, found[0].Hint
	}
	return "", ""
}

var dnsName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)

func checkHost(_ Answers, value string) (detail, hint string) {
	const write = "write a name such as fleet.example, or an address such as 192.0.2.10, without a scheme and without a port"
	if ip, err := netip.ParseAddr(value); err == nil {
		if ip.IsUnspecified() {
			return value + " is every address of a machine, and reaches none", write
		}
		return "", ""
	}
	if len(value) > 253 || !dnsName.MatchString(value) || allDigits.MatchString(value) {
		return fmt.Sprintf("%q is neither a name nor an address of a machine", value), write
	}
	return "", ""
}

var allDigits = regexp.MustCompile(`^[0-9.]+$`)

func checkPath(_ Answers, value string) (detail, hint string) {
	if !filepath.IsAbs(value) {
		return value + " is not an absolute path", "write it from / on: the programs run in folders of their own"
	}
	if filepath.Clean(value) == "/" {
		return "/ is the root of all files", "name a folder or file below it"
	}
	return "", ""
}

// unprivileged is the first port at which a program without privileges can listen.
const unprivileged = 1024

func checkListen(a Answers, value string) (detail, hint string) {
	if detail, hint := checkListenAnywhere(a, value); detail != "" {
		return detail, hint
	}
	if n, err := schema.ReadWhole(portOf(value)); err != nil || n < unprivileged {
		return fmt.Sprintf("port %s needs privileges, which the services do not have", portOf(value)),
			"choose a port above 1023; for 443 answer proxy and run a reverse proxy here"
	}
	return "", ""
}

// checkBrokerListen lets a broker that exists already have any port: it may run with privileges.
func checkBrokerListen(a Answers, value string) (detail, hint string) {
	if a.Broker == Existing {
		return checkListenAnywhere(a, value)
	}
	return checkListen(a, value)
}

func checkListenAnywhere(_ Answers, value string) (detail, hint string) {
	const write = "write address and port, such as 0.0.0.0:8080"
	host, port, ok := splitAddress(value)
	if !ok {
		return fmt.Sprintf("%q is no address to listen at", value), write
	}
	if n, err := schema.ReadWhole(port); err != nil || n < 1 || n > 65535 {
		return fmt.Sprintf("the port of %q is not 1 to 65535", value), write
	}
	if host == "" || host == "localhost" {
		return "", ""
	}
	if _, err := netip.ParseAddr(host); err != nil {
		return fmt.Sprintf("%q is not an address of a machine, which a program can listen at", host), write
	}
	return "", ""
}

func checkLoopback(a Answers, value string) (detail, hint string) {
	if detail, hint := checkListen(a, value); detail != "" {
		return detail, hint
	}
	if !isLoopback(value) {
		return value + " can be reached by others, and what is there is for this machine only", "write an address such as 127.0.0.1:9101"
	}
	return "", ""
}

func checkPublicURL(_ Answers, value string) (detail, hint string) {
	u, err := url.Parse(value)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Sprintf("%q is no URL of a console", schema.PrintableURL(value)), "write it as in a browser, such as " +
			"https://fleet.example:8080"
	}
	return "", ""
}

func checkDatabase(_ Answers, value string) (detail, hint string) {
	scheme, rest, _ := strings.Cut(value, ":")
	switch scheme {
	case sqlite:
		if rest == "" && value != sqlite {
			return "the file of the database has no name", "write sqlite, or sqlite:/var/lib/troupe/fleetd/fleet.db"
		}
		if rest != "" && !filepath.IsAbs(rest) {
			return rest + " is not an absolute path", "write the file of the database from / on, or only sqlite"
		}
	case "postgres", "postgresql":
		u, err := url.Parse(value)
		if err != nil || u.Hostname() == "" && !u.Query().Has("host") || strings.Trim(u.Path, "/") == "" && !u.Query().Has("dbname") ||
			u.Fragment != "" || u.Opaque != "" {
			return "the address of the database is no URL with a host and a name", "write postgres://USER@HOST:5432/NAME; in a password write " +
				"%40 for @, %3A for :, %2F for / and %23 for #"
		}
	default:
		return "this is no kind of database", "write sqlite, or postgres://USER@HOST/NAME"
	}
	return "", ""
}

// clientRoles are the roles of clients that prove themselves with a password.
var clientRoles = []schema.Role{schema.RoleObserver, schema.RoleStop, schema.RoleResponder, schema.RoleOperator, schema.RoleAdmin}

func checkBrokerUser(_ Answers, value string) (detail, hint string) {
	const write = "write a name and a role, such as: wall observer"
	field := strings.Fields(value)
	if len(field) != 2 {
		return fmt.Sprintf("%q is not a name and a role", value), write
	}
	if !schema.ValidID(field[0]) || field[0] == "fleetd" {
		return fmt.Sprintf("%q cannot name a client", field[0]), "use a-z, 0-9 and hyphens; fleetd is fleetd's own name"
	}
	role, robot, bound := strings.Cut(field[1], ":")
	switch {
	case schema.Role(role) == schema.RoleConsole && schema.ValidID(robot):
	case bound || !slices.Contains(clientRoles, schema.Role(role)):
		return fmt.Sprintf("%q is no role of a client with a password", field[1]), "write observer, stop, responder, operator, admin or " +
			"console:ROBOT"
	}
	return "", ""
}

func checkLogin(_ Answers, value string) (detail, hint string) {
	u := auth.User{Name: value, Roles: []auth.Role{auth.Admin}}
	if found := u.Problems(); len(found) > 0 {
		return found[0].Detail, found[0].Hint
	}
	return "", ""
}

func oneOf(words ...string) func(Answers, string) (detail, hint string) {
	return func(_ Answers, value string) (detail, hint string) {
		if slices.Contains(words, value) {
			return "", ""
		}
		hint = "write " + strings.Join(words, " or ")
		if near := schema.Closest(value, words); near != "" {
			hint += "; did you mean " + near + "?"
		}
		return fmt.Sprintf("%q is not one of the answers", value), hint
	}
}
