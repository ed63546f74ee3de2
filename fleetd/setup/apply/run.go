package apply

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"troupe/fleetd/atomicfile"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/enrol"
	"troupe/fleetd/setup"
	"troupe/fleetd/store"
	"troupe/fleetd/vault"
	"troupe/schema"
	"troupe/schema/argon2id"
)

// Password is a new password, which nobody can read again.
type Password struct{ Who, Password string }

// Secrets are what a person has to be shown once.
type Secrets struct {
	Passwords []Password
	// Line enrols the first robot, until Until; "" = no token was made.
	Line  string
	Until time.Time
}

// Empty reports whether there is nothing to show.
func (s Secrets) Empty() bool { return len(s.Passwords) == 0 && s.Line == "" }

// Run makes what is missing, in the order of the plan. If it fails, what was made is kept, and it can run again.
func (w *Work) Run(ctx context.Context) (Secrets, error) {
	for _, o := range w.Outcomes {
		if o.State == Kept {
			continue
		}
		if err := w.make(ctx, o); err != nil {
			return w.secrets, fmt.Errorf("make the %s %s: %w; what was made before it is kept: correct this, and run the set-up again", o.Kind,
				o.Path, err)
		}
	}
	return w.secrets, nil
}

func (w *Work) make(ctx context.Context, o Outcome) error {
	if o.give {
		return w.giveStep(o.Step)
	}
	switch o.Kind {
	case setup.Folder:
		if err := os.MkdirAll(o.Path, o.Mode); err != nil {
			return err
		}
		return errors.Join(os.Chmod(o.Path, o.Mode), w.give(o.Path, o.Owner)) // MkdirAll obeys the umask
	case setup.Authority:
		return w.makeAuthority(o)
	case setup.Certificate:
		return w.makeCertificate(o)
	case setup.Copy:
		text, err := os.ReadFile(o.From)
		if err != nil {
			return err
		}
		return w.write(o.Path, text, o.Mode, o.Owner)
	case setup.Settings:
		return w.write(o.Path, []byte(w.content[o.Path]), o.Mode, o.Owner)
	case setup.Users:
		if err := w.write(o.Path, []byte(w.content[o.Path]), o.Mode, o.Owner); err != nil {
			return err
		}
		w.secrets.Passwords = append(w.secrets.Passwords, w.clients...)
	case setup.Admin:
		return w.makeAdmin(ctx, o)
	}
	return nil // a token is made with the account, in one opening of the database
}

// write replaces a file atomically: it has its owner and its rights from the first moment on.
func (w *Work) write(path string, text []byte, mode fs.FileMode, owner string) error {
	f, err := atomicfile.Create(path, mode)
	if err != nil {
		return err
	}
	if _, err = f.Write(text); err == nil {
		err = w.give(f.Name(), owner)
	}
	if err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Replace()
}

func (w *Work) give(path, owner string) error {
	uid, gid := w.ids(owner)
	if uid < 0 {
		return nil
	}
	return w.on.Chown(path, uid, gid)
}

func (w *Work) makeAuthority(o Outcome) error {
	if err := vault.Make(o.Path, w.Plan.Answers.Name, w.on.Now); err != nil {
		return err
	}
	return errors.Join(os.Chmod(o.Path, o.Mode), w.giveStep(o.Step))
}

// giveStep gives what a step made to its owner. The key of the root stays with root, since fleetd does not need it.
func (w *Work) giveStep(s setup.Step) error {
	paths := []string{s.Path}
	switch s.Kind {
	case setup.Certificate:
		paths = []string{s.Path + ".key.pem", s.Path + ".pem"}
	case setup.Authority:
		files, err := os.ReadDir(s.Path)
		if err != nil {
			return err
		}
		for _, f := range files {
			if f.Name() != vault.RootKeyFile {
				paths = append(paths, filepath.Join(s.Path, f.Name()))
			}
		}
	}
	var err error
	for _, path := range paths {
		err = errors.Join(err, w.give(path, s.Owner))
	}
	return err
}

