package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/auth"
	"troupe/fleetd/certificate"
	"troupe/fleetd/console"
	"troupe/fleetd/operation"
	"troupe/schema"
)

// maxHeader bounds the header of a request.
const maxHeader = 64 << 10

// web is the HTTP addresses of fleetd.
type web struct {
	mux         *http.ServeMux
	operations  []operation.Operation
	metrics     http.Handler
	handler     http.Handler
	connections *connections
	listener    net.Listener // nil without an address
	server      *http.Server

	robotsListener net.Listener // of --enrol; nil without it
	robotsServer   *http.Server

	metricsListener net.Listener // of --metrics; nil without an address of its own
	metricsServer   *http.Server
}

// listen binds the address. It refuses one that other machines can reach in development mode,
// and without TLS, since passwords would be readable on the network.
func (f *Fleet) listen(ctx context.Context) error {
	if f.cfg.HTTPFiles.Cert != "" {
		var err error
		if f.certificates.http, err = certificate.LoadServer(f.cfg.HTTPFiles.Cert, f.cfg.HTTPFiles.Key, f.log, time.Now); err != nil {
			return err
		}
	}
	f.certificates.robots = f.certificates.http
	if pair := f.cfg.EnrolFiles; pair.Cert != "" {
		var err error
		if f.certificates.robots, err = certificate.LoadServer(pair.Cert, pair.Key, f.log, time.Now); err != nil {
			return err
		}
	}
	if err := f.makeAccounts(); err != nil {
		return err
	}
	if f.cfg.Dev {
		f.log.Warn("DEVELOPMENT MODE: a person on this machine who is not signed in has every right, and every robot is adopted", "http",
			f.cfg.HTTP)
	}
	if f.cfg.HTTP == "" {
		return nil
	}
	l, err := f.cfg.Listen(ctx, "tcp", f.cfg.HTTP)
	if err != nil {
		return fmt.Errorf("listen for HTTP on %s: %w", f.cfg.HTTP, err)
	}
	switch others := reachable(l.Addr()); {
	case others && f.cfg.Dev:
		err = fmt.Errorf(
			"%s can be reached by others, and with --dev they could command every robot without signing in: use 127.0.0.1, or leave out --dev",
			f.cfg.HTTP)
	case others && f.certificates.http == nil && !f.cfg.BehindProxy:
		err = fmt.Errorf("%s can be reached by others, who could read passwords on the way: give --http-tls-cert and --http-tls-key, or say "+
			"--behind-tls-proxy if only a reverse proxy that speaks TLS reaches it", f.cfg.HTTP)
	}
	if err != nil {
		_ = l.Close() // the error above matters more
		return err
	}
	f.web.listener = l
	return nil
}

// makeServers makes what answers at the addresses, when everything that it asks exists.
func (f *Fleet) makeServers(running context.Context) {
	f.web.handler = f.probes(f.routes())
	if f.web.listener != nil {
		f.web.server = f.httpServer(running, f.web.handler, f.web.connections)
	}
	if f.web.robotsListener != nil {
		f.web.robotsServer = f.robotsServer(running)
	}
	if f.web.metricsListener != nil {
		f.web.metricsServer = f.metricsServer(running)
	}
}

// httpServer makes a server with the limits of every address. The handler admits requests with c.
func (f *Fleet) httpServer(running context.Context, handler http.Handler, c *connections) *http.Server {
	s := &http.Server{
		Handler:           handler,
		ConnState:         c.track,
		ConnContext:       c.with,
		BaseContext:       func(net.Listener) context.Context { return running },
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      90 * time.Second, // a request may wait for a robot; streams set their own
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(f.log.Handler(), slog.LevelWarn),
	}
	if f.certificates.http != nil {
		s.TLSConfig = f.certificates.http.Config()
	}
	return s
}

// closeListeners closes the addresses after a failed start.
func (f *Fleet) closeListeners() error {
	var errs []error
	for _, l := range []net.Listener{f.web.listener, f.web.robotsListener, f.web.metricsListener} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	return errors.Join(errs...)
}

