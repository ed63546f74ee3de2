package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"

	"troupe/broker/link"
	"troupe/fleetd/accounts"
	"troupe/fleetd/alerts"
	"troupe/fleetd/api"
	"troupe/fleetd/auditqueue"
	"troupe/fleetd/certificate"
	"troupe/fleetd/decommissioner"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/latch"
	"troupe/fleetd/measurer"
	"troupe/fleetd/metrics"
	"troupe/fleetd/notifier"
	"troupe/fleetd/publish"
	"troupe/fleetd/records"
	"troupe/fleetd/replica"
	"troupe/fleetd/retained"
	"troupe/fleetd/revocation"
	"troupe/fleetd/rolloutrunner"
	"troupe/fleetd/scheduler"
	"troupe/fleetd/stopbutton"
	"troupe/fleetd/store"
	"troupe/fleetd/teleop"
	"troupe/fleetd/trace"
	"troupe/fleetd/vault"
	"troupe/fleetd/view"
	"troupe/schema"
)

// shutdownWithin bounds the shutdown of the HTTP servers.
const shutdownWithin = 2 * time.Second

// Fleet is one running instance of fleetd, not the robots: several Fleets can serve one fleet of
// robots, whose id is that of their common database.
type Fleet struct {
	cfg     Config
	ns      schema.Namespace
	log     *slog.Logger
	boot    string
	started time.Time

	view          *view.View
	persister     *view.Persister
	leadership    *replica.Leadership
	instances     replica.Instances
	received      atomic.Int64 // messages
	publisher     *publish.Publisher
	dispatcher    *dispatch.Dispatcher
	questions     *dispatch.Questions
	records       *records.Keeper
	auditor       *dispatch.Auditor
	auditQueue    *auditqueue.Queue
	orphanEnder   *dispatch.OrphanEnder
	releases      latch.Releases
	stops         *latch.Stops
	retained      *retained.Sweeper
	revocations   *revocation.Publisher
	decommissions *decommissioner.Decommissioner
	rollouts      *rolloutrunner.Runner
	scheduler     *scheduler.Scheduler
	measurer      *measurer.Measurer
	teleop        *teleop.Hub
	metrics       *metrics.Collector
	tracer        *trace.Tracer // nil without traces
	notify        notifying

	vault        *vault.Vault // nil without the fleet's keys
	certificates served
	identity     *certificate.Identity
	accounts     *accounts.Keeper
	web          web

	brokerLink
	beats  atomic.Int64 // number of the last heartbeat
	health health       // of database and broker; has the database

	end     context.CancelFunc
	running sync.WaitGroup
	failed  chan error
}

// brokerLink is the connection of the instance to the broker.
type brokerLink struct {
	link         *link.Link
	intake       *intake
	opened       chan struct{} // closed when link is set
	wasConnected atomic.Bool   // since the start
}

// served are the certificates with which fleetd serves; nil without TLS and without such an address.
type served struct {
	http   *certificate.Server
	robots *certificate.Server // that of the address for robots
}

// notifying lists alerts and sends notifications about them.
type notifying struct {
	alerts   *alerts.Source
	buttons  *stopbutton.Buttons
	notifier *notifier.Notifier
	sender   *notifier.Sender
	sealer   *vault.Sealer
}

// Run serves until ctx ends. It calls ready, if given, once the address is bound.
func Run(ctx context.Context, cfg Config, ready func(*Fleet)) error {
	f, err := Start(ctx, cfg)
	if err != nil {
		return err
	}
	if ready != nil {
		ready(f)
	}
	select {
	case <-ctx.Done():
		return f.Close()
	case err := <-f.failed:
		return errors.Join(err, f.Close())
	}
}

