package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"golang.org/x/time/rate"

	"troupe/broker/access"
	"troupe/schema"
)

// Config says where the broker listens and whom it takes. Zero durations and
// numbers mean the defaults named beside them.
type Config struct {
	// Addresses, such as 127.0.0.1:1883 or :0; without a port the one that is
	// usual for the kind. None at all: only within the process.
	MQTT, MQTTS, WS, WSS string
	HTTP                 string // of /healthz, /status, /clients and /metrics; empty: none
	// HTTPHosts are the names under which HTTP is asked besides localhost and any IP
	// address, such as that of a scraper's target.
	HTTPHosts []string

	// Plaintext lets others than this machine reach MQTT, WS and HTTP.
	Plaintext bool
	// Origins are the pages that browsers may connect for, such as
	// https://console.example; none of them without.
	Origins []string

	// Who is taken: Files.Users or Users, holders of certificates that
	// Files.ClientCA signed, or, instead of a users file, everybody. Dev takes
	// everybody without a password, and so is refused on addresses that others
	// can reach.
	Files Files
	Users *access.Users
	Dev   bool

	Namespace schema.Namespace // troupe

	ConnectTimeout time.Duration // 10 s from accept to CONNECT
	WriteTimeout   time.Duration // 1 s for 64 KiB to a client, and for all that it is slower together
	DrainTimeout   time.Duration // 1 s from Close until those are cut who have not taken all that was sent to them
	MaxClients     int           // 20000, and of them every twentieth place kept for who stops and for fleetd instances
	MaxPerName     int           // 64 connections of one name; a robot's ids are two
	MaxWaiting     int           // 2048 connections that have not said CONNECT
	MaxWaitingIP   int           // 512 of them from one address, behind which there may be a fleet
	MaxAccepts     int           // 1000 connections a second, four times that at once
	MaxAcceptsIP   int           // 250 of them from one address, four times that at once
	RobotRate      int           // 50 messages a second, twice that at once; answers and presence are not counted
	RobotBytes     int           // 64 KiB a second of them, four times that at once, which is more than all its documents
	RobotConnects  int           // 15 connects of a robot at once, then one every 3 s
	MaxPending     int           // 8192 messages in the queue of one client; see delivery.go for more than that
	MaxInflight    int           // 65535 deliveries to one client that it has not acknowledged, which is also the most
	MaxKept        int64         // 1 GiB of retained documents
	CommandRate    int           // 20 commands a second of one sender to each robot, twice that at once; stops are not counted
	FrameRate      int           // 50 frames a second of one sender who drives a robot manually, and as many at once

	// Reload has the files read now, whatever the file system tells of them.
	Reload <-chan os.Signal

	Logger *slog.Logger
}

// blobWriteTimeout is the write timeout of robots' blob connections: 256 KiB may
// take long on a poor line, and nobody waits behind it.
const blobWriteTimeout = 30 * time.Second

// flapPause is how long a robot waits between connects once it has used up those
// that it may make at once. A line that breaks every few seconds uses them up too, and
// a robot that is refused waits for up to 10 s before it tries again: with both it is
// back within 15 s, for there may be a stop for it.
const flapPause = 3 * time.Second

// maxPacket bounds packets of clients that are connected.
const maxPacket = 512 << 10

func (c Config) complete() (Config, error) {
	num := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	num(&c.MaxClients, 20000)
	num(&c.MaxPerName, 64)
	num(&c.MaxWaiting, 2048)
	num(&c.MaxWaitingIP, 512)
	num(&c.MaxAccepts, 1000)
	num(&c.MaxAcceptsIP, 250)
	num(&c.RobotRate, schema.RobotMessages)
	num(&c.RobotBytes, schema.RobotBytes)
	num(&c.CommandRate, 20)
	num(&c.FrameRate, 50)
	num(&c.RobotConnects, 15)
	num(&c.MaxPending, 8192)
	num(&c.MaxInflight, math.MaxUint16)
	if c.MaxKept == 0 {
		c.MaxKept = 1 << 30
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 10 * time.Second
	}
	if c.WriteTimeout == 0 {
		c.WriteTimeout = time.Second
	}
	if c.DrainTimeout == 0 {
		c.DrainTimeout = time.Second
	}
	if c.Namespace == "" {
		c.Namespace = schema.DefaultNamespace
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case !schema.ValidNamespace(string(c.Namespace)):
		return c, fmt.Errorf("name space %q: want a-z, 0-9 and -, at most 32", c.Namespace)
	case c.Users != nil && c.Files.Users != "" || c.Dev && (c.Users != nil || c.Files.Users != ""):
		return c, errors.New("one of a users file and the dev switch is taken, and not both")
	case !c.Dev && c.Users == nil && c.Files.Users == "" && c.Files.ClientCA == "":
		return c, errors.New("one of a users file and the dev switch is needed, or a CA of clients' certificates")
	case (c.Files.Cert == "") != (c.Files.Key == ""):
		return c, errors.New("--tls-cert and --tls-key go together")
	case c.Files.ClientCA != "" && c.MQTTS == "" && c.WSS == "":
		return c, errors.New("--client-ca needs --mqtts or --wss: certificates are shown nowhere else")
	case c.Files.CRL != "" && c.Files.ClientCA == "":
		return c, errors.New("--crl needs --client-ca, whose signature it carries")
	case c.MaxInflight < 1 || c.MaxInflight > math.MaxUint16 || c.MaxPending < 1 || c.MaxPending > math.MaxInt32:
		return c, fmt.Errorf("%d pending and %d unacknowledged deliveries to a client: want at least 1, and at most %d unacknowledged", c.MaxPending, c.MaxInflight, math.MaxUint16)
	}
	if err := c.checkAddresses(); err != nil {
		return c, err
	}
	if c.Dev {
		u := access.Dev()
		c.Users = &u
	}
	return c, nil
}

