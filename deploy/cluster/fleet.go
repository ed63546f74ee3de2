package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	random "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"troupe/broker/access"
	"troupe/deploy/launch"
	"troupe/deploy/nats"
	"troupe/fleetd/store/pgtest"
	"troupe/schema"
)

// nodeCount is how many nodes a cluster has: any two of them go on without the third.
const nodeCount = 3

// A node is one nats-server.
type node struct {
	name    string
	host    string // address of the machine, or of the node's network namespace
	mqtt    string // host:port
	http    string // host:port of its state
	config  string // path
	network *namespace
	program *launch.Program
}

// A fleet is three nodes, two instances of fleetd, a pair of Postgres servers, and robots.
type fleet struct {
	folder   string
	programs string // folder with fleetd and robotd
	server   string // path of nats-server
	password string // of every user
	crowd    int    // how many simulated robots may connect beside the others
	// old are the programs that are at Troupe's broker, see move.
	old map[string]bool
	// oldBroker is the URL of that broker.
	oldBroker string
	nodes     []*node
	postgres  *pgtest.Pair
	fleetd    []*launch.Program
	api       []string // URLs of the instances
	robots    []*launch.Program
	networks  []*namespace
	// published says that fleetd has the shipped stories.
	published bool
	say       func(format string, args ...any)
}

// config is what a person chooses.
type config struct {
	robots int
	crowd  int    // users for so many simulated robots, too
	folder string // for the data; it has to be new
	root   string // folder of this module
	// programs is a folder with fleetd and robotd; empty: they are built.
	programs string
	isolate  bool // node 3 and a third of the robots have a network namespace of their own
}

// start starts everything and returns when all robots are online.
func start(ctx context.Context, c config, say func(string, ...any)) (f *fleet, err error) {
	f = &fleet{folder: c.folder, programs: c.programs, crowd: c.crowd, say: say, old: map[string]bool{}}
	defer func() {
		if err != nil {
			f.end()
		}
	}()
	secret := make([]byte, 16)
	_, _ = rand.Read(secret) // it never fails
	f.password = hex.EncodeToString(secret)
	if err := os.WriteFile(f.passwordFile(), []byte(f.password), 0o600); err != nil {
		return f, fmt.Errorf("write the password of the robots: %w", err)
	}
	if f.server, err = nats.Build(ctx, c.root); err != nil {
		return f, err
	}
	if f.programs == "" {
		f.programs = filepath.Join(c.folder, "bin")
		build := exec.CommandContext(ctx, "go", "build", "-o", f.programs+"/", "./broker", "./fleetd", "./robotd")
		build.Dir = c.root
		if text, err := build.CombinedOutput(); err != nil {
			return f, fmt.Errorf("build the programs: %w\n%s", err, text)
		}
	}
	if err := f.startNodes(ctx, c); err != nil {
		return f, err
	}
	if f.postgres, err = pgtest.StartPair(); err != nil {
		return f, err
	}
	say("Postgres runs with a standby")
	began := time.Now()
	for _, name := range []string{"fleetd-a", "fleetd-b"} {
		if err := f.startFleetd(ctx, name); err != nil {
			return f, err
		}
	}
	for i := range c.robots {
		if err := f.startRobot(i); err != nil {
			return f, err
		}
	}
	if err := f.await(ctx, startLimit, "online", isOnline, c.robots); err != nil {
		return f, fmt.Errorf("%w%s", err, f.tails())
	}
	say("%d robots are online %.1f s after the start of the first fleetd", c.robots, time.Since(began).Seconds())
	return f, nil
}

// startLimit bounds a start. It is long because other programs may use the machine.
const startLimit = time.Minute

