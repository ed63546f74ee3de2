package apply

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"troupe/broker/link"
	"troupe/fleetd/fileaccess"
	"troupe/fleetd/setup"
	"troupe/fleetd/vault"
	"troupe/schema/envfile"
)

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

// usable finds what is kept and what the user of its service cannot use, such as a CA that root has copied from another
// server: it is given to that user. systemd reads settings as root.
func (c *comparison) usable(s setup.Step) {
	last := len(c.Outcomes) - 1
	u, known := c.service(s.Owner)
	if !known || last < 0 || c.Outcomes[last].Path != s.Path || c.Outcomes[last].State != Kept || s.Kind == setup.Settings {
		return
	}
	writes := fileaccess.Write | fileaccess.Enter
	needs := map[string]fs.FileMode{s.Path: fileaccess.Read}
	switch s.Kind {
	case setup.Folder:
		needs = map[string]fs.FileMode{s.Path: writes}
	case setup.Authority:
		needs = map[string]fs.FileMode{s.Path: writes, filepath.Join(s.Path, vault.IssuedFolder): writes,
			filepath.Join(s.Path, vault.IntermediateKeyFile): fileaccess.Read}
	case setup.Certificate:
		needs = map[string]fs.FileMode{s.Path + ".pem": fileaccess.Read, s.Path + ".key.pem": fileaccess.Read}
	}
	for path, bits := range needs {
		if info, err := os.Stat(path); err == nil && !u.May(info, bits) {
			c.Outcomes[last].State, c.Outcomes[last].give = Changed, true
			c.Outcomes[last].Detail = "the user " + s.Owner + " cannot use it, and gets it"
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
		c.vault, err = vault.Open(s.Path, c.on.Now)
	}
	if err != nil {
		c.noCA = true
		c.problem(s.Pointer, "the existing CA cannot be used: "+err.Error(), "repair it from a backup; only if no robot trusts it yet, "+
			"move the folder away, and a new CA is made")
		return
	}
	if d := c.database; d.RobotChain != "" && !c.vault.LeadsToRoot([]byte(d.RobotChain)) {
		c.noCA = true
		c.problem(s.Pointer, fmt.Sprintf("%s is of another fleet: the newest robot of the database has a certificate of another CA", s.Path),
			"copy the folder of this fleet there, from the first instance or from the backup; or name the database of this CA")
		return
	}
	c.outcome(s, Kept, "the CA "+c.vault.Root().Subject.CommonName)
}

// daysLeft is how long a certificate has to be valid to be kept without a word.
const daysLeft = 30

func (c *comparison) certificate(s setup.Step) {
	if c.noCA {
		return // with the right CA it may be a good one
	}
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
	if err := link.CheckServerCertificate(pair, c.on.Now); err != nil {
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
	if left := pair.Leaf.NotAfter.Sub(c.on.Now); left < daysLeft*24*time.Hour {
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