// shutdownHTTP shuts the servers down, and closes them if that takes too long.
func (f *Fleet) shutdownHTTP(ctx context.Context) error {
	var errs []error
	for _, s := range []*http.Server{f.web.server, f.web.robotsServer, f.web.metricsServer} {
		if s == nil {
			continue
		}
		err := s.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = s.Close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (f *Fleet) routes() http.Handler {
	mux := http.NewServeMux()
	f.web.mux = mux
	api.Register(mux, f.deps())
	operations := api.Operations()
	f.web.operations = operations
	f.web.metrics = f.metricsHandler()
	if f.cfg.Metrics == MetricsOnHTTP {
		mux.Handle("GET "+metricsPath, onlyWhoSeesAll(f.web.metrics))
	}
	mux.Handle("/", console.Handler(f.cfg.base, func(r *http.Request) bool { return auth.Of(r.Context()).SignedIn() }))
	var who auth.Authenticator = f.accounts
	if f.cfg.Authenticator != nil {
		who = f.cfg.Authenticator
	}
	f.web.connections = newConnections(maxConnections, reservedConnections, maxShare)
	guarded := api.Audited(api.Guard(f.web.connections.admit(traceCaller(mux)), f.log, f.allowedHost, who), operations, f.auditQueue.Add)
	api.ServeStopSocket(mux, f.traced(guarded), time.Now, f.log)
	guarded = f.traced(f.observed(guarded))
	if f.certificates.http != nil || f.cfg.BehindProxy {
		guarded = overTLSOnly(guarded)
	}
	if !f.cfg.BehindProxy {
		return guarded
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from := forwardedFor(r); from.IsValid() {
			r = r.WithContext(r.Context())
			r.RemoteAddr = net.JoinHostPort(from.String(), "0")
		}
		guarded.ServeHTTP(w, r)
	})
}

// overTLSOnly tells browsers to use TLS with this host for a day, also if a person writes http://. A browser means every port of
// the host, which may have other pages, so not for longer.
func overTLSOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=86400")
		next.ServeHTTP(w, r)
	})
}

// forwardedFor is the address that the reverse proxy saw: the last one in the header, since the
// client may have sent others.
func forwardedFor(r *http.Request) netip.Addr {
	all := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	from, _ := netip.ParseAddr(strings.TrimSpace(all[len(all)-1]))
	return from
}

// allowedHost reports whether the Host header of a request may carry this name, besides those of
// loopback: pages whose name an attacker pointed to this machine may not use it (DNS rebinding).
func (f *Fleet) allowedHost(host string) bool {
	if slices.Contains(f.cfg.Hosts, host) {
		return true
	}
	if f.certificates.http == nil {
		return false
	}
	pair, err := f.certificates.http.Current()
	return err == nil && pair.Leaf.VerifyHostname(host) == nil
}

// listenForRobots binds the address of robotsServer.
func (f *Fleet) listenForRobots(ctx context.Context) error {
	if f.cfg.Enrol == "" || f.certificates.robots == nil || f.vault == nil {
		return nil // without certificate or keys the start has failed already
	}
	l, err := f.cfg.Listen(ctx, "tcp", f.cfg.Enrol)
	if err != nil {
		return fmt.Errorf("listen for robots on %s: %w", f.cfg.Enrol, err)
	}
	f.web.robotsListener = l
	f.log.Info("enrolment address open", "url", f.EnrolURL())
	return nil
}

// robotsServer makes the server at which robots request and renew certificates, fetch files
// and send flight records with them; it serves nothing else.
func (f *Fleet) robotsServer(running context.Context) *http.Server {
	files := api.RobotsOnly(f.deps(), f.web.mux)
	c := newConnections(maxRobotConnections, 0, 0)
	admitted := c.admit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := strings.TrimPrefix(r.URL.Path, api.Prefix); {
		case slices.Contains(api.EnrolPaths, path):
			f.web.mux.ServeHTTP(w, r)
		case r.Method == http.MethodGet && strings.HasPrefix(path, api.FilesPath), r.Method == http.MethodPut &&
			strings.HasPrefix(r.URL.Path, schema.RecordsPath):
			files.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	}))
	guarded := api.Audited(api.Guard(admitted, f.log, func(string) bool { return true }, auth.Robots{}), f.web.operations, f.auditQueue.Add)
	s := f.httpServer(running, guarded, c)
	s.TLSConfig = f.certificates.robots.Config(f.vault.Issuers()...)
	return s
}

// EnrolURL is where robots request certificates; empty without such an address.
func (f *Fleet) EnrolURL() string {
	if f.web.robotsListener == nil {
		return ""
	}
	if f.cfg.EnrolURL != "" {
		return f.cfg.EnrolURL
	}
	_, port, _ := net.SplitHostPort(f.web.robotsListener.Addr().String())
	host := "localhost"
	if pair, err := f.certificates.robots.Current(); err == nil {
		switch leaf := pair.Leaf; {
		case len(leaf.DNSNames) > 0:
			host = leaf.DNSNames[0]
		case len(leaf.IPAddresses) > 0:
			host = leaf.IPAddresses[0].String()
		}
	}
	return "https://" + net.JoinHostPort(host, port)
}
