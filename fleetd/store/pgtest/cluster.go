package pgtest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const superuser = "troupe"

// longestFolder keeps the socket's path (folder + "/.s.PGSQL.5432") within the
// 103 bytes that every system allows for one.
const longestFolder = 80

// A cluster is one running PostgreSQL in one temporary folder.
type cluster struct {
	folder string
	// lifeline is our end of the keeper's standard input. It is never written
	// to nor closed by us: the system closes it when this process ends, however
	// it ends, and that is what the keeper waits for.
	lifeline *os.File
}

// keeper makes the cluster, says so, and then waits for the end of the test
// binary to stop the cluster and to remove its folder. It is a process of its
// own because a killed test binary can tidy nothing; it is in a session of its
// own so that Ctrl-C at a terminal reaches the test binary and not it.
//
// Nothing here has to survive a crash, so nothing is ever synced to the disk.
const keeper = `
folder=$1 programs=$2 superuser=$3
{
	"$programs/initdb" -D "$folder/data" -U "$superuser" -A trust -E UTF8 --locale=C --no-sync &&
	cat >>"$folder/data/postgresql.conf" <<-END &&
		listen_addresses = ''
		unix_socket_directories = '$folder'
		fsync = off
		synchronous_commit = off
		full_page_writes = off
		shared_buffers = 32MB
		max_connections = 200
		timezone = 'UTC'
		log_timezone = 'UTC'
	END
	"$programs/pg_ctl" -D "$folder/data" -l "$folder/server.log" -w -t 60 start
} >"$folder/start.log" 2>&1 && echo ready || echo failed
exec >/dev/null
cat
"$programs/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1
rm -rf "$folder"
`

func startCluster(programs string) (*cluster, error) {
	as, err := identity()
	if err != nil {
		return nil, err
	}
	folder, err := makeFolder(as)
	if err != nil {
		return nil, err
	}
	input, lifeline, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the keeper's lifeline: %w", err)
	}
	answer, output, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the keeper's answer: %w", err)
	}
	defer answer.Close()

	// Not waited for: it is meant to outlive us, by the time a stop takes.
	cmd := exec.Command("/bin/sh", "-c", keeper, "keeper", folder, programs, superuser)
	cmd.Dir = folder // the caller's own folder may be closed to this user
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"}
	cmd.Stdin, cmd.Stdout = input, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: as}
	if err := cmd.Start(); err != nil {
		_ = os.RemoveAll(folder)
		return nil, fmt.Errorf("start the cluster's keeper: %w", err)
	}
	_ = input.Close()
	_ = output.Close()

	said, err := bufio.NewReader(answer).ReadString('\n')
	if strings.TrimSpace(said) == "ready" {
		return &cluster{folder: folder, lifeline: lifeline}, nil
	}
	log := logs(folder)
	_ = lifeline.Close() // the keeper tidies up
	return nil, fmt.Errorf("make a cluster with %s: keeper said %q (%v)\n%s", programs, said, err, log)
}

func logs(folder string) string {
	var all strings.Builder
	for _, name := range []string{"start.log", "server.log"} {
		if text, err := os.ReadFile(filepath.Join(folder, name)); err == nil {
			fmt.Fprintf(&all, "%s:\n%s", name, text)
		}
	}
	return all.String()
}

func makeFolder(as *syscall.Credential) (string, error) {
	parent := os.TempDir()
	if len(parent) > longestFolder {
		parent = "/tmp"
	}
	folder, err := os.MkdirTemp(parent, "pgtest-")
	if err != nil {
		return "", fmt.Errorf("make the cluster's folder: %w", err)
	}
	if as != nil {
		if err := os.Chown(folder, int(as.Uid), int(as.Gid)); err != nil {
			_ = os.Remove(folder)
			return "", fmt.Errorf("give %s to the user of the cluster: %w", folder, err)
		}
	}
	return folder, nil
}

// identity is the user that the cluster runs as: us, but for root, as whom
// PostgreSQL refuses to run.
func identity() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("read the uid of %s: %w", name, err)
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("read the gid of %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is neither a user postgres nor a user nobody to run it as")
}

// findPrograms returns the folder of PostgreSQL's server programs: the first
// of path, as a shell would find them, else the newest of the folders that
// match the pattern, where Debian keeps them out of the path.
func findPrograms(path, pattern string) (string, error) {
	folders := filepath.SplitList(path)
	versions, err := filepath.Glob(pattern)
	if err != nil {
		return "", fmt.Errorf("look for PostgreSQL in %s: %w", pattern, err)
	}
	newest, found := 0, ""
	for _, folder := range versions {
		if v, err := strconv.Atoi(filepath.Base(filepath.Dir(folder))); err == nil && v > newest && complete(folder) {
			newest, found = v, folder
		}
	}
	for _, folder := range append(folders, found) {
		if complete(folder) {
			return folder, nil
		}
	}
	return "", fmt.Errorf("PostgreSQL's server programs (initdb, pg_ctl, postgres) are neither in PATH nor in %s: "+
		"run deploy/setup/debian.sh, or apt-get install postgresql", pattern)
}

func complete(folder string) bool {
	if folder == "" {
		return false
	}
	for _, program := range []string{"initdb", "pg_ctl", "postgres"} {
		info, err := os.Stat(filepath.Join(folder, program))
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}
