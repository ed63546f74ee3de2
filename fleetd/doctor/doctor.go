// Package doctor looks for the usual mistakes around a fleetd: in its settings, its clock, its disk and the rights of its
// files, its certificates, its database, its addresses, its broker and the other instances. It changes nothing, and
// may run beside the fleetd that it examines.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/fileaccess"
	"troupe/fleetd/store"
	"troupe/fleetd/vault"
	"troupe/schema"
	"troupe/schema/build"
	"troupe/schema/finding"
	"troupe/schema/host"
)

// Config is the settings of the fleetd that is examined.
type Config struct {
	From string // where the settings are from, for people
	User string // the system user that fleetd runs as; "" = the one that runs this

	Name           string
	Version        string // of this program; "" = unknown
	Namespace      schema.Namespace
	Database       string
	Spool          string
	HTTP           string
	HTTPCert       string
	HTTPKey        string
	PublicURL      string
	Enrol          string
	EnrolURL       string
	EnrolCert      string // "" = that of HTTP
	EnrolKey       string
	CA             string // folder
	Brokers        []string
	Engine         link.Engine // of the brokers
	BrokerFiles    link.Files
	BrokerPassword string
	// Private are files with secrets besides the keys, such as those of settings.
	Private []string
	// OfOthers are such files of other users, such as those of the broker on the same computer.
	OfOthers []string
}

// Computer is what an examination reads of the computer. Tests put a fault into it.
type Computer struct {
	Now          func() time.Time
	Built        time.Time            // when fleetd was built; zero: unknown
	Synchronised func() (bool, error) // whether the computer's clock follows a source
	Free         func(dir string) uint64
	Lookup       func(name string) (*user.User, error)
	// Listen is how long heartbeats of instances are collected.
	Listen time.Duration
}

// ThisComputer is the one that the program runs on.
func ThisComputer() Computer {
	return Computer{Now: time.Now, Built: build.Time(), Synchronised: host.ClockSynchronised, Free: host.FreeBytes, Lookup: user.Lookup,
		Listen: listenFor}
}

const (
	freeEnough = 1 << 30 // bytes: a year of history of some dozen robots
	freeLeast  = 64 << 20

	soon = 30 * 24 * time.Hour // a certificate that ends within this is worth a word
	// backupOld is the age from which a backup is worth a word.
	backupOld = 7 * 24 * time.Hour
	// skewMost is how far two clocks of a fleet may differ.
	skewMost = 5 * time.Second
	// tryWithin bounds each attempt to reach something.
	tryWithin = 5 * time.Second
	// listenFor is how long heartbeats of instances are collected: each sends one a second.
	listenFor = 2500 * time.Millisecond
)

// Examine looks for the usual mistakes. unread is the error of reading the settings.
func Examine(ctx context.Context, c Config, unread error, on Computer) finding.List {
	x := examination{c: c, on: on}
	if unread != nil {
		x.fail("settings", strings.ReplaceAll(unread.Error(), "\n", "; "), "correct them in the file, the environment or the flags that "+
			"they come from; fleetd serve --help lists all. What depends on them was not examined: run this again then")
		x.clock()
		return x.found
	}
	x.ok("settings", "from "+c.From)
	x.clock()
	x.disk()
	x.files()
	x.keys()
	x.certificates()
	x.database(ctx)
	x.addresses(ctx)
	for _, url := range c.Brokers {
		x.broker(ctx, url)
	}
	return x.found
}

type examination struct {
	c     Config
	on    Computer
	found finding.List
	vault *vault.Vault // nil without keys that can be used
}

func (x *examination) ok(part, detail string)         { x.found.Add(part, finding.OK, detail, "") }
func (x *examination) warn(part, detail, help string) { x.found.Add(part, finding.Warn, detail, help) }
func (x *examination) fail(part, detail, help string) { x.found.Add(part, finding.Fail, detail, help) }

const setClock = "set the clock and let it follow a source, such as with systemd-timesyncd or chrony"

func (x *examination) clock() {
	now := x.on.Now()
	says := "it is " + now.UTC().Format(time.RFC3339)
	following, unknown := x.on.Synchronised()
	switch {
	case now.Before(x.on.Built):
		x.fail("clock", says+", and this fleetd was built at "+x.on.Built.UTC().Format(time.RFC3339), setClock)
	case unknown != nil:
		x.warn("clock", says+"; whether it follows a source is unknown: "+unknown.Error(), setClock)
	case !following:
		x.warn("clock", says+", and it follows no source; robots learn the time from fleetd", setClock)
	default:
		x.ok("clock", says+", and it follows a source")
	}
}

