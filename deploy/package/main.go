// Command package makes the files of the Debian and RPM packages that come from the programs themselves: the files
// of settings, the manual pages and the completions of shells. build.sh packs them.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"troupe/schema/program"
)

func main() {
	bin := flag.String("bin", "bin", "folder with fleetd, broker and robotd, which run here")
	out := flag.String("out", "bin/package", "folder for the files")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := write(ctx, *bin, *out)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "package:", err)
		os.Exit(1)
	}
}

// A service is a program as a package installs it.
type service struct {
	binary string // in the folder of programs
	name   string // of the installed program, of its manual pages and of its completions
	unit   string
	env    string   // file of settings in /etc/troupe
	prefix string   // of the variables
	serve  []string // the command below the program whose flags are the settings; none = the program itself
	data   string   // folder of the service
	// unsaid are the flags that the unit itself gives.
	unsaid map[string]bool
	// more are settings without a flag.
	more []program.Flag
}

var services = []service{
	{binary: "fleetd", name: "fleetd", unit: "fleetd", env: "fleetd.env", prefix: "TROUPE_FLEETD_", serve: []string{"serve"},
		data: "/var/lib/troupe/fleetd",
		more: []program.Flag{{Name: "broker-password", Type: "string",
			Usage: "password for the broker, if fleetd has no certificate; it is never a flag"}}},
	{binary: "broker", name: "troupe-broker", unit: "troupe-broker", env: "broker.env", prefix: "TROUPE_BROKER_",
		data: "/var/lib/troupe/broker"},
	{binary: "robotd", name: "robotd", unit: "robotd", env: "robotd.env", prefix: "TROUPE_ROBOTD_", data: "/var/lib/troupe/robotd",
		unsaid: map[string]bool{"data": true}},
}

func write(ctx context.Context, bin, out string) error {
	if err := os.RemoveAll(out); err != nil {
		return fmt.Errorf("remove the files of an earlier run: %w", err)
	}
	for _, s := range services {
		// A program runs under its installed name, which is what completions complete.
		installed := filepath.Join(out, "run", s.name)
		at, err := filepath.Abs(filepath.Join(bin, s.binary))
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(installed), 0o755), os.Symlink(at, installed))
		}
		if err != nil {
			return fmt.Errorf("give %s its installed name: %w", s.binary, err)
		}
		if err := s.write(ctx, installed, out); err != nil {
			return fmt.Errorf("files of %s: %w", s.name, err)
		}
	}
	return nil
}

func (s service) write(ctx context.Context, path, out string) error {
	described, err := run(ctx, path, "describe")
	if err != nil {
		return err
	}
	var root program.Command
	if err := json.Unmarshal(described, &root); err != nil {
		return fmt.Errorf("read what it says of its commands: %w", err)
	}
	settings, err := below(root, s.serve)
	if err != nil {
		return err
	}
	files := map[string][]byte{"etc/" + s.env: []byte(envFile(s, settings))}
	manPages(s.name, root, func(name, text string) { files["man/"+s.name+"/"+name+".1.gz"] = compress(text) })
	for shell, name := range map[string]string{"bash": s.name, "zsh": "_" + s.name, "fish": s.name + ".fish"} {
		if files["completion/"+shell+"/"+name], err = run(ctx, path, "completion", shell); err != nil {
			return err
		}
	}
	for name, text := range files {
		at := filepath.Join(out, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, text, 0o644)); err != nil {
			//nolint:gosec // packages are read by all
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

// run runs a program with an empty environment, so that no default is that of this machine.
func run(ctx context.Context, path string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = []string{"HOME=/nonexistent"}
	out, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(failed.Stderr))
		}
		return nil, fmt.Errorf("run %s %v: %w", path, args, err)
	}
	return out, nil
}

// below finds a command by the names that lead to it.
func below(c program.Command, names []string) (program.Command, error) {
	for _, name := range names {
		found := false
		for _, b := range c.Commands {
			if b.Name == name {
				c, found = b, true
				break
			}
		}
		if !found {
			return c, fmt.Errorf("%s has no command %s", c.Name, name)
		}
	}
	return c, nil
}

// compress has no time and no name in it: the same text is the same file.
func compress(text string) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is a valid one
	_, err := w.Write([]byte(text))
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err) // a buffer takes all
	}
	return b.Bytes()
}
