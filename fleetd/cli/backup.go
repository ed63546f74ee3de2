package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"troupe/fleetd/backup"
	"troupe/fleetd/ca"
	"troupe/fleetd/store"
	"troupe/fleetd/vault"
)

// fileSettings are the settings of serve that name a file or a folder which belongs into a backup.
var fileSettings = []string{"ca", "sign-key", "release-key", "http-tls-cert", "http-tls-key", "enrol-tls-cert", "enrol-tls-key",
	"broker-ca", "broker-cert", "broker-key", "oidc-client-secret-file", "seal-key", "config"}

// shownTime is the format of the moment that a backup is a copy of.
const shownTime = "2006-01-02 15:04:05 UTC"

const passphraseHelp = "file whose first line is the passphrase; default: it is asked for on the terminal"

func (sh *shell) backupCommand() *cobra.Command {
	var passphraseFile string
	var keep int
	var also []string
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "write all that a fleet needs to begin again into one file",
		Long: `Write all that the fleet's server needs to begin again into one file, sealed with a passphrase: the
database, the folder of keys (--ca), the other files that settings name, the settings in the
environment, and stops that the database does not have yet. fleetd may run meanwhile, on this
computer or, with PostgreSQL, on another one. The backup has each change that fleetd acknowledged
before it began.

Run it as the user of fleetd and with its settings: each flag can also be set in the YAML file of
--config and in the environment, as for fleetd serve. If FILE is a folder, the file in it gets a name
with the time. The file appears when it is whole and on the disk. An existing backup is replaced; no
other file is.

Keep the passphrase apart from the backup: without it nobody can open it. PostgreSQL needs pg_dump of
the server's version or a later one.`,
		Example: `  fleetd backup museum.backup --database sqlite:/var/lib/troupe/fleetd/fleet.db --ca /etc/troupe/ca
  fleetd backup /var/backups/troupe --keep 14 --passphrase-file /etc/troupe/backup.passphrase
  fleetd backup museum.backup --also /etc/troupe/broker.env --also /etc/troupe/users`,
		Args: exactlyOne,
	}
	serve := sh.serveCommand().Flags()
	for _, name := range append([]string{"database", "spool"}, fileSettings...) {
		if f := serve.Lookup(name); f != nil {
			c.Flags().AddFlag(f)
		}
	}
	c.Flags().StringVar(&passphraseFile, "passphrase-file", "", passphraseHelp)
	c.Flags().IntVar(&keep, "keep", 0,
		"if FILE is a folder: afterwards remove the oldest backups of this fleet in it, but for so many; 0 = remove none")
	c.Flags().StringArrayVar(&also, "also", nil, "another file or folder to put into the backup, such as the broker's; may be repeated")
	c.RunE = run(func(cmd *cobra.Command, args []string) error {
		k, err := sh.settings(cmd.Flags(), serve)
		if err != nil {
			return &failure{code: exitUsage, err: err}
		}
		if keep < 0 {
			return usage("--keep %d: write how many backups stay, or 0 to remove none", keep)
		}
		o := backup.Options{
			Database: k.String("database"), Sources: sourcesOf(k, also), Environ: sh.settingsOfEnvironment(), Fleet: fleetName(k.String("ca")),
			Version: sh.version, By: whoRuns(), Now: time.Now,
		}
		if o.Passphrase, err = sh.passphrase(cmd.Context(), passphraseFile, true); err != nil {
			return err
		}
		path, folder := args[0], ""
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			folder, path = path, filepath.Join(path, backup.Name(o.Fleet, o.Now()))
		} else if keep > 0 {
			return usage("--keep: %s is not a folder", path)
		}
		return sh.makeBackup(cmd.Context(), path, folder, keep, o)
	})
	c.AddCommand(sh.verifyBackupCommand())
	return c
}

