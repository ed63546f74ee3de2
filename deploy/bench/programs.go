package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"troupe/deploy/launch"
	"troupe/fleetd/store/pgtest"
)

// programsFolder has the programs of the tree, as benches start them.
const programsFolder = ".cache/bench"

// buildPrograms builds the programs as a release has them but for the version, and returns their folder.
func buildPrograms(ctx context.Context) (folder string, err error) {
	folder, err = filepath.Abs(programsFolder)
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", folder+"/", "./broker", "./fleetd", "./robotd", "./deploy/bench/mochi")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the programs: %w\n%s", err, text)
	}
	return folder, nil
}

// tree returns the command of a program of the tree.
func (r *run) tree(name string, args ...string) launch.Command {
	return launch.Command{Name: name, Path: filepath.Join(r.programs, name), Args: args}
}

// A broker is an MQTT broker that runs for a bench.
type broker struct {
	*launch.Program
	addr string // host:port
	http string // URL of its counters
}

// startBroker starts Troupe's broker, which lets clients in without a password. With users, lines of a users file, it lets
// these in, and else everybody, as with --dev. addr is host:port, where port 0 takes a free one.
func (r *run) startBroker(ctx context.Context, addr string, users ...string) (*broker, error) {
	args := []string{"--mqtt", addr, "--http", "127.0.0.1:0", "--log-level", "warn"}
	if users == nil {
		args = append(args, "--dev")
	} else {
		path := r.path("users")
		if err := os.WriteFile(path, []byte(strings.Join(users, "\n")+"\n"), 0o600); err != nil {
			return nil, fmt.Errorf("write the users file: %w", err)
		}
		args = append(args, "--users", path)
	}
	p, err := r.start(r.tree("broker", args...))
	if err != nil {
		return nil, err
	}
	at, err := p.Ready(ctx)
	return &broker{p, at["mqtt"], at["http"]}, err
}

// startMochi starts the server library of the broker alone.
func (r *run) startMochi(ctx context.Context) (*broker, error) {
	p, err := r.start(r.tree("mochi"))
	if err != nil {
		return nil, err
	}
	at, err := p.Ready(ctx)
	return &broker{p, at["mqtt"], at["http"]}, err
}

// mosquittoConfig lets everybody in, loses nothing, keeps nothing on disk, and sends small packets at once: without
// set_tcp_nodelay a round trip takes 44 ms.
const mosquittoConfig = `listener %d 127.0.0.1
allow_anonymous true
set_tcp_nodelay true
max_inflight_messages 0
max_queued_messages 0
persistence false
log_dest stderr
log_type error
`

// startMosquitto starts Debian's Mosquitto.
func (r *run) startMosquitto(ctx context.Context) (*broker, error) {
	path, err := lookPath("mosquitto", "/usr/sbin")
	if err != nil {
		return nil, fmt.Errorf("%w: run make setup, or apt-get install mosquitto", err)
	}
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(addr)
	number, _ := strconv.Atoi(port)
	config := fmt.Sprintf(mosquittoConfig, number)
	if os.Geteuid() == 0 {
		config += "user root\n" // it would become user mosquitto, which cannot read the configuration
	}
	file := r.path("mosquitto.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, fmt.Errorf("write mosquitto's configuration: %w", err)
	}
	p, err := r.start(launch.Command{Name: "mosquitto", Path: path, Args: []string{"-c", file}})
	if err != nil {
		return nil, err
	}
	return &broker{Program: p, addr: addr}, awaitListener(ctx, p, addr)
}

// awaitListener waits until a program that prints no ready line accepts connections.
func awaitListener(ctx context.Context, p *launch.Program, addr string) error {
	for end := time.Now().Add(launch.StartLimit); p.Running() && time.Now().Before(end); {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			return c.Close()
		}
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s does not listen on %s; its last output:\n%s", p.Name, addr, p.Tail())
}

func lookPath(program, folder string) (string, error) {
	for _, candidate := range []string{program, filepath.Join(folder, program)} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is neither in PATH nor in %s", program, folder)
}

// freeAddress returns an address on which no program listens now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// fleetd is a running fleetd that lets everybody in.
type fleetd struct {
	*launch.Program
	api *api
}

// startFleetd starts fleetd on a database, sqlite:PATH or postgres://..., at a broker.
func (r *run) startFleetd(ctx context.Context, database, mqtt string, args ...string) (*fleetd, error) {
	p, err := r.start(r.tree("fleetd", append([]string{"serve", "--dev", "--database", database, "--broker", "mqtt://" + mqtt,
		"--http", "127.0.0.1:0", "--spool", r.path("spool"), "--log-level", "warn"}, args...)...))
	if err != nil {
		return nil, err
	}
	at, err := p.Ready(ctx)
	if err != nil {
		return nil, err
	}
	return &fleetd{p, newAPI(at["http"])}, nil
}

// sqlite is the database of a new SQLite file.
func (r *run) sqlite() string { return "sqlite:" + r.path("fleet.db") }

// startPostgres starts a PostgreSQL that syncs every commit, and returns the address of an empty database.
func (r *run) startPostgres() (database string, server *launch.Program, err error) {
	s, err := pgtest.StartDurable()
	if err != nil {
		return "", nil, err
	}
	r.atEnd(s.Close)
	return s.URL, &launch.Program{Name: "postgres", PID: s.PID}, nil
}

// startRobot starts a robotd with a simulated body, which link loss does not stop.
func (r *run) startRobot(ctx context.Context, id, mqtt string, args ...string) (*launch.Program, error) {
	p, err := r.start(r.tree("robotd", append([]string{"--id", id, "--broker", "mqtt://" + mqtt, "--data", r.path(id), "--page", "off",
		"--link-loss-mnl", "continue", "--link-loss-str", "continue", "--link-loss-ato", "continue", "--log-level", "warn"}, args...)...))
	if err != nil {
		return nil, err
	}
	_, err = p.Ready(ctx)
	return p, err
}

// startCrowd starts many simulated robots in one program; their names are s1, s2 and so on.
func (r *run) startCrowd(ctx context.Context, count int, mqtt string, args ...string) (*launch.Program, error) {
	p, err := r.start(launch.Command{Name: "robotd sim", Path: filepath.Join(r.programs, "robotd"),
		Args: append([]string{"sim", "--count", strconv.Itoa(count), "--prefix", "s", "--broker", "mqtt://" + mqtt}, args...)})
	if err != nil {
		return nil, err
	}
	_, err = p.Ready(ctx)
	return p, err
}

// errLost is the error of a wait for robots that did not come.
var errLost = errors.New("not all robots came")