func (w *Work) makeCertificate(o Outcome) error {
	v, err := vault.Open(w.Plan.CA, w.on.Now)
	if err != nil {
		return err
	}
	var names []string
	var addresses []netip.Addr
	for _, host := range o.Hosts {
		if ip, err := netip.ParseAddr(host); err == nil {
			addresses = append(addresses, ip)
		} else {
			names = append(names, host)
		}
	}
	pair, err := v.Server(names, addresses, w.on.Now)
	if err != nil {
		return err
	}
	if err := vault.SavePair(o.Path+".pem", o.Path+".key.pem", true, pair, v.Chain(pair.Certificate)); err != nil {
		return err
	}
	return w.giveStep(o.Step)
}

// makeAdmin makes the first account, and the token of the first robot.
func (w *Work) makeAdmin(ctx context.Context, o Outcome) (err error) {
	db, err := store.Open(ctx, w.Plan.Database, w.on.Now, slog.New(slog.DiscardHandler))
	if errors.Is(err, store.ErrInUse) {
		return fmt.Errorf("%w: stop fleetd first", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(), w.giveDatabase()) }()
	deps := change.Deps{
		Now: time.Now, Store: func() (*store.Store, error) { return db, nil }, Changed: func(context.Context, []string) {},
		TakenBy: func(name string) string {
			if schema.ReservedName(name) {
				return "fleetd instances or people's tools"
			}
			return ""
		},
	}
	password := auth.NewPassword()
	accounts := change.Accounts{Deps: deps}
	made, err := accounts.FirstAdmin(ctx, o.Path, argon2id.HashPassword(password, newSalt()).String(), false, "the set-up made this account")
	if err != nil || !made {
		return err
	}
	w.secrets.Passwords = append([]Password{{Who: "the user " + o.Path, Password: password}}, w.secrets.Passwords...)
	for _, s := range w.Plan.Steps {
		if s.Kind == setup.Token {
			return w.makeToken(ctx, change.Identities{Deps: deps}, s)
		}
	}
	return nil
}

func (w *Work) makeToken(ctx context.Context, identities change.Identities, s setup.Step) error {
	pair, err := tls.LoadX509KeyPair(filepath.Join(w.Plan.Answers.Config, "fleetd.pem"), filepath.Join(w.Plan.Answers.Config,
		"fleetd.key.pem"))
	if err != nil {
		return err
	}
	token := schema.EnrolmentToken{Robot: s.Path, Fingerprint: sha256.Sum256(pair.Certificate[0])}
	_, _ = rand.Read(token.Secret[:]) // never fails
	row := enrol.Token{Digest: enrol.DigestOf(token), Robot: s.Path, CreatedAt: w.on.Now, CreatedBy: "fleetd setup",
		ExpiresAt: w.on.Now.Add(enrol.DefaultValid)}
	if s.Label != "" {
		row.Labels = map[string]string{"site": s.Label}
	}
	if err := identities.NewToken(ctx, auth.Principal{}, row, "the first robot"); err != nil {
		return err
	}
	w.secrets.Line = "robotd enrol --token " + token.String() + " --server " + w.Plan.RobotsURL + " --data /var/lib/troupe/robotd"
	w.secrets.Until = row.ExpiresAt
	return nil
}

// giveDatabase gives the files of an SQLite database to fleetd.
func (w *Work) giveDatabase() (err error) {
	path := w.Plan.SQLiteFile()
	if path == "" {
		return nil
	}
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		if gone := w.give(path+suffix, setup.FleetdUser); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// newClient makes a line of the broker's users file.
func newClient(name, role string) (line, password string) {
	password = auth.NewPassword()
	return name + " " + role + " " + argon2id.HashPassword(password, newSalt()).String() + "\n", password
}

func newSalt() (salt [argon2id.SaltBytes]byte) {
	_, _ = rand.Read(salt[:]) // never fails
	return salt
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
