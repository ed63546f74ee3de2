package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"

	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"troupe/broker/access"
	"troupe/broker/link"
	"troupe/schema"
	"troupe/schema/logs"
)

// natsUsersCommand keeps the users of a nats-server up to date.
func natsUsersCommand() *cobra.Command {
	var n natsUsers
	var namespace, url, name, ca, cert, key, passwordFile, level string
	c := &cobra.Command{
		Use: "nats-users --users FILE --out FILE --broker URL", Args: cobra.NoArgs,
		Short: "keep the users of a nats-server as the users file and the fleet's revocations say",
		Long: `Writes what broker acl --for nats prints, without the robots and fleetd instances whose names
the fleet revoked, and writes it again whenever that changes: it reads the users file each
second, and subscribes to fleet/revoked at the nats-server. Then it has nats-server read its
configuration again, which ends the connections of users that are gone. Run one beside
each node, with the certificate or password of a fleetd instance of its own, and begin it
before nats-server, which does not start without the file.

The revocations that it knows are kept beside the file, in FILE.revoked, and hold until a
newer list comes. nats-server knows a robot by its name, so it admits a certificate that was
revoked while the robot's name was not: enrol a robot again under a new name, or with the
old one only after its earlier certificates expired.`,
		Example: "  broker nats-users --users /etc/nats/users --out /etc/nats/users.conf --pid-file /run/nats/pid \\\n" +
			"    --broker mqtts://localhost:8883 --name fleetd-n1 --ca root.pem --cert fleetd-n1.pem --key fleetd-n1.key.pem",
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := logs.New(cmd.ErrOrStderr(), "text", level)
			if err != nil {
				return err
			}
			if !schema.ValidNamespace(namespace) {
				return fmt.Errorf("--namespace %q: want 1 to 32 of a-z, 0-9 and -", namespace)
			}
			if (cert == "") != (key == "") {
				return errors.New("--cert and --key belong together")
			}
			n.log, n.ns = log, schema.Namespace(namespace)
			cfg := link.Config{
				URL: url, Engine: link.NATS, Name: name, Suffix: "users", Logger: log,
				TLS:       func() (*tls.Config, error) { return natsTLSConfig(ca, cert, key) },
				Subscribe: []link.Subscription{{Filter: n.ns.Topic(schema.TopicRevoked), QoS: 1, Renew: true}},
			}
			if passwordFile != "" {
				text, err := os.ReadFile(passwordFile)
				if err != nil {
					return fmt.Errorf("--password-file: %w", err)
				}
				cfg.Password = strings.TrimSpace(string(text))
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return n.run(ctx, cfg)
		},
	}
	f := c.Flags()
	f.StringVar(&n.users, "users", "", "file with lines \"name role\"")
	f.StringVar(&n.passwords, "passwords", "", "file of htpasswd -B: see broker acl")
	f.StringVar(&n.out, "out", "", "file to write, which the configuration of nats-server includes")
	f.StringVar(&n.pidFile, "pid-file", "", "pid_file of nats-server, to signal it; without one, something else has to make it read the file")
	f.StringVar(&n.monitor, "monitor", "", "address of the state of nats-server, its setting http: http://127.0.0.1:8222; "+
		"with it, a configuration that nats-server refuses to reload is logged as an error, otherwise only nats-server's log has it")
	f.StringVar(&url, "broker", "", "address of the nats-server for MQTT: mqtts://host:port, or mqtt:// on this machine")
	f.StringVar(&name, "name", "fleetd", "name of a user with the role fleetd or admin")
	f.StringVar(&ca, "ca", "", "PEM file with the CA certificates to trust for the nats-server; default: those of the system")
	f.StringVar(&cert, "cert", "", "PEM file with the client certificate of that user")
	f.StringVar(&key, "key", "", "PEM file with the key of --cert")
	f.StringVar(&passwordFile, "password-file", "", "file with the password of that user")
	f.StringVar(&namespace, "namespace", string(schema.DefaultNamespace), "first level of every topic")
	f.BoolVar(&n.ownAccount, "own-account", false, "write an account with the name of the namespace: see broker acl")
	f.StringVar(&level, "log-level", "info", "debug, info, warn or error")
	for _, flag := range []string{"users", "out", "broker"} {
		_ = c.MarkFlagRequired(flag)
	}
	return c
}

