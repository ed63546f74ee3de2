// Package apply carries out the plan of a set-up. It first compares the plan with what exists and finds everything
// that is in the way; then it makes what is missing, each file whole or not at all. What exists is kept.
package apply

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/setup"
	"troupe/fleetd/store"
	"troupe/fleetd/vault"
	"troupe/schema"
	"troupe/schema/envfile"
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
}

// Work is a plan, compared with what exists.
type Work struct {
	Plan     setup.Plan
	Outcomes []Outcome
	Notes    []string // what a person should know, and is no problem

	replace bool
	now     time.Time
	owners  map[string]*user.User // nil for a user who does not exist
	chown   func(path string, uid, gid int) error
	content map[string]string // of settings and users files that change, by path
	clients []Password        // of the users file, if it is written
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

// Prepare makes the plan of complete answers without problems, and compares it with what exists. It writes nothing. With replace,
// settings and certificates that differ from the answers are changed; otherwise each is a problem.
func Prepare(ctx context.Context, a setup.Answers, replace bool, now time.Time) (*Work, []schema.Problem) {
	c := comparison{Work: &Work{replace: replace, now: now, owners: map[string]*user.User{}, chown: os.Lchown,
		content: map[string]string{}}}
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
		c.given()
	}
	for _, s := range c.Plan.Steps {
		c.owner(s.Owner)
		c.compare(s)
	}
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
	fresh    bool         // fleetd has no settings yet
	denied   bool         // a folder that this user may not write to was reported
}

func (c *comparison) problem(pointer, detail, hint string) {
	c.found = append(c.found, schema.NewProblem(pointer, "in_the_way", detail, hint))
}

func (c *comparison) outcome(s setup.Step, state State, detail string) {
	c.Outcomes = append(c.Outcomes, Outcome{s, state, detail})
}

// owner looks a system user up. Only root can give files away.
func (c *comparison) owner(name string) {
	if _, known := c.owners[name]; known || name == "" {
		return
	}
	found, err := user.Lookup(name)
	if err != nil {
		found = nil
	}
	c.owners[name] = found
	switch {
	case os.Geteuid() != 0:
		c.owners[name] = nil
	case found == nil:
		c.Notes = append(c.Notes, fmt.Sprintf("there is no user %s on this machine, so its files belong to root: install the package that "+
			"brings it, and run this again", name))
	}
}

func (c *comparison) inspect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var err error
	if c.database, err = store.Inspect(ctx, c.Plan.Database); err != nil {
		c.problem("/database/address", err.Error(), "see whether the server runs and lets this user in from here: psql with the same "+
			"address says so, too")
		return
	}
	switch d := c.database; {
	case d.Denied != "":
		c.problem("/database/address", d.Place+": "+d.Denied, "make fleetd's user the owner of the database: ALTER DATABASE NAME OWNER TO USER")
	case d.Version > d.Newest:
		c.problem("/database/address", fmt.Sprintf("%s is of a newer fleetd: its schema version is %d, and this fleetd makes %d", d.Place,
			d.Version, d.Newest), "install that fleetd, or name another database")
	}
}

// given checks the certificate that a person has for the console.
func (c *comparison) given() {
	a := c.Plan.Answers
	pair, err := tls.LoadX509KeyPair(a.Certificate, a.Key)
	if err != nil {
		c.problem("/tls/certificate", err.Error(), "name the files of a certificate and of its key, in PEM")
		return
	}
	if err := link.CheckServerCertificate(pair, c.now); err != nil {
		c.problem("/tls/certificate", a.Certificate+": "+err.Error(), "get a valid one from who issued it")
	}
	if host := hostOf(a.PublicURL); pair.Leaf.VerifyHostname(host) != nil {
		c.problem("/tls/certificate", fmt.Sprintf("%s is not for %s, which is in the URL of the console", a.Certificate, host),
			"write a name of the certificate into http.public_url, or get one for that name")
	}
}

func (c *comparison) compare(s setup.Step) {
	switch s.Kind {
	case setup.Folder:
		c.folder(s)
	case setup.Authority:
		c.authority(s)
	case setup.Certificate:
		c.certificate(s)
	case setup.Copy:
		c.copied(s)
	case setup.Users:
		c.users(s)
	case setup.Settings:
		c.settings(s)
	case setup.Admin:
		if c.database.Users > 0 {
			c.outcome(s, Kept, fmt.Sprintf("the database has %d accounts", c.database.Users))
		} else {
			c.outcome(s, New, "")
		}
	case setup.Token:
		if c.database.Users > 0 {
			c.outcome(s, Kept, "the fleet exists; fleetd robot enrol NAME makes a token")
		} else {
			c.outcome(s, New, "")
		}
	}
}