func (f *fleet) startNodes(ctx context.Context, c config) error {
	users := f.users(c.robots)
	if c.isolate {
		network, err := newNamespace()
		if err != nil {
			return err
		}
		f.networks = append(f.networks, network)
	}
	var clusters []string
	for i := range nodeCount {
		n := &node{name: fmt.Sprintf("n%d", i+1), host: "127.0.0.1"}
		switch {
		case c.isolate && i == nodeCount-1:
			n.host, n.network = namespaceAddress, f.networks[0]
		case c.isolate:
			n.host = hostAddress
		}
		f.nodes = append(f.nodes, n)
		clusters = append(clusters, freeAddress(n.host))
		n.mqtt, n.http = freeAddress(n.host), freeAddress(n.host)
	}
	for i, n := range f.nodes {
		folder := filepath.Join(f.folder, n.name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("make the folder of %s: %w", n.name, err)
		}
		var text bytes.Buffer
		if err := nats.WriteConfig(&text, nats.Node{Name: n.name, MQTT: n.mqtt, Local: freeAddress(n.host), HTTP: n.http,
			Store: filepath.Join(folder, "store"),
			Users: "users.conf", Cluster: clusters[i], Nodes: clusters}); err != nil {
			return err
		}
		n.config = filepath.Join(folder, "nats.conf")
		if err := errors.Join(os.WriteFile(n.config, text.Bytes(), 0o600), os.WriteFile(filepath.Join(folder, "users.conf"), users,
			0o600)); err != nil {
			return fmt.Errorf("write the configuration of %s: %w", n.name, err)
		}
		if err := f.startNode(n); err != nil {
			return err
		}
	}
	for _, n := range f.nodes {
		if err := n.awaitHealthy(ctx); err != nil {
			return err
		}
	}
	f.say("three nodes of nats-server have a leader: %s", strings.Join(f.addresses(), " "))
	return nil
}

// neighbour is the namespace, and account of NATS, of another fleet on the cluster, which has the crowd only; the names of its robots begin
// with t.
const neighbour schema.Namespace = "neighbour"

// users is the block authorization of all nodes, or the block accounts if there is a crowd, a part of which is another fleet.
func (f *fleet) users(robots int) []byte {
	all := []access.User{{Name: "fleetd-a", Role: schema.RoleFleetd}, {Name: "fleetd-b", Role: schema.RoleFleetd},
		{Name: "admin", Role: schema.RoleAdmin}}
	for i := range robots {
		all = append(all, access.User{Name: robotID(i), Role: schema.RoleRobot})
	}
	if f.crowd == 0 {
		return f.rights(all, schema.DefaultNamespace, false)
	}
	others := []access.User{{Name: "admin-t", Role: schema.RoleAdmin}}
	for i := range f.crowd {
		all = append(all, access.User{Name: fmt.Sprintf("s%d", i+1), Role: schema.RoleRobot})
		others = append(others, access.User{Name: fmt.Sprintf("t%d", i+1), Role: schema.RoleRobot})
	}
	return slices.Concat([]byte("accounts {\n"), f.rights(all, schema.DefaultNamespace, true), f.rights(others, neighbour, true),
		[]byte("}\n"))
}