// natsTLSConfig reads the files again for each connection, since certificates are renewed.
func natsTLSConfig(ca, cert, key string) (*tls.Config, error) {
	c := &tls.Config{}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("read the CA: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate", ca)
		}
	}
	if cert != "" {
		own, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("read the client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, nil
}

// natsUsers keeps one file of users.
type natsUsers struct {
	users, passwords, out, pidFile string
	monitor                        string // URL of nats-server's state; empty: nothing says whether it took a change
	ns                             schema.Namespace
	ownAccount                     bool // of several fleets on the nats-server
	log                            *slog.Logger

	read     readable // what the files of users and passwords had when both could last be read
	revoked  *access.Revoked
	lists    map[string]jsontext.Value // the newest fleet/revoked by fleet id, as they are kept on the disk
	signaled []byte                    // what the file had when nats-server was last signaled
	loading  *reload                   // what nats-server was signaled to read, until it did; nil without monitor
	fault    string                    // the error that was logged last
}

// readable is what the files of users and passwords say.
type readable struct {
	users     access.Users
	passwords map[string]string // hashes by name; nil: all have certificates
}

// natsPoll is how often the users file is read, and how long after a failure the next attempt is made.
const natsPoll = time.Second

func (n *natsUsers) run(ctx context.Context, cfg link.Config) error {
	if err := n.load(); err != nil {
		return err
	}
	if err := n.write(); err != nil { // at the start a person reads the error
		return err
	}
	lists := make(chan []byte, 16)
	cfg.OnMessage = func(m link.Message) {
		select {
		case lists <- m.Payload:
		case <-ctx.Done():
		}
	}
	cfg.OnState = func(s link.State) {
		if s.Err != nil {
			n.log.Warn("not connected to nats-server: new revocations do not arrive", "phase", s.Phase, "err", s.Err)
		}
	}
	l, err := link.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close(context.WithoutCancel(ctx)) }() // it has nothing to say at its end
	poll := time.NewTicker(natsPoll)
	defer poll.Stop()
	for {
		select {
		case payload := <-lists:
			n.replace(payload)
		case <-poll.C:
		case <-ctx.Done():
			return nil
		}
		err := errors.Join(n.write(), n.signal(ctx), n.checkReload(ctx))
		if text := fmt.Sprint(err); err != nil && text != n.fault {
			n.log.Error("the users of nats-server are not up to date", "err", err)
		}
		n.fault = fmt.Sprint(err)
	}
}

func (n *natsUsers) revokedFile() string { return n.out + ".revoked" }

// load reads the revocations that were known.
func (n *natsUsers) load() error {
	n.revoked, n.lists = &access.Revoked{}, map[string]jsontext.Value{}
	text, err := os.ReadFile(n.revokedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &n.lists)
	}
	if err != nil {
		return fmt.Errorf("read the known revocations of %s: %w", n.revokedFile(), err)
	}
	for _, payload := range n.lists {
		next, why := n.revoked.Replace(payload)
		if why != "" {
			return fmt.Errorf("read the known revocations of %s: %s", n.revokedFile(), why)
		}
		n.revoked = next
	}
	return nil
}

// replace takes a new fleet/revoked, and keeps it for the next start.
func (n *natsUsers) replace(payload []byte) {
	next, why := n.revoked.Replace(payload)
	if why != "" {
		n.log.Warn("fleet/revoked ignored", "why", why)
		return
	}
	list, _ := schema.Decode[schema.Revoked](payload)
	n.revoked, n.lists[list.FleetID] = next, payload
	text, err := json.Marshal(n.lists)
	if err == nil {
		err = replaceFile(n.revokedFile(), text)
	}
	if err != nil {
		n.log.Error("revocations not kept for the next start", "err", err)
	}
}

// write writes the users who are not revoked, if they changed. While a file of users or passwords cannot be read, these are
// the ones that it had before, and write returns the error, too: a revocation waits for no other file.
func (n *natsUsers) write() error {
	now, unread := n.readFiles()
	switch {
	case unread == nil:
		n.read = now
	case n.read.users.Len() == 0:
		return unread
	default:
		unread = fmt.Errorf("%w; until that is mended, revocations take effect, and other changes of the file do not", unread)
	}
	return errors.Join(unread, n.writeLeft())
}

func (n *natsUsers) readFiles() (r readable, err error) {
	if r.users, err = readUsers(n.users); err == nil && n.passwords != "" {
		r.passwords, err = readPasswords(n.passwords, r.users)
	}
	return r, err
}