func (c *comparison) folder(s setup.Step) {
	info, err := os.Stat(s.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // what is not a folder above it is a problem of its own
		c.outcome(s, New, "")
	case err != nil:
		c.problem(s.Pointer, err.Error(), "name another folder, or run this as root")
	case !info.IsDir():
		c.problem(s.Pointer, s.Path+" is a file", "name a folder")
	default:
		c.outcome(s, Kept, "")
	}
}

func (c *comparison) authority(s setup.Step) {
	held, err := os.ReadDir(s.Path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(held) == 0 {
		if c.database.Users > 0 { // robots trust that of the existing fleet
			c.problem("/database/address", "the database has a fleet, whose CA is not in "+s.Path,
				"copy the folder from the first instance, or from the backup; for a new fleet name another database")
			return
		}
		c.outcome(s, New, "")
		return
	}
	if err == nil {
		c.vault, err = vault.Open(s.Path, c.now)
	}
	if err != nil {
		c.problem(s.Pointer, "the existing CA cannot be used: "+err.Error(), "repair it from a backup; only if no robot trusts it yet, "+
			"move the folder away, and a new CA is made")
		return
	}
	c.outcome(s, Kept, "the CA "+c.vault.Root().Subject.CommonName)
}

// daysLeft is how long a certificate has to be valid to be kept without a word.
const daysLeft = 30

func (c *comparison) certificate(s setup.Step) {
	cert, key := s.Path+".pem", s.Path+".key.pem"
	_, noCert := os.Stat(cert)
	_, noKey := os.Stat(key)
	if errors.Is(noCert, fs.ErrNotExist) && errors.Is(noKey, fs.ErrNotExist) {
		c.outcome(s, New, "")
		return
	}
	why := c.unfit(cert, key, s.Hosts)
	switch {
	case why == "":
		c.outcome(s, Kept, "")
	case c.replace:
		c.outcome(s, Changed, why)
	default:
		c.problem(s.Pointer, cert+" exists, and "+why, "--replace makes a new one; the programs take it without a restart")
	}
}

// unfit says why an existing certificate cannot be kept; empty if it can.
func (c *comparison) unfit(cert, key string, hosts []string) string {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return "cannot be used: " + err.Error()
	}
	if err := link.CheckServerCertificate(pair, c.now); err != nil {
		return err.Error()
	}
	if c.vault == nil || pair.Leaf.CheckSignatureFrom(c.vault.Issuers()[0]) != nil {
		return "the fleet's CA has not signed it"
	}
	for _, host := range hosts {
		if pair.Leaf.VerifyHostname(host) != nil {
			return "it is not valid for " + host
		}
	}
	if left := pair.Leaf.NotAfter.Sub(c.now); left < daysLeft*24*time.Hour {
		c.Notes = append(c.Notes, fmt.Sprintf("%s is valid until %s only: fleetd setup --replace makes a new one", cert,
			pair.Leaf.NotAfter.UTC().Format(time.DateOnly)))
		if c.replace {
			return "it expires soon"
		}
	}
	return ""
}

func (c *comparison) copied(s setup.Step) {
	there, err := os.ReadFile(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		c.outcome(s, New, "")
		return
	}
	from, noSource := os.ReadFile(s.From)
	switch {
	case err != nil || noSource != nil:
		c.problem(s.Pointer, errors.Join(err, noSource).Error(), "run this as root")
	case bytes.Equal(there, from):
		c.outcome(s, Kept, "")
	default: // the list of revoked certificates changes every day
		c.outcome(s, Changed, "it is older than "+s.From)
	}
}

