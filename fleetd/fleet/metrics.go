package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/command"
	"troupe/fleetd/metrics"
	"troupe/schema/profile"
)

// metricsPath is where Prometheus looks by default.
const metricsPath = "/metrics"

// MetricsOnHTTP is the value of Config.Metrics for the address of the API.
const MetricsOnHTTP = "http"

// metricsHandler answers scrapes.
func (f *Fleet) metricsHandler() http.Handler {
	return f.metrics.Handler(metrics.Deps{
		Now: f.Now, Started: f.started, Dir: filepath.Dir(f.cfg.Spool), Status: f.Status, View: f.view, Dispatcher: f.dispatcher,
		Teleop:       f.teleop,
		Certificates: f.identity.Own, Store: f.Store, Backups: &change.Backups{Deps: f.changes()}, Measurer: f.measurer,
		Notifier: f.notify.notifier, Tracer: f.tracer,
	})
}

// onlyWhoSeesAll refuses requests of people and programs that may not see every robot: metrics are of the whole fleet.
func onlyWhoSeesAll(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch p := auth.Of(r.Context()); {
		case !p.SignedIn():
			api.Write(w, api.KindSignIn.Problem("metrics need an access token",
				"fleetd token create NAME --role viewer makes one; a scraper sends it as Authorization: Bearer"))
		case !p.May(auth.View) || !p.SeesAll():
			api.Write(w, api.KindNotAllowed.Problem("metrics are of the whole fleet, and the token is for some of its sites",
				"use a token of a user who sees all sites"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// listenForMetrics binds the address of metricsServer.
func (f *Fleet) listenForMetrics(ctx context.Context) error {
	if f.cfg.Metrics == "" || f.cfg.Metrics == MetricsOnHTTP {
		return nil
	}
	l, err := f.cfg.Listen(ctx, "tcp", f.cfg.Metrics)
	if err != nil {
		return fmt.Errorf("listen for scrapes of metrics on %s: %w", f.cfg.Metrics, err)
	}
	f.web.metricsListener = l
	if reachable(l.Addr()) {
		f.log.Warn("metrics can be read by others on the network, who need no password", "address", l.Addr().String())
	}
	f.log.Info("metrics", "url", f.MetricsURL())
	return nil
}

// MetricsURL is where the metrics are; empty without an address of their own.
func (f *Fleet) MetricsURL() string {
	if f.web.metricsListener == nil {
		return ""
	}
	return "http://" + f.web.metricsListener.Addr().String() + metricsPath
}

// metricsServer makes the server for scrapes, which serves nothing else but profiles with Config.Pprof.
func (f *Fleet) metricsServer(running context.Context) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET "+metricsPath, f.web.metrics)
	if f.cfg.Pprof {
		profile.Register(mux)
	}
	c := newConnections(maxMetricsConnections, 0, 0)
	s := f.httpServer(running, f.probes(c.admit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !f.isOwnName(r.Host) { // a page that an attacker's name leads here could read them otherwise
			http.Error(w, fmt.Sprintf("host name %q is not allowed: start fleetd with --host for every name that a scraper uses", r.Host),
				http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	}))), c)
	s.TLSConfig = nil
	return s
}

// isOwnName reports whether a request with this Host was meant for this machine.
func (f *Fleet) isOwnName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	return host == "localhost" || net.ParseIP(host) != nil || f.allowedHost(host)
}

// checkMetrics refuses an address without a port before anything is opened.
func (c *Config) checkMetrics() error {
	if c.Pprof {
		if err := profile.CheckAddress(c.Metrics); err != nil {
			return fmt.Errorf("--pprof with --metrics %q: %w", c.Metrics, err)
		}
	}
	if c.Metrics == "" || c.Metrics == MetricsOnHTTP {
		return nil
	}
	if _, _, err := net.SplitHostPort(c.Metrics); err != nil {
		return errors.New("metrics " + c.Metrics + ": write host:port, such as 127.0.0.1:9102, or http for the address of --http")
	}
	return nil
}

// commandSettled notes a command whose state is not expected to change any more.
func (f *Fleet) commandSettled(ctx context.Context, c command.Command, now time.Time) {
	f.metrics.CommandSettled(c, now)
	f.log.DebugContext(ctx, "command settled", "command", c.ID, "batch", c.Batch, "robot", c.Robot, "verb", c.Verb, "state", c.State,
		"because", c.Because)
}