// writeLeft writes those of the users that were read who are not revoked.
func (n *natsUsers) writeLeft() error {
	var gone []string
	left := slices.DeleteFunc(n.read.users.All(), func(u access.User) bool {
		is := n.revoked.Revokes(u.Name, "")
		if is {
			gone = append(gone, u.Name)
		}
		return is
	})
	var text bytes.Buffer
	if err := access.WriteNATSUsers(&text, left, n.ns, n.read.passwords, n.ownAccount); err != nil {
		return err
	}
	old, err := os.ReadFile(n.out)
	if err == nil && bytes.Equal(old, text.Bytes()) {
		return nil
	}
	if err := replaceFile(n.out, text.Bytes()); err != nil {
		return err
	}
	slices.Sort(gone)
	n.log.Info("users of nats-server written", "users", len(left), "revoked", gone)
	return nil
}

// signal has nats-server read its configuration again, unless it did since the file changed. nats-server keeps what it had if any file
// of its configuration is wrong, see checkReload.
func (n *natsUsers) signal(ctx context.Context) error {
	if n.pidFile == "" {
		return nil
	}
	text, err := os.ReadFile(n.out)
	if err != nil || bytes.Equal(text, n.signaled) {
		return err
	}
	pid, err := os.ReadFile(n.pidFile)
	if err != nil {
		return fmt.Errorf("find the process of nats-server: %w", err)
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err != nil || id <= 1 {
		return fmt.Errorf("find the process of nats-server: %s has no process id", n.pidFile)
	}
	// A file that a crash left may name a process of something else, which a SIGHUP would end.
	if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", id)); err == nil && !strings.HasPrefix(string(comm), "nats-server") {
		return fmt.Errorf("process %d of %s is %s, not nats-server", id, n.pidFile, strings.TrimSpace(string(comm)))
	}
	asked := time.Now()
	before, unknown := asked, error(nil)
	if n.monitor != "" {
		if before, unknown = n.loadTime(ctx); unknown != nil {
			before = asked // of the clock of this machine, as nats-server's times are
		}
	}
	if err := syscall.Kill(id, syscall.SIGHUP); err != nil { // also if its state is unknown: a revocation waits for nothing
		return errors.Join(fmt.Errorf("signal nats-server: %w", err), unknown)
	}
	n.signaled = text
	if n.monitor != "" {
		n.loading = &reload{before: before, asked: time.Now()}
	}
	return unknown
}

// reload is a signal to nats-server to read its configuration.
type reload struct {
	before time.Time // when it had read its configuration last
	asked  time.Time
}

// reloadWithin is how long nats-server may take to read its configuration.
const reloadWithin = 3 * time.Second

// checkReload returns an error while nats-server has not taken the configuration that it was signaled to read: then a revoked robot
// stays connected. It goes on asking, because a person may correct the file and reload it by hand.
func (n *natsUsers) checkReload(ctx context.Context) error {
	if n.loading == nil {
		return nil
	}
	at, err := n.loadTime(ctx)
	switch {
	case err != nil:
		return err
	case at.After(n.loading.before):
		n.loading = nil
		n.log.Info("nats-server has read its configuration", "at", at)
		return nil
	case time.Since(n.loading.asked) < reloadWithin:
		return nil
	}
	return errors.New("nats-server did not take its configuration, and goes on with the earlier one, so a revoked robot stays connected; " +
		"its log says which file is wrong: mend that, and run nats-server --signal reload=" + n.pidFile)
}

// monitorClient follows no redirect: nats-server sends none.
var monitorClient = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// maxState bounds the state of nats-server in bytes.
const maxState = 1 << 20

// loadTime asks nats-server when it read its configuration last.
func (n *natsUsers) loadTime(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, natsPoll)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(n.monitor, "/")+"/varz", nil)
	if err != nil {
		return time.Time{}, fmt.Errorf("ask nats-server whether it read its configuration: %w", err)
	}
	answer, err := monitorClient.Do(request)
	if err != nil {
		return time.Time{}, fmt.Errorf("ask nats-server whether it read its configuration: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return time.Time{}, fmt.Errorf("ask nats-server whether it read its configuration: %s answers %s", n.monitor, answer.Status)
	}
	var state struct {
		At time.Time `json:"config_load_time"`
	}
	if err := json.UnmarshalRead(io.LimitReader(answer.Body, maxState), &state); err != nil {
		return time.Time{}, fmt.Errorf("ask nats-server whether it read its configuration: decode %s: %w", n.monitor, err)
	}
	if state.At.IsZero() {
		return time.Time{}, fmt.Errorf("ask nats-server whether it read its configuration: %s has no config_load_time", n.monitor)
	}
	return state.At, nil
}

// replaceFile writes a file so that a reader sees either the old content or the new.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone after the rename
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(0o640) // nats-server reads it with the group of the folder
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