// Server is a running broker.
type Server struct {
	cfg      Config
	counters counters
	keeper   *fileWatcher
	mochi    *mqtt.Server
	guard    *guard
	listen   *listener
	http     *status
	shut     func() error // once
}

// New starts a broker: when it returns, the addresses are bound.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, fmt.Errorf("start broker: %w", err)
	}
	s := &Server{cfg: cfg}
	s.shut = sync.OnceValue(s.stop)
	if s.keeper, err = newKeeper(cfg); err != nil {
		return nil, fmt.Errorf("start broker: %w", err)
	}
	doors, err := openDoors(cfg, s.keeper)
	if err != nil {
		return nil, fmt.Errorf("start broker: %w", err)
	}
	hln, err := bind(cfg.HTTP)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start broker: HTTP address: %w", err), closeDoors(doors))
	}
	s.mochi = mqtt.New(&mqtt.Options{
		Capabilities:             capabilities(cfg),
		Logger:                   slog.New(quiet{cfg.Logger.Handler()}),
		SysTopicResendInterval:   60,
		ClientNetReadBufferSize:  4 << 10,
		ClientNetWriteBufferSize: 4 << 10,
	})
	s.guard = newGuard(cfg, s.keeper, s.mochi, &s.counters)
	if err := s.mochi.AddHook(s.guard, nil); err != nil {
		return nil, fmt.Errorf("start broker: add guard: %w", err)
	}
	s.listen = newListener(cfg, doors, s.guard)
	if err := s.mochi.Serve(); err != nil {
		return nil, fmt.Errorf("start broker: %w", err)
	}
	s.listen.open()
	s.keeper.refused = func() { s.counters.add(fileRefused) }
	s.keeper.changed = func() {
		s.guard.hashing.forget(s.keeper.now.Load().users)
		s.guard.rejudge(s.guard.wrong)
		s.guard.clearLeft(s.keeper.now.Load().users)
	}
	if hln != nil {
		s.http = serveStatus(hln, s)
	}
	if err := s.keeper.watch(cfg.Files, cfg.Reload); err != nil {
		return nil, errors.Join(fmt.Errorf("start broker: %w", err), s.Close())
	}
	return s, nil
}

// bind listens on addr, or nowhere when it is empty.
func bind(addr string) (net.Listener, error) {
	if addr == "" {
		return nil, nil
	}
	return net.Listen("tcp", addr)
}

// capabilities starts from the library's defaults, because a literal would
// switch off whatever it leaves out.
func capabilities(cfg Config) *mqtt.Capabilities {
	c := mqtt.NewDefaultServerCapabilities()
	c.MaximumClients = math.MaxInt64   // sessions count them, when it is known who they are
	c.MaximumMessageExpiryInterval = 0 // else retained documents are deleted when they are a day old
	c.MaximumPacketSize = maxPacket
	c.MaximumClientWritesPending = int32(cfg.MaxPending)
	c.MaximumInflight = uint16(cfg.MaxInflight)
	c.TopicAliasMaximum = 0
	c.SharedSubAvailable = 0
	c.MinimumProtocolVersion = 4
	return c
}