// disk looks at the folders in which fleetd writes.
func (x *examination) disk() {
	folders := []string{}
	for _, file := range []string{x.sqliteFile(), x.c.Spool} {
		if file != "" && !slices.Contains(folders, filepath.Dir(file)) {
			folders = append(folders, filepath.Dir(file))
		}
	}
	for _, dir := range folders {
		info, err := os.Stat(dir)
		switch room := x.on.Free(dir); {
		case errors.Is(err, fs.ErrNotExist):
			x.warn("disk", dir+" does not exist yet", "fleetd makes it if it may; fleetd setup does, with its rights")
		case err != nil:
			x.fail("disk", err.Error(), "run this as root, or as the user of fleetd")
		case !info.IsDir():
			x.fail("disk", dir+" is not a folder", "name another place in the settings")
		case room < freeLeast:
			x.fail("disk", fmt.Sprintf("%s is full: %d MiB are free", dir, room>>20), "make room: fleetd cannot write down stops and history")
		case room < freeEnough:
			x.warn("disk", fmt.Sprintf("%d MiB are free in %s", room>>20, dir), "make room, or keep less: --event-retention-days, "+
				"--command-retention-days")
		case !x.may(info, fileaccess.Write|fileaccess.Enter):
			x.fail("disk", fmt.Sprintf("%s does not belong to the user %s, who cannot write to it", dir, x.c.User), "chown -R "+x.c.User+" "+dir)
		default:
			x.ok("disk", fmt.Sprintf("%d MiB are free in %s", room>>20, dir))
		}
	}
}

func (x *examination) sqliteFile() string {
	path, is := strings.CutPrefix(x.c.Database, "sqlite:")
	if !is {
		return ""
	}
	return path
}

// may reports whether fleetd's user has permissions of a file, as far as is known.
func (x *examination) may(info fs.FileInfo, bits fs.FileMode) bool {
	u, known := x.user()
	return !known || u.May(info, bits)
}

// user is that of fleetd; it is false if nobody knows it.
func (x *examination) user() (fileaccess.User, bool) {
	look := func() (*user.User, error) { return x.on.Lookup(x.c.User) }
	if x.c.User == "" {
		look = user.Current
	}
	u, err := look()
	if err != nil {
		return fileaccess.User{}, false
	}
	return fileaccess.Of(u)
}

// files looks at the rights of files with secrets.
func (x *examination) files() {
	if x.c.User != "" {
		if _, err := x.on.Lookup(x.c.User); err != nil {
			x.warn("files", "there is no user "+x.c.User+" on this computer, so nobody knows whether fleetd can read its files",
				"install the package troupe-fleetd, which makes the user")
		}
	}
	secret := slices.Clone(x.c.Private)
	for _, file := range []string{x.c.HTTPKey, x.c.EnrolKey, x.c.BrokerFiles.Key, x.sqliteFile()} {
		if file != "" && !slices.Contains(secret, file) {
			secret = append(secret, file)
		}
	}
	looked := 0
	for _, file := range append(secret, x.c.OfOthers...) {
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist) && file == x.sqliteFile():
			looked++ // the finding of the database says so
		case err != nil:
			x.fail("files", err.Error(), "run this as root; if the file is missing, restore it from a backup, or run fleetd setup")
		case info.Mode().Perm()&0o007 != 0:
			x.fail("files", fmt.Sprintf("everybody on this computer may read or change %s (mode %04o)", file, info.Mode().Perm()),
				"chmod o= "+file+"; if others have used the computer, replace the secret in it, too")
		case !x.may(info, fileaccess.Read) && !slices.Contains(x.c.OfOthers, file):
			x.fail("files", fmt.Sprintf("the user %s cannot read %s", x.c.User, file), "chown "+x.c.User+" "+file)
		default:
			if u, known := x.user(); known && !slices.Contains(x.c.OfOthers, file) {
				if err := u.Reach(file); err != nil {
					x.fail("files", err.Error()+", in which fleetd needs "+file, "chmod the folder, or name a copy of the file that fleetd can read")
					continue
				}
			}
			looked++
		}
	}
	if looked == len(secret)+len(x.c.OfOthers) && looked > 0 {
		x.ok("files", fmt.Sprintf("%d files with secrets are for their owner only", looked))
	}
}