func (c *comparison) users(s setup.Step) {
	text, err := os.ReadFile(s.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		c.problem(s.Pointer, err.Error(), "run this as root")
		return
	}
	roles := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if field := strings.Fields(line); len(field) >= 2 && field[0][0] != '#' {
			roles[field[0]] = field[1]
		}
	}
	out := string(text)
	if missing {
		out = usersHead
	}
	added := []string{}
	for i, one := range s.Names {
		field := strings.Fields(one)
		role, there := roles[field[0]]
		switch {
		case there && role != field[1]:
			c.problem(fmt.Sprintf("%s/%d", s.Pointer, i), fmt.Sprintf("%s has the role %s in %s", field[0], role, s.Path),
				"change the answer, or the file, of which the set-up changes no line")
		case !there:
			line, password := newClient(field[0], field[1])
			out += line
			c.clients = append(c.clients, Password{Who: "the client " + field[0] + " of the broker", Password: password})
			added = append(added, field[0])
		}
	}
	c.content[s.Path] = out
	switch {
	case missing:
		c.outcome(s, New, "")
	case len(added) > 0:
		c.outcome(s, Changed, "adds "+strings.Join(added, ", "))
	default:
		c.outcome(s, Kept, "")
	}
}

const usersHead = `# Clients of the broker that have a password, each a line: name role argon2id-hash
# troupe-broker hash-password makes the hash. fleetd and robots with certificates need no line.
`

func (c *comparison) settings(s setup.Step) {
	text, err := os.ReadFile(s.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		c.problem(s.Pointer, err.Error(), "run this as root")
		return
	}
	before, unreadable := envfile.Read(string(text))
	if unreadable != nil {
		c.problem(s.Pointer, s.Path+": "+unreadable.Error(), "correct the file, or move it away")
		return
	}
	if s.Path == c.Plan.FleetdEnv() {
		c.fresh = len(before) == 0
	}
	merged, other := setup.MergeEnv(string(text), s.Settings)
	c.content[s.Path] = merged
	differs := make([]string, 0, len(other))
	for _, d := range other {
		said := d.Name + " is another one"
		switch {
		case d.Unused:
			said = d.Name + " is there, and the answers give none"
		case !isSecret(s, d.Name):
			said = fmt.Sprintf("%s is %q, and the answers give %q", d.Name, d.Was, d.Is)
		}
		differs = append(differs, said)
	}
	switch {
	case len(differs) > 0 && !c.replace:
		for _, said := range differs {
			c.problem(s.Pointer, s.Path+": "+said, "change the answers, or change the file to them with --replace, which leaves its other "+
				"lines as they are")
		}
	case missing || len(before) == 0:
		c.outcome(s, New, "")
	case strings.TrimRight(merged, "\n") == strings.TrimRight(string(text), "\n"):
		c.outcome(s, Kept, "")
	default:
		c.outcome(s, Changed, strings.Join(differs, "; "))
	}
}

func isSecret(s setup.Step, name string) bool {
	for _, one := range s.Settings {
		if one.Name == name {
			return one.Secret
		}
	}
	return false
}

// ports looks whether the addresses are free, if no program of this set-up can have them yet.
func (c *comparison) ports(ctx context.Context) {
	if !c.fresh {
		return
	}
	a := c.Plan.Answers
	addresses := []struct{ pointer, listen string }{{"/http/listen", a.HTTP}, {"/robots/listen", a.Robots}}
	if a.Broker == setup.Here {
		addresses = append(addresses, struct{ pointer, listen string }{"/broker/listen", a.BrokerListen}, struct {
			pointer,
			listen string
		}{"/broker/http", a.BrokerHTTP})
	}
	for _, at := range addresses {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at.listen)
		switch {
		case err == nil:
			_ = l.Close() // it was only tried
		case errors.Is(err, syscall.EADDRINUSE):
			c.problem(at.pointer, at.listen+" is in use by another program", "choose another port, or stop that program: ss -ltnp shows it")
		case errors.Is(err, syscall.EADDRNOTAVAIL):
			c.problem(at.pointer, at.listen+" is not an address of this machine", "write 0.0.0.0 for every address, or one that ip address shows")
		case err != nil:
			c.problem(at.pointer, at.listen+": "+err.Error(), "choose another address")
		}
	}
}

// rights looks whether this user may write where something is new.
func (c *comparison) rights() {
	for _, o := range c.Outcomes {
		if o.State == Kept || o.Kind == setup.Admin || o.Kind == setup.Token || c.denied {
			continue
		}
		dir := filepath.Dir(o.Path)
		_, err := os.Stat(dir)
		for errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
			_, err = os.Stat(dir)
		}
		if probe, err := os.CreateTemp(dir, ".setup-*"); err != nil {
			c.problem(o.Pointer, "nothing can be written to "+dir+": "+err.Error(), "run this as root (sudo fleetd setup), or name other folders")
			c.denied = true
		} else if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
			c.problem(o.Pointer, err.Error(), "see whether the disk is full or broken")
			c.denied = true
		}
	}
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
