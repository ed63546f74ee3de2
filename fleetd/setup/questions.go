package setup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"troupe/schema"
)

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
