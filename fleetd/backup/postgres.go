package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"troupe/fleetd/store"
)

// endWithin is how long a program of PostgreSQL has to end once nobody waits for it any more.
const endWithin = 5 * time.Second

var majorVersion = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// program finds a program of PostgreSQL, which must be as new as the server.
func program(ctx context.Context, name string, server int) (path string, err error) {
	wayOut := fmt.Sprintf("install PostgreSQL's client programs of version %d or later, such as Debian's postgresql-client-%[1]d", server)
	if path, err = exec.LookPath(name); err != nil {
		return "", fmt.Errorf("%s is not there; %s", name, wayOut)
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("run %s --version: %w", name, err)
	}
	found := majorVersion.FindSubmatch(out)
	if found == nil {
		return "", fmt.Errorf("%s --version answers %q, which is not PostgreSQL's", name, strings.TrimSpace(string(out)))
	}
	if major, err := strconv.Atoi(string(found[1])); err != nil || major < server {
		return "", fmt.Errorf("%s has version %s, and the server %d: an older one cannot be trusted with the server's tables; %s", name, found[1],
			server, wayOut)
	}
	return path, nil
}

// complaint keeps the end of what a program says on its standard error.
type complaint struct{ bytes.Buffer }

func (c *complaint) Write(b []byte) (int, error) {
	const keep = 4096
	if c.Len()+len(b) > keep {
		c.Next(min(c.Len(), c.Len()+len(b)-keep))
	}
	_, _ = c.Buffer.Write(b[max(0, len(b)-keep):])
	return len(b), nil
}

func (c *complaint) of(name string, err error) error {
	if err == nil {
		return nil
	}
	if said := strings.TrimSpace(c.String()); said != "" {
		return fmt.Errorf("%s: %w: %s", name, err, said)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// client is a program of PostgreSQL that can reach a database.
func client(ctx context.Context, path, address string, args ...string) (*exec.Cmd, error) {
	dbname, env, err := store.Libpq(address)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, path, append(args, "--no-password", "--dbname="+dbname)...)
	c.Env = append(os.Environ(), env...)
	c.WaitDelay = endWithin
	return c, nil
}

// dump calls do with what pg_dump writes of the database. If do returns nil and dump does, do has read all of it.
func (o *Options) dump(ctx context.Context, db *store.Store, do func(store.Contents, io.Reader) error) error {
	server, err := db.ServerVersion(ctx)
	if err != nil {
		return err
	}
	path, err := program(ctx, "pg_dump", server)
	if err != nil {
		return err
	}
	only, err := oneFleet(ctx, db)
	if err != nil {
		return err
	}
	return db.Snapshot(ctx, func(snapshot string, contents store.Contents) error {
		// The dump has no owners and rights, which the database of a restore may not know.
		c, err := client(ctx, path, o.Database, append(only, "--format=custom", "--compress=0", "--no-owner", "--no-privileges",
			"--lock-wait-timeout=30s", "--snapshot="+snapshot)...)
		if err != nil {
			return err
		}
		var said complaint
		c.Stderr = &said
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			return fmt.Errorf("run pg_dump: %w", err)
		}
		if err := do(contents, out); err != nil {
			_ = c.Process.Kill()
			return errors.Join(err, ignored(c.Wait()))
		}
		return said.of("pg_dump", c.Wait())
	})
}

// oneFleet are arguments of pg_dump that leave out the fleets in other schemas of a database. In a schema of its own a fleet is
// dumped without the schema itself, which the target of a restore has already.
func oneFleet(ctx context.Context, db *store.Store) (args []string, err error) {
	if schema := db.Schema(); schema != store.DefaultSchema {
		return []string{"--table=" + quoted(schema) + ".*"}, nil
	}
	others, err := db.OtherFleets(ctx)
	for _, schema := range others {
		args = append(args, "--exclude-schema="+quoted(schema))
	}
	return args, err
}

// ignored is no error: the process was killed.
func ignored(error) error { return nil }

// quietly are arguments of psql with which it ends at the first error and says nothing else.
var quietly = []string{"--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=" + os.DevNull}

// analyze lets PostgreSQL make its statistics of restored tables. Without them it is slow until it makes them by itself.
func analyze(ctx context.Context, address string, server int) error {
	path, err := program(ctx, "psql", server)
	if err != nil {
		return err
	}
	psql, err := client(ctx, path, address, append(slices.Clone(quietly), "--command=ANALYZE")...)
	if err != nil {
		return err
	}
	var said complaint
	psql.Stderr = &said
	return said.of("psql", psql.Run())
}

// fill replaces fleetd's tables in a PostgreSQL database with those of a dump, in one transaction.
func fill(ctx context.Context, address string, server int, drop string, from io.Reader) error {
	restorePath, err := program(ctx, "pg_restore", server)
	if err != nil {
		return err
	}
	psqlPath, err := program(ctx, "psql", server)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	psql, err := client(ctx, psqlPath, address, quietly...)
	if err != nil {
		return err
	}
	var psqlSaid, restoreSaid complaint
	psql.Stderr = &psqlSaid
	in, err := psql.StdinPipe()
	if err == nil {
		err = psql.Start()
	}
	if err != nil {
		return fmt.Errorf("run psql: %w", err)
	}
	// psql commits only what it reads of a COMMIT: if anything before it fails, it ends without, and the server rolls back.
	script := exec.CommandContext(ctx, restorePath, "--no-owner", "--no-privileges", "--file=-")
	script.Stdin, script.Stdout, script.Stderr, script.WaitDelay = from, in, &restoreSaid, endWithin
	_, err = io.WriteString(in, "BEGIN;\n"+drop)
	if err == nil {
		err = restoreSaid.of("pg_restore", script.Run())
	}
	if err == nil {
		_, err = io.WriteString(in, "\nCOMMIT;\n")
	}
	err = errors.Join(err, in.Close())
	if ended := psqlSaid.of("psql", psql.Wait()); ended != nil {
		return fmt.Errorf("fill the database; nothing was changed: %w", ended)
	}
	if err != nil {
		return fmt.Errorf("fill the database; nothing was changed: %w", err)
	}
	return nil
}