// keys looks at the fleet's CA.
func (x *examination) keys() {
	if x.c.CA == "" {
		x.warn("ca", "fleetd has no keys of the fleet, so it enrols no robots", "fleetd setup makes them, or fleetd ca init and --ca")
		return
	}
	var err error
	now := x.on.Now()
	if x.vault, err = vault.Open(x.c.CA, now); err != nil {
		x.fail("ca", err.Error(), "run this as root, or as the user of fleetd; if files are missing, restore the folder from a backup: "+
			"robots trust only this CA")
		return
	}
	folder, noFolder := os.Stat(x.c.CA)
	key, noKey := os.Stat(filepath.Join(x.c.CA, vault.IntermediateKeyFile))
	switch until := x.vault.Issuers()[0].NotAfter; {
	case noFolder == nil && !x.may(folder, fileaccess.Write|fileaccess.Enter):
		x.fail("ca", fmt.Sprintf("the user %s cannot write to %s, where fleetd keeps the list of revoked certificates", x.c.User, x.c.CA),
			"chown "+x.c.User+" "+x.c.CA)
	case noKey == nil && !x.may(key, fileaccess.Read):
		x.fail("ca", fmt.Sprintf("the user %s cannot read %s", x.c.User, vault.IntermediateKeyFile),
			"chown "+x.c.User+" "+filepath.Join(x.c.CA, vault.IntermediateKeyFile))
	case x.vault.HasRootKey():
		x.warn("ca", filepath.Join(x.c.CA, vault.RootKeyFile)+" is still on this computer: a thief of the folder would control the whole "+
			"fleet", "move it offline, for example to a stick in a safe; it is needed again on "+until.UTC().Format(time.DateOnly))
	case until.Sub(now) < 365*24*time.Hour:
		x.warn("ca", "the intermediate certificate is valid until "+until.UTC().Format(time.DateOnly),
			"make the next one with the key of the root")
	default:
		x.ok("ca", x.vault.Root().Subject.CommonName+", valid until "+until.UTC().Format(time.DateOnly))
	}
}

func (x *examination) database(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, tryWithin)
	defer cancel()
	began := x.on.Now()
	d, err := store.Inspect(ctx, x.c.Database)
	now := x.on.Now()
	what := fmt.Sprintf("%s, %s, schema version %d", d.Place, d.Server, d.Version)
	switch {
	case err != nil:
		x.fail("database", err.Error(), helpWithDatabase(err))
		return
	case d.Denied != "":
		x.fail("database", d.Place+": "+d.Denied, "give the tables to the user of fleetd, or correct the rights of the file")
		return
	case d.Version > d.Newest:
		x.fail("database", fmt.Sprintf("%s: a newer fleetd has migrated it to schema version %d, and this one knows versions up to %d",
			d.Place, d.Version, d.Newest), "run that fleetd or a later one, or restore the backup from before the upgrade")
		return
	case d.Version == 0:
		x.warn("database", d.Place+" has no fleet yet", "fleetd makes it at its first start; if there was one, name its database")
		return
	case d.Version < d.Newest:
		x.warn("database", fmt.Sprintf("%s; this fleetd makes version %d", what, d.Newest),
			"fleetd migrates it at its next start; make a backup before")
	default:
		x.ok("database", what)
	}
	if x.vault != nil && d.RobotChain != "" && !x.vault.LeadsToRoot([]byte(d.RobotChain)) {
		x.fail("ca", x.c.CA+" is of another fleet: the newest robot of the database has a certificate of another CA",
			"put the CA of this fleet there, from a backup or from another instance; or name the database of this CA")
	}
	if skew := d.Now.Sub(began.Add(now.Sub(began) / 2)); !d.Now.IsZero() && skew.Abs() > skewMost {
		x.warn("database clock", fmt.Sprintf("the clock of the database's server differs by %s from the one here",
			skew.Round(time.Second)), setClock+", on both computers")
	}
	switch age := now.Sub(d.Backup); {
	case d.Backup.IsZero():
		x.warn("backup", "no backup was ever made of this database", "make one now and one each night: fleetd backup; docs/backup.md says how")
	case age > backupOld:
		x.warn("backup", fmt.Sprintf("the newest backup is %d days old", int(age/(24*time.Hour))),
			"make one now, and see why the nightly one does not run: systemctl list-timers")
	default:
		x.ok("backup", "the newest one is of "+d.Backup.UTC().Format(time.RFC3339))
	}
}

func helpWithDatabase(err error) string {
	var dns *net.DNSError
	text := err.Error()
	switch {
	case errors.As(err, &dns):
		return "the name of the database's server is not known here: correct --database, or repair the name server"
	case strings.Contains(text, "connection refused"):
		return "nothing listens there: start the database, or correct host and port in --database"
	case strings.Contains(text, "password authentication failed"), strings.Contains(text, "28P01"), strings.Contains(text, "28000"):
		return "correct user and password in --database, or what the server's pg_hba.conf allows"
	case strings.Contains(text, "does not exist"):
		return "make the database: CREATE DATABASE, or correct its name in --database"
	case errors.Is(err, fs.ErrPermission):
		return "run this as root, or as the user of fleetd"
	case errors.Is(err, context.DeadlineExceeded):
		return "see whether a firewall drops what is sent there"
	}
	return "see whether the database runs and answers"
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
