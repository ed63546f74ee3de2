package robot

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"troupe/robotd/page"
	"troupe/schema/verb"
)

// DefaultPage is the address of the robot's own page.
const DefaultPage = "127.0.0.1:8090"

// noPage switches the page off.
const noPage = "off"

// servePage serves the robot's own page until ctx ends. A robot without its page, such as one
// whose port is in use, is as good as any other.
func servePage(ctx context.Context, c *Config, robot page.Robot, metrics http.Handler, log *slog.Logger) {
	if c.Page.Listen == "" || c.Page.Listen == noPage {
		return
	}
	own, err := page.New(page.Config{ID: c.ID, Data: c.dir(), Hosts: c.Page.Hosts, Broker: c.Broker, Robot: robot, Now: time.Now, Logger: log,
		Metrics: metrics, MetricsToken: c.Page.MetricsToken, Pprof: c.Page.Pprof})
	if err != nil {
		log.Error("the robot has no page", "error", err)
		return
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Page.Listen)
	if err != nil {
		log.Error("the robot has no page: choose another address with --page", "error", err)
		return
	}
	at := listener.Addr().String()
	if a, ok := listener.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		log.Warn("the robot's page is open to the network, and its password is sent unencrypted", "address", at)
	}
	log.Info("page of the robot", "url", "http://"+at, "password_file", filepath.Join(c.dir(), page.PasswordFile))
	server := &http.Server{
		Handler: own, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		log.Error("the robot's page has ended", "error", err)
	}
}

// verbOf returns the verb of an id such as safety/stop.
func verbOf(id string) (group, name string, v verb.Verb) {
	group, name, _ = strings.Cut(id, "/")
	v, _ = verb.Of(group, name)
	return group, name, v
}