func (f *fleet) rights(users []access.User, ns schema.Namespace, account bool) []byte {
	passwords := map[string]string{}
	for _, u := range users {
		passwords[u.Name] = f.password
	}
	var b bytes.Buffer
	if err := access.WriteNATSUsers(&b, users, ns, passwords, account); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

func (f *fleet) startNode(n *node) (err error) {
	n.program, err = launch.Start(n.network.inside(launch.Command{Name: n.name, Path: f.server, Args: []string{"-c", n.config}}))
	return err
}

// awaitHealthy waits until the node has joined and its streams are current.
func (n *node) awaitHealthy(ctx context.Context) error {
	for end := time.Now().Add(startLimit); n.program.Running() && time.Now().Before(end); {
		if err := n.ask(ctx, "/healthz", nil); err == nil {
			return nil
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s is not healthy; its last output:\n%s", n.name, n.program.Tail())
}

// ask reads the state of a node.
func (n *node) ask(ctx context.Context, path string, out any) error {
	return getJSON(ctx, "http://"+n.http+path, out)
}

// getJSON reads a JSON document; out may be nil.
func getJSON(ctx context.Context, url string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, answer.Status)
	}
	if out != nil {
		err = json.NewDecoder(answer.Body).Decode(out)
	}
	return err
}

// leaderOf returns the node that leads a stream, such as $MQTT_msgs, whose $ may be left out: a shell takes it for its own.
func (f *fleet) leaderOf(ctx context.Context, stream string) (*node, error) {
	stream = "$" + strings.TrimPrefix(stream, "$")
	for _, n := range f.nodes {
		if !n.program.Running() {
			continue
		}
		var state struct {
			Accounts []struct {
				Name    string
				Streams []struct {
					Name    string
					Cluster struct{ Leader string }
				} `json:"stream_detail"`
			} `json:"account_details"`
		}
		if err := n.ask(ctx, "/jsz?streams=true&accounts=true", &state); err != nil {
			continue
		}
		for _, a := range state.Accounts {
			if a.Name == string(neighbour) {
				continue
			}
			for _, s := range a.Streams {
				if i := slices.IndexFunc(f.nodes, func(n *node) bool { return n.name == s.Cluster.Leader }); s.Name == stream && i >= 0 &&
					f.nodes[i].program.Running() {
					return f.nodes[i], nil
				}
			}
		}
	}
	return nil, fmt.Errorf("no node leads the stream %s", stream)
}

// clients returns the names of robots and fleetd instances whose own connection is to a node.
func (f *fleet) clients(ctx context.Context, n *node) (users []string) {
	var state struct {
		Connections []struct {
			MQTT string `json:"mqtt_client"`
		}
	}
	if err := n.ask(ctx, "/connz?limit=100000", &state); err != nil {
		return nil
	}
	for _, c := range state.Connections {
		if user := userOf(c.MQTT); user != "" {
			users = append(users, user)
		}
	}
	return users
}

// userOf returns the robot or instance whose own connection has that client id, and nothing for other connections. A number after
// the name is that of a round of attempts.
func userOf(clientID string) string {
	user, suffix, _ := strings.Cut(clientID, "_")
	if strings.Trim(suffix, "0123456789") != "" {
		return ""
	}
	return user
}

// addresses are those of the nodes. Each client begins at another one by itself.
func (f *fleet) addresses() (urls []string) {
	for _, n := range f.nodes {
		urls = append(urls, "mqtt://"+n.mqtt)
	}
	return urls
}

func (f *fleet) startFleetd(ctx context.Context, name string) error {
	at := slices.Index([]string{"fleetd-a", "fleetd-b"}, name)
	if at < 0 {
		return fmt.Errorf("there is no instance %s", name)
	}
	p, err := launch.Start(launch.Command{Name: name, Path: filepath.Join(f.programs, "fleetd"),
		Env: []string{"TROUPE_FLEETD_BROKER_PASSWORD=" + f.password},
		Args: append([]string{"serve", "--dev", "--name", name, "--database", f.postgres.URL,
			"--http", "127.0.0.1:0", "--spool", filepath.Join(f.folder, name+".stops")}, f.brokerFlags(name)...)})
	if err != nil {
		return err
	}
	if at < len(f.fleetd) {
		f.fleetd[at] = p
	} else {
		f.fleetd, f.api = append(f.fleetd, p), append(f.api, "")
	}
	ready, err := p.Ready(ctx)
	if f.api[at] = ready["http"]; err == nil && f.api[at] == "" {
		err = fmt.Errorf("%s printed no address", name)
	}
	return err
}

// passwordFile is where robots read their password.
func (f *fleet) passwordFile() string { return filepath.Join(f.folder, "password") }

func robotID(i int) string { return fmt.Sprintf("r%d", i+1) }

// brokerFlags tell a program where it connects.
func (f *fleet) brokerFlags(name string) []string {
	if f.old[name] {
		return []string{"--engine", "troupe", "--broker", f.oldBroker}
	}
	return []string{"--engine", "nats", "--broker", strings.Join(f.addresses(), ",")}
}

// startRobot starts a robotd with a simulated body.
func (f *fleet) startRobot(i int) error {
	id := robotID(i)
	home := f.nodes[i%len(f.nodes)]
	p, err := launch.Start(home.network.inside(launch.Command{Name: id, Path: filepath.Join(f.programs, "robotd"),
		Args: append([]string{"--id", id, "--password-file", f.passwordFile(),
			"--data", filepath.Join(f.folder, id), "--page", "off", "--recorder-mib", "8"}, f.brokerFlags(id)...)}))
	switch {
	case err != nil:
		return err
	case i < len(f.robots):
		f.robots[i] = p
	default:
		f.robots = append(f.robots, p)
	}
	return nil
}

// ctl runs the command line of fleetd at the first instance that runs, and returns what it printed.
func (f *fleet) ctl(ctx context.Context, args ...string) (string, error) {
	at := slices.IndexFunc(f.fleetd, func(p *launch.Program) bool { return p.Running() })
	if at < 0 {
		return "", errors.New("no fleetd runs")
	}
	return f.ctlAt(ctx, at, args...)
}

func (f *fleet) ctlAt(ctx context.Context, at int, args ...string) (string, error) {
	c := exec.CommandContext(ctx, filepath.Join(f.programs, "fleetd"), args...)
	c.Env = append(os.Environ(), "TROUPE_SERVER="+f.api[at])
	text, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("fleetd %s: %w: %s", strings.Join(args, " "), err, lastLine(text))
	}
	return string(text), err
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// robotRow is what is read of a robot.
type robotRow struct {
	ID         string
	Presence   struct{ Status string }
	Adopted    bool
	Calibrated bool
	Mode       string
	Safety     string
	Desired    struct {
		Story     struct{ ID string }
		Converged bool
	}
}

// rows lists the robots as the first instance that answers sees them.
func (f *fleet) rows(ctx context.Context) (robots []robotRow, err error) {
	err = errors.New("no fleetd runs")
	for i, p := range f.fleetd {
		if !p.Running() {
			continue
		}
		var list struct{ Robots []robotRow }
		if err = getJSON(ctx, f.api[i]+"/api/v1/robots", &list); err == nil {
			return list.Robots, nil
		}
	}
	return nil, err
}

func isOnline(r robotRow) bool { return r.Presence.Status == "online" && r.Adopted && r.Calibrated }

// await waits until so many robots are as wanted.
func (f *fleet) await(ctx context.Context, limit time.Duration, what string, is func(robotRow) bool, count int) error {
	for end := time.Now().Add(limit); ; {
		rows, err := f.rows(ctx)
		there := 0
		for _, r := range rows {
			if is(r) {
				there++
			}
		}
		switch {
		case err == nil && there >= count:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("%d of %d robots are %s after %v (%v)", there, count, what, limit, err)
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// tails is what a node, the instances of fleetd and a robot printed last.
func (f *fleet) tails() string {
	programs := append([]*launch.Program{f.nodes[0].program}, f.fleetd...)
	var b strings.Builder
	for _, p := range append(programs, f.robots[0]) {
		fmt.Fprintf(&b, "\n%s printed last:\n%s", p.Name, p.Tail())
	}
	return b.String()
}

// end ends all programs, robots first.
func (f *fleet) end() {
	programs := slices.Concat(f.robots, f.fleetd)
	for _, n := range f.nodes {
		if n.program != nil {
			programs = append(programs, n.program)
		}
	}
	for _, p := range programs {
		p.Kill() // the data is thrown away
	}
	if f.postgres != nil {
		f.postgres.Close()
	}
	for _, n := range f.networks {
		n.close()
	}
}

// freeAddress returns an address on which no program listens now. Its port is none of those that Linux gives to outgoing connections: one
// of these could take it while its node is away.
func freeAddress(host string) string {
	at := host
	if host == namespaceAddress {
		at = "127.0.0.1" // the namespace has no programs yet
	}
	for range 1000 {
		port := strconv.Itoa(20_000 + random.IntN(12_000))
		if l, err := net.Listen("tcp", net.JoinHostPort(at, port)); err == nil {
			_ = l.Close()
			return net.JoinHostPort(host, port)
		}
	}
	panic("this machine has no free port")
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
