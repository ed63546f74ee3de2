package server

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"time"

	"troupe/broker/access"
	"troupe/schema"
	"troupe/schema/profile"
)

// Config says where the broker listens and which clients it accepts. Zero durations and
// numbers mean the defaults in the comments.
type Config struct {
	// Addresses, such as 127.0.0.1:1883 or :0. Without a port, the usual one of the kind is
	// used. If all are empty, the broker accepts only in-process connections.
	MQTT, MQTTS, WS, WSS string
	HTTP                 string // of /healthz, /status, /clients and /metrics; empty: none
	// HTTPHosts are the host names accepted in HTTP requests besides localhost and any IP
	// address, such as that of a scraper's target.
	HTTPHosts []string
	// Pprof adds the profiles of package schema/profile to HTTP, which then has to be an address of this machine.
	Pprof bool

	// Plaintext allows MQTT, WS and HTTP on addresses that other machines can reach.
	Plaintext bool
	// Origins are the web origins from which browsers may connect, such as
	// https://console.example; if empty, none may.
	Origins []string

	// The clients that are accepted: users of Files.Users or Users, holders of certificates
	// signed by Files.ClientCA, or, with Dev instead of a users file, everybody without a
	// password. Dev is therefore refused on addresses that other machines can reach.
	Files Files
	Users *access.Users
	Dev   bool

	// Bus makes it the bus between robotd and the adapters of its units: every client may
	// use the topics of package schema/bus, and no others. It needs Dev, and so addresses that
	// other machines cannot reach.
	Bus bool

	Namespace schema.Namespace // troupe

	ConnectTimeout   time.Duration // 10 s from accept to CONNECT
	WriteTimeout     time.Duration // 1 s for 64 KiB to a client; the delays of several writes add up, see unsent.go
	DrainTimeout     time.Duration // 1 s from Close until clients that have not read everything are cut
	MaxClients       int           // 20000; every twentieth slot is reserved for clients of role stop and fleetd instances
	MaxPerName       int           // 64 connections of one name; a robot's ids are three: its own, for blobs, for robotd doctor
	MaxWaiting       int           // 2048 connections that have not sent CONNECT
	MaxWaitingIP     int           // 512 of them from one address, which may be the NAT of a whole fleet
	MaxAccepts       int           // 1000 connections a second, four times that at once
	MaxAcceptsIP     int           // 250 of them from one address, four times that at once
	RobotRate        int           // 50 messages a second, twice that at once; answers and presence are not counted
	RobotBytes       int           // 64 KiB of messages a second, four times that at once, which is more than all its documents
	RobotConnects    int           // 15 connects of a robot at once, then one every 3 s
	MaxQueued        int           // 8192 messages in the queue of one client; delivery.go says what happens beyond
	MaxQueuedRobot   int           // 512 messages, at most MaxQueued, in the queue of a robot; each takes 8 bytes while it is empty, too
	MaxQueuedFleetd  int           // 32768 messages, at least MaxQueued, in the queue of a fleetd instance, which hears all robots at once
	MaxInflight      int           // 65535 deliveries to one client that it has not acknowledged; also the maximum
	MaxRetainedBytes int64         // 1 GiB of retained documents
	CommandRate      int           // 20 commands a second of one sender to each robot, twice that at once; stops are not counted
	FrameRate        int           // 50 frames of manual driving a second of one sender to each robot, and as many at once

	// Reload makes the broker read the files now, in addition to file system events.
	Reload <-chan os.Signal

	Logger *slog.Logger
}

// blobWriteTimeout is the write timeout of robots' blob connections: 256 KiB may take long
// on a slow network, and nothing waits behind a blob.
const blobWriteTimeout = 30 * time.Second

// connectInterval is the interval between connects of a robot that has used up its burst. A
// network that fails every few seconds uses it up as well, and a refused robot waits up to
// 10 s before it tries again. Together that is at most 15 s without a connection, during
// which a stop cannot reach the robot.
const connectInterval = 3 * time.Second

// maxPacket is the maximum size in bytes of a packet from a connected client.
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
	num(&c.MaxQueued, 8192)
	num(&c.MaxQueuedRobot, min(512, c.MaxQueued))
	num(&c.MaxQueuedFleetd, maxFullQueues*c.MaxQueued)
	num(&c.MaxInflight, math.MaxUint16)
	if c.MaxRetainedBytes == 0 {
		c.MaxRetainedBytes = 1 << 30
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
		return c, fmt.Errorf("namespace %q: want 1 to 32 of a-z, 0-9 and -", c.Namespace)
	case c.Users != nil && c.Files.Users != "" || c.Dev && (c.Users != nil || c.Files.Users != ""):
		return c, errors.New("--users and --dev exclude each other")
	case !c.Dev && c.Users == nil && c.Files.Users == "" && c.Files.ClientCA == "":
		return c, errors.New("no clients would be accepted: give --users, --client-ca or --dev")
	case c.Bus && !c.Dev:
		return c, errors.New("a robot's bus accepts every client of the machine: it needs Dev")
	case (c.Files.Cert == "") != (c.Files.Key == ""):
		return c, errors.New("--tls-cert and --tls-key go together")
	case c.Files.ClientCA != "" && c.MQTTS == "" && c.WSS == "":
		return c, errors.New("--client-ca needs --mqtts or --wss: clients present certificates only with TLS")
	case c.Files.CRL != "" && c.Files.ClientCA == "":
		return c, errors.New("--crl needs --client-ca: the list must be signed by that CA")
	case c.MaxInflight < 1 || c.MaxInflight > math.MaxUint16 || c.MaxQueued < 1 || c.MaxQueued > math.MaxInt32/maxFullQueues ||
		c.MaxQueuedRobot < 1 || c.MaxQueuedRobot > c.MaxQueued || c.MaxQueuedFleetd < c.MaxQueued || c.MaxQueuedFleetd > math.MaxInt32:
		return c, fmt.Errorf("%d queued and %d unacknowledged deliveries to a client: want at least 1, and at most %d unacknowledged",
			c.MaxQueued, c.MaxInflight, math.MaxUint16)
	}
	if err := c.checkAddresses(); err != nil {
		return c, err
	}
	if c.Pprof {
		if err := profile.CheckAddress(c.HTTP); err != nil {
			return c, fmt.Errorf("--pprof with --http %s: %w", c.HTTP, err)
		}
	}
	if c.Dev {
		u := access.Dev()
		c.Users = &u
	}
	return c, nil
}
