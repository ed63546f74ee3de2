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

// longestFolder keeps the path of the socket (folder + "/.s.PGSQL.5432") within 103 bytes,
// which every system allows.
const longestFolder = 80

// A cluster is one running PostgreSQL in one temporary folder.
type cluster struct {
	folder string
	// stopPipe is our end of the supervisor's standard input. We never write to it, and only stop closes
	// it: else the system closes it when this process ends, and then the supervisor stops the
	// cluster.
	stopPipe *os.File
}

// supervisorScript creates the cluster, prints "ready", and waits for the end of the test
// binary; then it stops the cluster and removes its folder. It is a process of its own because
// a killed test binary cannot clean up, and in a session of its own so that Ctrl-C at a
// terminal reaches only the test binary.
//
// The settings are the last lines of the configuration: forTests or durable. With the folder of a primary the cluster is
// its standby.
const supervisorScript = `
folder=$1 programs=$2 superuser=$3 settings=$4 primary=$5
{
	if [ -z "$primary" ]; then
		"$programs/initdb" -D "$folder/data" -U "$superuser" -A trust -E UTF8 --locale=C --no-sync
	else
		"$programs/pg_basebackup" -h "$primary" -U "$superuser" -D "$folder/data" --write-recovery-conf --wal-method=stream --checkpoint=fast --no-sync
	fi &&
	cat >>"$folder/data/postgresql.conf" <<-END &&
		listen_addresses = ''
		unix_socket_directories = '$folder'
		max_connections = 200
		timezone = 'UTC'
		log_timezone = 'UTC'
		$settings
	END
	"$programs/pg_ctl" -D "$folder/data" -l "$folder/server.log" -w -t 60 start
} >"$folder/start.log" 2>&1 && echo ready || echo failed
exec >/dev/null
cat
"$programs/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1
rm -rf "$folder"
`

// Nothing of a test has to survive a crash, so PostgreSQL syncs nothing to the disk.
const forTests = "fsync = off\nsynchronous_commit = off\nfull_page_writes = off\nshared_buffers = 32MB"

// durable is for measurements: every commit is on the disk, as PostgreSQL does by default.
const durable = "fsync = on\nsynchronous_commit = on\nfull_page_writes = on\nshared_buffers = 512MB"

// startCluster starts a cluster; primary is the folder of another one, of which it is the standby, or empty.
func startCluster(programs, settings, primary string) (*cluster, error) {
	as, err := clusterUser()
	if err != nil {
		return nil, err
	}
	folder, err := makeFolder(as)
	if err != nil {
		return nil, err
	}
	input, stopPipe, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the supervisor's input: %w", err)
	}
	answer, output, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the supervisor's output: %w", err)
	}
	defer answer.Close()

	// We do not wait for it: it outlives us while it stops the cluster.
	cmd := exec.Command("/bin/sh", "-c", supervisorScript, "supervisor", folder, programs, superuser, settings, primary)
	cmd.Dir = folder // this user may have no access to the caller's folder
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"}
	cmd.Stdin, cmd.Stdout = input, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: as}
	if err := cmd.Start(); err != nil {
		_ = os.RemoveAll(folder)
		return nil, fmt.Errorf("start the cluster's supervisor: %w", err)
	}
	_ = input.Close()
	_ = output.Close()

	said, err := bufio.NewReader(answer).ReadString('\n')
	if strings.TrimSpace(said) == "ready" {
		return &cluster{folder: folder, stopPipe: stopPipe}, nil
	}
	log := logs(folder)
	_ = stopPipe.Close() // the supervisor cleans up
	return nil, fmt.Errorf("start a cluster with %s: the supervisor printed %q (%v)\n%s", programs, said, err, log)
}

// stop lets the supervisor stop the cluster and remove its folder.
func (c *cluster) stop() { _ = c.stopPipe.Close() }

// pid returns the process id of the server.
func (c *cluster) pid() (int, error) {
	const file = "data/postmaster.pid" // its first line
	text, err := os.ReadFile(filepath.Join(c.folder, file))
	if err != nil {
		return 0, fmt.Errorf("read the server's process id: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return 0, fmt.Errorf("read the server's process id: %w", err)
	}
	return pid, nil
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

// clusterUser returns the user of the cluster: nil for our own, or another one if we are root,
// because PostgreSQL refuses to run as root.
func clusterUser() (*syscall.Credential, error) {
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

// findPrograms returns the folder of PostgreSQL's server programs: the first one in path, as in
// a shell, or else the newest version among the folders that match the pattern, since Debian
// installs them outside of the path.
func findPrograms(path, pattern string) (string, error) {
	folders := filepath.SplitList(path)
	versions, err := filepath.Glob(pattern)
	if err != nil {
		return "", fmt.Errorf("look for PostgreSQL in %s: %w", pattern, err)
	}
	newest, found := 0, ""
	for _, folder := range versions {
		if v, err := strconv.Atoi(filepath.Base(filepath.Dir(folder))); err == nil && v > newest && hasPrograms(folder) {
			newest, found = v, folder
		}
	}
	for _, folder := range append(folders, found) {
		if hasPrograms(folder) {
			return folder, nil
		}
	}
	return "", fmt.Errorf("PostgreSQL's server programs (initdb, pg_ctl, postgres) are neither in PATH nor in %s: "+
		"run deploy/setup/debian.sh, or apt-get install postgresql", pattern)
}

func hasPrograms(folder string) bool {
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
