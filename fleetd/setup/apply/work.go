// Package apply carries out the plan of a set-up. It first compares the plan with what exists and finds everything
// that is in the way; then it makes what is missing, each file whole or not at all. What exists is kept.
package apply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"troupe/fleetd/fileaccess"
	"troupe/fleetd/setup"
	"troupe/fleetd/store"
	"troupe/fleetd/vault"
	"troupe/schema"
)

// State is what happens to a step.
type State string

// The states of a step.
const (
	New     State = "new"
	Kept    State = "kept"
	Changed State = "changed"
)

// Outcome is a step with what happens to it.
type Outcome struct {
	setup.Step
	State  State
	Detail string // of a step that is not new: what exists
	give   bool   // what exists is kept, and given to its owner
}

// Work is a plan, compared with what exists.
type Work struct {
	Plan     setup.Plan
	Outcomes []Outcome
	Notes    []string // what a person should know, and is no problem

	replace bool
	on      Computer
	owners  map[string]*user.User // nil for a user who does not exist
	content map[string]string     // of settings and users files that change, by path
	clients []Password            // of the users file, if it is written
	secrets Secrets
}

// Changes reports whether something is left to do.
func (w *Work) Changes() bool {
	for _, o := range w.Outcomes {
		if o.State != Kept {
			return true
		}
	}
	return false
}

// First reports whether nothing was set up before: the first settings of fleetd come with it.
func (w *Work) First() bool {
	return slices.ContainsFunc(w.Outcomes, func(o Outcome) bool { return o.Path == w.Plan.FleetdEnv() && o.State == New })
}

// Restarted are the services of this machine whose settings change.
func (w *Work) Restarted() (services []string) {
	for _, o := range w.Outcomes {
		if o.Kind == setup.Settings && o.State == Changed && o.Owner != "" {
			services = append(services, o.Owner)
		}
	}
	return services
}

// Prepare makes the plan of complete answers without problems, and compares it with what exists. It writes nothing. With replace,
// settings and certificates that differ from the answers are changed; otherwise each is a problem.
func Prepare(ctx context.Context, a setup.Answers, replace bool, on Computer) (*Work, []schema.Problem) {
	c := comparison{Work: &Work{replace: replace, on: on, owners: map[string]*user.User{}, content: map[string]string{}}}
	password := ""
	if a.DatabasePasswordFile != "" {
		text, err := os.ReadFile(a.DatabasePasswordFile)
		password, _, _ = strings.Cut(string(text), "\n")
		if password = strings.TrimRight(password, "\r"); err != nil || password == "" {
			c.problem("/database/password_file", fmt.Sprintf("there is no password in %s: %v", a.DatabasePasswordFile, errors.Join(err)),
				"write it into the first line of the file")
			return c.Work, c.found
		}
	}
	c.Plan = setup.NewPlan(a, password)
	c.inspect(ctx)
	if a.Console == setup.GivenTLS {
		c.owner(setup.FleetdUser)
		c.given()
	}
	for _, s := range c.Plan.Steps {
		c.owner(s.Owner)
		c.compare(s)
		c.usable(s)
	}
	c.services(ctx)
	if len(c.found) == 0 {
		c.ports(ctx)
		c.rights()
	}
	return c.Work, c.found
}

type comparison struct {
	*Work
	found    []schema.Problem
	database store.Inspection
	vault    *vault.Vault // nil before it is made
	noCA     bool         // there is one, which cannot be used
	fresh    bool         // fleetd has no settings yet
	denied   bool         // a folder that this user may not write to was reported
}

func (c *comparison) problem(pointer, detail, hint string) {
	c.found = append(c.found, schema.NewProblem(pointer, "in_the_way", detail, hint))
}

func (c *comparison) outcome(s setup.Step, state State, detail string) {
	c.Outcomes = append(c.Outcomes, Outcome{Step: s, State: state, Detail: detail})
}

// owner looks a system user up. Only root can give files away.
func (c *comparison) owner(name string) {
	if _, known := c.owners[name]; known || name == "" {
		return
	}
	c.owners[name] = nil
	if !c.on.Root {
		return
	}
	if found, err := c.on.Lookup(name); err == nil {
		c.owners[name] = found
	} else {
		c.Notes = append(c.Notes, fmt.Sprintf("there is no user %s on this machine, so its files belong to root: install the package that "+
			"brings it, and run this again", name))
	}
}

// service returns the user of a service to whom files are given; it is false if there is none.
func (c *comparison) service(name string) (fileaccess.User, bool) {
	if c.owners[name] == nil {
		return fileaccess.User{}, false
	}
	return fileaccess.Of(c.owners[name])
}

// ids returns the user and group to whom a file is given; -1 keeps them.
func (w *Work) ids(owner string) (uid, gid int) {
	u := w.owners[owner]
	if u == nil {
		return -1, -1
	}
	uid, noUID := strconv.Atoi(u.Uid)
	gid, noGID := strconv.Atoi(u.Gid)
	if noUID != nil || noGID != nil {
		return -1, -1
	}
	return uid, gid
}