func (sh *shell) makeBackup(ctx context.Context, path, folder string, keep int, o backup.Options) error {
	steps := sh.steps()
	o.Progress = steps.show
	made, err := backup.Make(ctx, path, o)
	steps.clear()
	if err != nil {
		return fmt.Errorf("make the backup: %w", err)
	}
	fmt.Fprintf(sh.Out, "%s: whole, %s\n", path, sizeText(made.Bytes))
	sh.describe(made.Manifest)
	if made.Unrecorded != nil {
		fmt.Fprintf(sh.Err, "fleetd: the backup is whole, and the database does not know of it: %v\n", made.Unrecorded)
	}
	if keep == 0 {
		return nil
	}
	removed, err := backup.RemoveOld(folder, o.Fleet, keep)
	for _, old := range removed {
		fmt.Fprintf(sh.Out, "removed %s\n", old)
	}
	return err
}

// describe says what a backup is a copy of.
func (sh *shell) describe(m backup.Manifest) {
	name := m.Fleet
	if name == "" {
		name = m.FleetID
	}
	fmt.Fprintf(sh.Out, "  fleet     %s, as it was at %s\n", name, m.MadeAt.UTC().Format(shownTime))
	fmt.Fprintf(sh.Out, "  database  %s, schema version %d, robots: %d, users: %d\n", m.Database, m.Migration, m.Robots, m.Users)
	if len(m.Members) > 0 {
		fmt.Fprintf(sh.Out, "  besides   %s\n", orElse(m.Keys(), "nothing"))
	}
	if m.NoRootKey != "" {
		fmt.Fprintf(sh.Out, "  the root key is not in this backup: %s\n", m.NoRootKey)
	}
}

func (sh *shell) verifyBackupCommand() *cobra.Command {
	var passphraseFile string
	c := &cobra.Command{
		Use: "verify FILE", Short: "check that a backup is whole, and with its passphrase that it can be opened", Args: exactlyOne,
		Long: `Read all of a backup and check each byte against its digests. That needs no passphrase. With
--passphrase-file it also opens what is sealed, and checks the database and each file in it.`,
		Example: "  fleetd backup verify museum.backup\n  fleetd backup verify museum.backup --passphrase-file backup.passphrase",
		RunE: run(func(cmd *cobra.Command, args []string) (err error) {
			steps := sh.steps()
			var m backup.Manifest
			var size int64
			if passphraseFile == "" {
				m, size, err = backup.Verify(cmd.Context(), args[0], steps.show)
			} else {
				passphrase, err := sh.passphrase(cmd.Context(), passphraseFile, false)
				if err != nil {
					return err
				}
				m, size, err = backup.VerifySealed(cmd.Context(), args[0], passphrase, steps.show)
				if err != nil {
					steps.clear()
					return err
				}
			}
			steps.clear()
			if err != nil {
				return err
			}
			fmt.Fprintf(sh.Out, "%s: whole, %s\n", args[0], sizeText(size))
			if passphraseFile == "" { // the manifest that is not sealed names no files
				m.Members = nil
				sh.describe(m)
				fmt.Fprintln(sh.Out, "not opened: --passphrase-file also checks what is sealed")
				return nil
			}
			sh.describe(m)
			return nil
		}),
	}
	c.Flags().StringVar(&passphraseFile, "passphrase-file", "",
		"file whose first line is the passphrase; default: what is sealed is not opened")
	return c
}

