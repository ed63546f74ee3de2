package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"golang.org/x/time/rate"

	"troupe/broker/access"
	"troupe/schema"
)

// Server is a running broker.
type Server struct {
	cfg       Config
	counters  counters
	files     *fileWatcher
	mochi     *mqtt.Server
	guard     *guard
	listener  *listener
	http      *status
	closing   chan struct{}  // closed when the broker closes
	system    sync.WaitGroup // publishes the topics below $SYS
	closeOnce func() error   // once
}

// New starts a broker. When it returns, the addresses are bound.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, fmt.Errorf("start broker: %w", err)
	}
	s := &Server{cfg: cfg, closing: make(chan struct{})}
	s.closeOnce = sync.OnceValue(s.stop)
	if s.files, err = newFileWatcher(cfg); err != nil {
		return nil, fmt.Errorf("start broker: %w", err)
	}
	endpoints, err := listenAll(cfg, s.files)
	if err != nil {
		return nil, fmt.Errorf("start broker: %w", err)
	}
	hln, err := bind(cfg.HTTP)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start broker: HTTP address: %w", err), closeEndpoints(endpoints))
	}
	s.mochi = mqtt.New(&mqtt.Options{
		Capabilities:             capabilities(cfg),
		Logger:                   slog.New(libraryLog{cfg.Logger.Handler()}),
		ClientNetReadBufferSize:  1, // the library reads nothing itself, see session.go
		ClientNetWriteBufferSize: 4 << 10,
	})
	s.guard = newGuard(cfg, s.files, s.mochi, &s.counters)
	if err := s.mochi.AddHook(s.guard, nil); err != nil {
		return nil, fmt.Errorf("start broker: add guard: %w", err)
	}
	s.listener = newListener(cfg, endpoints, s.guard)
	s.listener.open()
	s.system.Go(func() { s.publishSystem(s.closing) })
	s.files.onRefused = func() { s.counters.add(fileRefused) }
	s.files.onChanged = func() {
		s.guard.passwords.forgetChanged(s.files.current.Load().users)
		s.guard.recheckAll(s.guard.whyRefused)
		s.guard.deleteDocumentsOfFormerUsers()
	}
	if hln != nil {
		s.http = serveStatus(hln, s)
	}
	if err := s.files.watch(cfg.Files, cfg.Reload); err != nil {
		return nil, errors.Join(fmt.Errorf("start broker: %w", err), s.Close())
	}
	return s, nil
}

// bind listens on addr; it returns nil if addr is empty.
func bind(addr string) (net.Listener, error) {
	if addr == "" {
		return nil, nil
	}
	return net.Listen("tcp", addr)
}

// capabilities starts from the library's defaults, because a literal would disable every
// capability that it omits.
func capabilities(cfg Config) *mqtt.Capabilities {
	c := mqtt.NewDefaultServerCapabilities()
	c.MaximumClients = math.MaxInt64   // the guard's sessions limit them after authentication
	c.MaximumMessageExpiryInterval = 0 // otherwise the library deletes retained documents after a day
	c.MaximumPacketSize = maxPacket
	c.MaximumClientWritesPending = int32(cfg.MaxQueued)
	c.MaximumInflight = uint16(cfg.MaxInflight)
	c.TopicAliasMaximum = 0
	c.SharedSubAvailable = 0
	c.MinimumProtocolVersion = 4
	return c
}

// readBuffer and robotReadBuffer are the sizes of the buffers through which packets are read. A robot's messages are mostly smaller,
// and the rest of a larger one is read past the buffer.
const (
	readBuffer      = 16 << 10
	robotReadBuffer = 512
)

// withQueue returns srv, the same clients, topics and hooks, whose NewClient makes clients with a queue of
// another size. The library has one size for all, and a queue takes its whole size while it is empty:
// there are thousands of robots, each of which gets little, few clients that get much, and fleetd, which gets the most.
func withQueue(srv *mqtt.Server, size int) *mqtt.Server {
	same, options, limits := *srv, *srv.Options, *srv.Options.Capabilities
	limits.MaximumClientWritesPending = int32(size)
	options.Capabilities = &limits
	same.Options = &options
	return &same
}

