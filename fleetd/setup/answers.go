// Package setup decides how a server of a fleet is set up: it reads the answers of a person, from a file or
// from questions on a terminal, and turns them into a plan of folders, keys, files and accounts. It reads and writes
// nothing itself: package apply carries a plan out.
package setup

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

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