func (sh *shell) restoreCommand() *cobra.Command {
	var into, passphraseFile string
	o := backup.RestoreOptions{}
	c := &cobra.Command{
		Use:   "restore FILE --into TARGET",
		Short: "fill a database and a folder from a backup",
		Long: `Fill a database, and a folder with the keys and other files, from a file of fleetd backup. End every
fleetd that uses the target first. TARGET is

  a folder        for a backup of an SQLite database: it gets fleet.db, the stops that were waiting, and the files
  sqlite:PATH     the database only; --files says where the files go
  postgres://...  the same for PostgreSQL, which needs pg_restore and psql of the server's version or a later one

All of the backup and the target are checked before anything is written. A target that has a fleet, or
other files of the same names, is refused without --replace. A backup of a later fleetd is refused.

Everything that was changed after the backup is lost. Robots keep what they have; after the start fleetd
shows what they hold beyond the backup (fleetd alert list).`,
		Example: `  fleetd restore museum.backup --into /var/lib/troupe/fleetd
  fleetd restore museum.backup --into postgres://troupe@db.example/troupe --files /var/lib/troupe/fleetd`,
		Args: exactlyOne,
		RunE: run(func(cmd *cobra.Command, args []string) (err error) {
			switch {
			case into == "":
				return usage("--into is missing: write a folder, sqlite:PATH or postgres://...")
			case strings.HasPrefix(into, "sqlite:"), strings.Contains(into, "://"):
				o.Database = into
			default:
				o.Database = "sqlite:" + filepath.Join(into, "fleet.db")
				if o.Files == "" {
					o.Files = into
				}
			}
			if o.Passphrase, err = sh.passphrase(cmd.Context(), passphraseFile, false); err != nil {
				return err
			}
			steps := sh.steps()
			o.By, o.Now, o.Progress = whoRuns(), time.Now, steps.show
			got, err := backup.Restore(cmd.Context(), args[0], o)
			steps.clear()
			if errors.Is(err, backup.ErrNotEmpty) || errors.Is(err, store.ErrInUse) {
				return &failure{code: exitConflict, err: err}
			} else if err != nil {
				return err
			}
			sh.restored(args[0], o, got)
			return nil
		}),
	}
	f := c.Flags()
	f.StringVar(&into, "into", "", "the target: a folder, sqlite:PATH or postgres://...")
	f.StringVar(&o.Files, "files", "",
		"folder for keys, certificates and settings; default: the folder of --into, otherwise they are not written")
	f.StringVar(&o.Spool, "spool", "", "file for the stops that the database did not have yet, as of fleetd serve")
	f.BoolVar(&o.Replace, "replace", false, "replace the fleet and the files that are there")
	f.StringVar(&passphraseFile, "passphrase-file", "", passphraseHelp)
	return c
}

// restored says what a restore wrote, and what to do now.
func (sh *shell) restored(path string, o backup.RestoreOptions, got backup.Restored) {
	fmt.Fprintf(sh.Out, "%s is restored into %s\n", path, got.Place)
	sh.describe(got.Manifest)
	for _, f := range got.Files {
		if f.Setting == "" {
			fmt.Fprintf(sh.Out, "  %s\n", absolute(f.Path))
			continue
		}
		line := fmt.Sprintf("  --%s %s", f.Setting, absolute(f.Path))
		if f.Was != absolute(f.Path) {
			line += " (it was " + f.Was + ")"
		}
		fmt.Fprintln(sh.Out, line)
	}
	if got.Kept != "" {
		fmt.Fprintf(sh.Out, "%s stays: it has stops that no database has yet\n", got.Kept)
	}
	if o.Files == "" && len(got.Members) > 1 {
		fmt.Fprintln(sh.Out, "keys and other files were not written; --files DIR writes them")
	}
	fmt.Fprintf(sh.Out, `next:
  1. let the settings of fleetd name the database and the files above
  2. start fleetd; robots go on meanwhile with what they have
  3. fleetd alert list shows what robots hold that the backup does not have, and how to keep or remove it
  4. what was changed after %s is lost: users, passwords, tokens and certificates that were
     revoked since then are valid again, so revoke them again
`, got.MadeAt.UTC().Format(shownTime))
	if got.Unanalyzed != nil {
		fmt.Fprintf(sh.Err, "fleetd: the restore is whole, and the database is slow until PostgreSQL has its statistics (ANALYZE): %v\n",
			got.Unanalyzed)
	}
	if got.Unrecorded != nil {
		fmt.Fprintf(sh.Err, "fleetd: the restore is whole, and the audit does not name it: %v\n", got.Unrecorded)
	}
}