func newGuard(cfg Config, k *fileWatcher, srv *mqtt.Server, n *counters) *guard {
	g := &guard{
		creds: k, ns: cfg.Namespace, bus: cfg.Bus, log: cfg.Logger, throttledLog: &logThrottle{log: cfg.Logger}, counters: n, srv: srv,
		rates: rates{
			robot: cfg.RobotRate, robotBurst: schema.RobotMessagesBurstSeconds * cfg.RobotRate, bytes: cfg.RobotBytes,
			bytesBurst: schema.RobotBytesBurstSeconds * cfg.RobotBytes,
			command:    cfg.CommandRate, frame: cfg.FrameRate, fleet: cfg.MaxClients,
			refused: 20, refusedBurst: 200,
			notice: 5, noticeBurst: 20,
			subscriptions: 256, robotSubscriptions: 32, search: 5, searchBurst: 1024,
		},
		passwords: newPasswords(),
	}
	g.robots, g.fleetds = withQueue(srv, cfg.MaxQueuedRobot), withQueue(srv, cfg.MaxQueuedFleetd)
	g.stacks, g.turns = newStacks(), make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	g.revoked.topic = cfg.Namespace.Topic(schema.TopicRevoked)
	g.revoked.now.Store(&access.Revoked{})
	g.senderRates.rates = g.rates
	g.clashNotices = rate.NewLimiter(rate.Limit(g.rates.notice), g.rates.noticeBurst)
	g.searches = limiters[string]{limit: rate.Limit(g.rates.search), burst: g.rates.searchBurst}
	g.connects = limiters[string]{limit: rate.Every(connectInterval), burst: cfg.RobotConnects}
	g.blobConnects = limiters[string]{limit: rate.Every(connectInterval), burst: cfg.RobotConnects}
	g.maxInflight, g.maxQueued = cfg.MaxInflight, cfg.MaxQueued
	g.retained.maxBytes = cfg.MaxRetainedBytes
	g.retained.find = func(topic string) (string, int) {
		pk, _ := srv.Topics.Retained.Get(topic)
		return pk.TopicName, len(pk.Payload)
	}
	g.sessions = newSessions(slots{total: cfg.MaxClients, reserved: cfg.MaxClients / 20, perName: cfg.MaxPerName})
	g.self = srv.NewClient(nil, mqtt.LocalListener, "$broker", true) // not a valid client id, so no client can have it
	return g
}

func newListener(cfg Config, endpoints []*endpoint, g *guard) *listener {
	srv := g.srv
	return &listener{
		limits: limits{
			connect: cfg.ConnectTimeout, write: cfg.WriteTimeout,
			total: cfg.MaxClients + cfg.MaxWaiting, waiting: cfg.MaxWaiting, waitingIP: cfg.MaxWaitingIP, perSecond: cfg.MaxAccepts,
			perSecondIP: cfg.MaxAcceptsIP,
		},
		acceptRate:   rate.NewLimiter(rate.Limit(cfg.MaxAccepts), acceptBurst*cfg.MaxAccepts),
		acceptRateIP: limiters[netip.Addr]{limit: rate.Limit(cfg.MaxAcceptsIP), burst: acceptBurst * cfg.MaxAcceptsIP},
		refusalLog:   rate.Sometimes{First: 10, Interval: time.Second},
		log:          cfg.Logger,
		counters:     g.counters,
		endpoints:    endpoints,
		conns:        map[*conn]struct{}{},
		waiting:      map[netip.Addr]map[*conn]struct{}{},
		establish:    g.serve,
		onClose:      g.stacks.close,
		onExpiry:     g.expired,
		onEnd: func(c *conn) {
			g.countLost(c)
			g.unroute(c)
			if w := c.client.Load(); w != nil {
				g.sessions.drop(w.ClientID, c)
			}
		},
		cleanUp: func(c *conn) {
			g.searched(c)
			for _, cl := range srv.Clients.GetAll() {
				if connOf(cl) == c {
					g.sendWillOf(cl)
					srv.UnsubscribeClient(cl)
					srv.Clients.Delete(cl.ID)
				}
			}
		},
	}
}

// Addr is the bound MQTT address, empty for a broker without one.
func (s *Server) Addr() string { return s.AddrOf("mqtt") }

// AddrOf is the bound address of a kind (mqtt, mqtts, ws, wss); empty without one.
func (s *Server) AddrOf(kind string) string {
	for _, d := range s.listener.endpoints {
		if d.kind == kind {
			return d.ln.Addr().String()
		}
	}
	return ""
}

// HTTPAddr is the bound HTTP address; empty without one.
func (s *Server) HTTPAddr() string {
	if s.http == nil {
		return ""
	}
	return s.http.addr
}

// Dial opens an in-process connection, which goes through the same listener and guard as
// any other.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ours, theirs := newPipe()
	s.listener.start(ours, nil)
	return theirs, nil
}

// Close stops accepting messages, delivers accepted ones for at most DrainTimeout, ends
// all connections and returns when their goroutines have ended. No wills are sent: no
// client was lost, and every subscriber loses its own connection at the same moment and
// knows that it no longer knows anything. Further calls return the same result.
func (s *Server) Close() error { return s.closeOnce() }

func (s *Server) stop() error {
	s.guard.closing.Store(true)
	close(s.closing)
	err := s.files.close()
	if s.http != nil {
		err = errors.Join(err, s.http.close())
	}
	s.listener.stopAccepting()
	s.guard.passwords.close()
	s.drain(s.cfg.DrainTimeout)
	s.hangUp()
	s.listener.close()
	s.system.Wait()
	err = errors.Join(err, s.mochi.Close())
	s.guard.throttledLog.close()
	return err
}

// Run serves until ctx ends. ready, if not nil, is called once all addresses are bound.
func Run(ctx context.Context, cfg Config, ready func(*Server)) error {
	s, err := New(cfg)
	if err != nil {
		return err
	}
	if ready != nil {
		ready(s)
	}
	<-ctx.Done()
	return s.Close()
}