// Start starts an instance. When it returns, the address is bound, the database is open or
// known to be unreachable, and the instance is connecting to the broker. It runs until Close;
// ctx bounds the start only.
func Start(ctx context.Context, cfg Config) (started *Fleet, err error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	now := time.Now()
	f := &Fleet{
		cfg: cfg, ns: cfg.Namespace, log: cfg.Logger, boot: uuid.NewString(), started: now, failed: make(chan error, 1),
		notify:     notifying{buttons: stopbutton.New(cfg.StopButtons)},
		brokerLink: brokerLink{opened: make(chan struct{})},
		health: health{
			log:      cfg.Logger,
			database: api.Health{Why: "not opened yet", Since: schema.TimeOf(now)},
			broker:   api.Health{Why: "not connected yet", Since: schema.TimeOf(now)},
		},
	}
	if cfg.Dial == nil && cfg.Password != "" && slices.ContainsFunc(append([]string{cfg.Broker}, cfg.FallbackBrokers...), link.IsPlaintext) {
		f.log.Warn("password is sent unencrypted, so others on the network can read it: use mqtts or wss", "broker", cfg.Broker)
	}
	if cfg.Traces {
		if f.tracer, err = trace.New(ctx, trace.Config{Log: f.log, Instance: cfg.Name, Version: cfg.Version}); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				f.tracer.Close()
			}
		}()
	}
	f.metrics = metrics.New()
	f.leadership = f.newLeadership()
	f.view = view.New(view.Deps{Namespace: f.ns, Name: cfg.Name, Now: time.Now})
	f.persister = f.newPersister()
	f.makeDispatcher()
	f.publisher = f.newPublisher()
	f.scheduler = f.newScheduler()
	f.measurer = f.newMeasurer()
	f.teleop = f.newTeleop()
	f.records = f.newRecords()
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	f.end = stop
	if err := errors.Join(f.openVault(now), f.listen(ctx), f.listenForRobots(ctx), f.listenForMetrics(ctx)); err != nil {
		stop()
		return nil, errors.Join(err, f.closeListeners())
	}
	f.makeIdentity()
	f.makeRevocations()
	f.rollouts = f.newRolloutRunner()
	f.makeNotifier()
	if err := f.openDatabase(ctx); err != nil && !f.mayComeLater(err) {
		stop()
		return nil, errors.Join(err, f.closeListeners())
	}
	f.accounts.Restore() // if the database was not read
	if f.stops, err = f.newStops(); err != nil {
		stop()
		return nil, errors.Join(err, f.closeListeners(), f.closeDatabase())
	}
	f.retained = f.newSweeper()
	f.makeServers(running)
	if err := f.connect(context.WithoutCancel(ctx)); err != nil { // ended by Close only, after the last messages
		stop()
		return nil, errors.Join(err, f.closeListeners(), f.closeDatabase(), f.stops.Close())
	}
	f.begin(&f.running, "heartbeat", func() { f.beat(running) })
	f.begin(&f.running, "dispatcher", func() { f.dispatcher.Run(running) })
	f.begin(&f.running, "stops", func() { f.stops.Run(running) })
	f.begin(&f.running, "database", func() { f.runWithDatabase(running) })
	f.begin(&f.running, "leadership", func() { f.leadership.Run(running) })
	f.begin(&f.running, "accounts", func() { f.accounts.Run(running) })
	f.begin(&f.running, "records", func() { f.records.Run(running) })
	if f.web.listener != nil {
		f.running.Go(func() { f.serve(f.web.server, f.web.listener, f.cfg.HTTPFiles.Cert != "") })
	}
	if f.web.robotsListener != nil {
		f.running.Go(func() { f.serve(f.web.robotsServer, f.web.robotsListener, true) })
	}
	if f.web.metricsListener != nil {
		f.running.Go(func() { f.serve(f.web.metricsServer, f.web.metricsListener, false) })
	}
	return f, nil
}

// URL is where fleetd serves; empty without an address.
func (f *Fleet) URL() string {
	if f.web.listener == nil {
		return ""
	}
	scheme := "http"
	if f.cfg.HTTPFiles.Cert != "" {
		scheme = "https"
	}
	return scheme + "://" + f.web.listener.Addr().String()
}

// Handler answers requests from within the process.
func (f *Fleet) Handler() http.Handler { return f.web.handler }

// Close shuts fleetd down in order: first requests end, then the last writes are made, then
// its presence becomes offline.
func (f *Fleet) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownWithin)
	defer cancel()
	f.end()                                                   // this ends streams, too
	errs := []error{f.teleop.Close(ctx), f.shutdownHTTP(ctx)} // robots that are driven stand first
	f.running.Wait()
	f.leadership.End()
	errs = append(errs, f.link.Close(context.Background()))
	f.intake.close()
	errs = append(errs, f.closeDatabase(), f.stops.Close())
	f.tracer.Close()
	return errors.Join(errs...)
}

// connect opens the link to the broker, which reconnects by itself.
func (f *Fleet) connect(ctx context.Context) (err error) {
	f.intake = newIntake(f.log, f.readRobot)
	f.link, err = link.Open(ctx, link.Config{
		URL: f.cfg.Broker, FallbackURLs: f.cfg.FallbackBrokers, Dial: f.cfg.Dial, TLS: f.identity.TLS, Random: f.cfg.Random, Engine: f.cfg.Engine,
		Name: f.cfg.Name, Password: f.cfg.Password,
		ReturnToFirst: true, // two instances on one node of a cluster are both lost with it
		Presence:      func(session string) link.Message { return f.heartbeat(session, time.Now()) },
		Subscribe:     subscriptions(f.ns, f.cfg.Name),
		Rival:         f.provesRival,
		OnMessage:     f.receive,
		OnState:       f.linked,
		Queue:         65536,
		Logger:        f.log,
	})
	close(f.opened)
	if err != nil {
		f.intake.close()
	}
	return err
}

// open makes another connection of this instance, whose client id ends with suffix.
func (f *Fleet) open(ctx context.Context, suffix string, cfg link.Config) (*link.Link, error) {
	cfg.URL, cfg.Dial, cfg.TLS, cfg.Random = cmp.Or(cfg.URL, f.currentBroker()), f.cfg.Dial, f.identity.TLS, f.cfg.Random
	cfg.Engine, cfg.Name, cfg.Suffix, cfg.Password = f.cfg.Engine, f.cfg.Name, suffix, f.cfg.Password
	return link.Open(ctx, cfg)
}