// sourcesOf lists the files that settings name, the stops that wait for the database, and others.
func sourcesOf(k *koanf.Koanf, also []string) (all []backup.Source) {
	for _, name := range fileSettings {
		if path := k.String(name); path != "" {
			all = append(all, backup.Source{Setting: name, Path: path})
		}
	}
	spool := k.String("spool")
	if path, ok := strings.CutPrefix(k.String("database"), "sqlite:"); ok && spool == "" {
		spool = path + ".stops"
	}
	spool = orElse(spool, orElse(k.String("name"), "fleetd")+".stops")
	all = append(all, backup.Source{Setting: "spool", Name: backup.StopsFile, Path: spool, Missing: true})
	if k.String("seal-key") == "" {
		all = append(all, backup.Source{Name: backup.SealKeyFile, Path: backup.SealKeyOf(spool), Missing: true})
	}
	for _, path := range also {
		all = append(all, backup.Source{Path: path})
	}
	return all
}

// settingsOfEnvironment are the settings of serve in the environment, also its password for the broker.
func (sh *shell) settingsOfEnvironment() (pairs []string) {
	for _, pair := range sh.Environ {
		if strings.HasPrefix(pair, envPrefix) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// fleetName is the name of the fleet in its certificates; empty without a folder of keys.
func fleetName(dir string) string {
	if dir == "" {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(dir, vault.RootFile))
	if err != nil {
		return "" // that the folder cannot be read is an error of the backup
	}
	root, err := ca.ReadCertificate(text)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(root.Subject.CommonName, " root")
}

// whoRuns names who runs this program, for the audit: nobody is signed in.
func whoRuns() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return name + "@" + host
}

// passphrase reads the passphrase of a backup; of a new one, it has to be long enough and is asked for twice.
func (sh *shell) passphrase(ctx context.Context, file string, isNew bool) (text string, err error) {
	if file != "" {
		text, err = firstLine(file)
	} else {
		text, err = sh.askPassphrase(ctx, isNew)
	}
	if err == nil && isNew && utf8.RuneCountInString(text) < backup.MinPassphrase {
		err = usage("the passphrase has fewer than %d characters: who gets the backup could guess it; use several words", backup.MinPassphrase)
	}
	return text, err
}

func firstLine(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", usage("--passphrase-file: %v", err)
	}
	if mode := info.Mode().Perm(); mode&0o007 != 0 {
		return "", fmt.Errorf("--passphrase-file: every user of this computer can open %s (mode %v): chmod 600 it", file, mode)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", usage("--passphrase-file: %v", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	if !lines.Scan() || lines.Text() == "" {
		return "", usage("--passphrase-file: the first line of %s is empty", file)
	}
	return lines.Text(), nil
}

func (sh *shell) askPassphrase(ctx context.Context, twice bool) (string, error) {
	in, ok := sh.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return "", usage("no passphrase: name its file with --passphrase-file")
	}
	ask := func(what string) (string, error) {
		return sh.hidden(ctx, what, in)
	}
	first, err := ask("passphrase of the backup")
	if err != nil || !twice {
		return first, err
	}
	if again, err := ask("the same once more"); err != nil {
		return "", err
	} else if again != first {
		return "", usage("the two passphrases differ")
	}
	return first, nil
}

// stepLine shows how far a backup or a restore is, on a terminal.
type stepLine struct{ progressLine }

func (sh *shell) steps() stepLine { return stepLine{sh.progress("", "MiB")} }

func (s stepLine) show(step string, done, total int64) {
	const mib = 1 << 20
	s.what = step
	s.progressLine.show(int(done/mib), int(max(done, total)/mib))
}

// sizeText is a number of bytes for people.
func sizeText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprint(n, " bytes")
	case n < 10<<20:
		return fmt.Sprint(n>>10, " KiB")
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