func newGuard(cfg Config, k *fileWatcher, srv *mqtt.Server, n *counters) *guard {
	g := &guard{
		creds: k, ns: cfg.Namespace, log: cfg.Logger, told: &logThrottle{log: cfg.Logger}, counters: n, srv: srv,
		rates: rates{
			robot: cfg.RobotRate, robotBurst: schema.RobotMessagesBurst * cfg.RobotRate, bytes: cfg.RobotBytes, bytesBurst: schema.RobotBytesBurst * cfg.RobotBytes,
			command: cfg.CommandRate, frame: cfg.FrameRate, fleet: cfg.MaxClients,
			refused: 20, refusedBurst: 200,
			notice: 5, noticeBurst: 20,
			subscriptions: 256, robotSubscriptions: 32, search: 5, searchBurst: 1024,
		},
		hashing: newPasswords(),
	}
	g.revoked.topic = cfg.Namespace.Topic(schema.TopicRevoked)
	g.revoked.now.Store(&access.Revoked{})
	g.paces.rates = g.rates
	g.clashes = rate.NewLimiter(rate.Limit(g.rates.notice), g.rates.noticeBurst)
	g.searches = limiters[string]{each: rate.Limit(g.rates.search), burst: g.rates.searchBurst}
	g.connects = limiters[string]{each: rate.Every(flapPause), burst: cfg.RobotConnects}
	g.maxInflight, g.maxPending = cfg.MaxInflight, cfg.MaxPending
	g.kept.most = cfg.MaxKept
	g.kept.size = func(topic string) int {
		pk, _ := srv.Topics.Retained.Get(topic)
		return len(pk.Payload)
	}
	g.live = newSessions(places{most: cfg.MaxClients, kept: cfg.MaxClients / 20, each: cfg.MaxPerName})
	g.self = srv.NewClient(nil, mqtt.LocalListener, "$broker", true) // no client can have this id
	return g
}

func newListener(cfg Config, doors []*endpoint, g *guard) *listener {
	srv := g.srv
	return &listener{
		limits: limits{
			connect: cfg.ConnectTimeout, write: cfg.WriteTimeout,
			total: cfg.MaxClients + cfg.MaxWaiting, waiting: cfg.MaxWaiting, waitingIP: cfg.MaxWaitingIP, each: cfg.MaxAccepts, eachIP: cfg.MaxAcceptsIP,
		},
		pace:      rate.NewLimiter(rate.Limit(cfg.MaxAccepts), acceptBurst*cfg.MaxAccepts),
		paceIP:    limiters[netip.Addr]{each: rate.Limit(cfg.MaxAcceptsIP), burst: acceptBurst * cfg.MaxAcceptsIP},
		complain:  rate.Sometimes{First: 10, Interval: time.Second},
		log:       cfg.Logger,
		counters:  g.counters,
		doors:     doors,
		conns:     map[*conn]struct{}{},
		waiting:   map[netip.Addr]map[*conn]struct{}{},
		establish: func(c *conn) error { return srv.EstablishConnection("tcp", c) },
		expired:   g.expired,
		ended: func(c *conn) {
			g.settle(c)
			g.unroute(c)
			if w := c.who.Load(); w != nil {
				g.live.drop(w.ClientID, c)
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

// AddrOf is the bound address of a kind (mqtt, mqtts, ws, wss), or empty.
func (s *Server) AddrOf(kind string) string {
	for _, d := range s.listen.doors {
		if d.kind == kind {
			return d.ln.Addr().String()
		}
	}
	return ""
}

// HTTPAddr is the bound HTTP address, empty for a broker without one.
func (s *Server) HTTPAddr() string {
	if s.http == nil {
		return ""
	}
	return s.http.addr
}

// Dial connects from within the process, through the same listener and guard as
// everybody else.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ours, theirs := newPipe()
	s.listen.start(ours, nil)
	return theirs, nil
}

// Close takes nothing more, lets what was taken go out for at most DrainTimeout,
// ends all connections and returns when their goroutines are gone. No will is
// sent: nobody was lost, and whoever is subscribed loses his own connection in
// the same moment and knows that from then on he knows nothing. Closing twice is
// closing once.
func (s *Server) Close() error { return s.shut() }

func (s *Server) stop() error {
	s.guard.closing.Store(true)
	err := s.keeper.close()
	if s.http != nil {
		err = errors.Join(err, s.http.close())
	}
	s.listen.refuse()
	s.guard.hashing.close()
	s.drain(s.cfg.DrainTimeout)
	s.hangUp()
	s.listen.close()
	err = errors.Join(err, s.mochi.Close())
	s.guard.told.close()
	return err
}

// Run serves until ctx ends. ready, if given, is called once all addresses are
// bound.
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