// currentBroker is the broker to which further connections of this instance go: the one of
// the link. If the link goes to another broker, its session changes, and a client that opened a
// connection opens a new one.
func (f *Fleet) currentBroker() string { return cmp.Or(f.link.URL(), f.cfg.Broker) }

// linked handles a change of the link's state.
func (f *Fleet) linked(s link.State) {
	<-f.opened
	f.intake.flush() // what robots said before the change counts before it
	now := time.Now()
	up := s.Phase == link.Up
	if s.Contested && !up {
		f.log.Error("another client connects under this instance's name: look for a second fleetd of this name and give it a name of its own",
			"name", f.cfg.Name, "wait", s.Wait)
	}
	changed := f.health.linked(s, f.cfg.Name, now)
	if changed {
		f.presenceChanged(f.view.Connected(up, now)...)
	}
	f.instances.SetConnected(up, now)
	f.notify.buttons.SetConnected(up, now)
	f.leadership.ConnectionChanged()
	if up {
		f.wasConnected.Store(true)
		f.teleop.Follow(f.currentBroker())
	}
}

// provesRival reports whether m proves that another client uses this instance's name: it is the
// broker's notice that a client has taken over this instance's session.
func (f *Fleet) provesRival(m link.Message) bool {
	if row, _, ok := f.ns.Match(m.Topic); !ok || row.Kind != schema.TopicNotice {
		return false
	}
	n, problems := schema.Decode[schema.Notice](m.Payload)
	return len(problems) == 0 && n.Reason == schema.ReasonTakenOver
}

// runWithDatabase waits for the database, and then runs all loops that need it.
func (f *Fleet) runWithDatabase(ctx context.Context) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 500*time.Millisecond, 10*time.Second
	for {
		if db, err := f.Store(); err == nil {
			if err = f.load(ctx, db); err == nil {
				f.work(ctx, db)
				return
			}
			f.health.databaseFailed("state not read at the start", err)
		}
		timer := time.NewTimer(wait.NextBackOff())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if _, err := f.Store(); err != nil {
			_ = f.openDatabase(ctx) // openDatabase logs it, and Status shows it
		}
	}
}

// begin runs a part of fleetd in a goroutine of its own.
func (f *Fleet) begin(all *sync.WaitGroup, part string, run func()) {
	all.Go(func() {
		f.cfg.BeforePart(part)
		run()
	})
}

// work runs the loops that need the database until ctx ends.
func (f *Fleet) work(ctx context.Context, db *store.Store) {
	var all sync.WaitGroup
	f.begin(&all, "persister", func() { f.persister.Run(ctx, db) })
	f.begin(&all, "publisher", func() { f.publisher.Run(ctx, db) })
	f.begin(&all, "revocations", func() { f.revocations.Run(ctx, db) })
	f.begin(&all, "decommissions", func() { f.decommissions.Run(ctx, db) })
	f.begin(&all, "rollouts", func() { f.rollouts.Run(ctx, db) })
	f.begin(&all, "schedules", func() { f.scheduler.Run(ctx, db) })
	f.begin(&all, "measurements", func() { f.measurer.Run(ctx, db) })
	f.begin(&all, "notifications", func() { f.notify.notifier.Run(ctx, db) })
	f.begin(&all, "tidy", func() { f.tidy(ctx, db) })
	f.begin(&all, "changes", func() { f.followChanges(ctx, db) })
	f.begin(&all, "orphaned", func() { f.orphanEnder.Run(ctx, db) })
	f.begin(&all, "retained", func() { f.retained.Run(ctx, db) })
	f.begin(&all, "auditor", func() { f.auditor.Run(ctx, db) })
	f.begin(&all, "refusals", func() { f.auditQueue.Run(ctx, db) })
	f.begin(&all, "pruner", func() { f.newPruner().run(ctx, db) })
	all.Wait()
}

// load fills the view from the database, and continues unfinished commands.
func (f *Fleet) load(ctx context.Context, db *store.Store) error {
	if err := f.view.Reload(ctx, db); err != nil {
		return err
	}
	documents, err := db.Documents(ctx, "")
	if err != nil {
		return err
	}
	for _, d := range documents {
		f.view.LoadDocument(d)
	}
	now := time.Now()
	if err := f.dispatcher.ReadReleased(ctx, db, now); err != nil { // before: stops that were released are not sent again
		return err
	}
	return f.dispatcher.ResumeOwn(ctx, db, now)
}

// serve serves one address until Close.
func (f *Fleet) serve(server *http.Server, l net.Listener, encrypted bool) {
	var err error
	if encrypted {
		err = server.ServeTLS(l, "", "") // the TLS configuration has the certificate
	} else {
		err = server.Serve(l)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		select {
		case f.failed <- fmt.Errorf("serve HTTP: %w", err):
		default:
		}
	}
}
