package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"troupe/broker/websocket"
)

// endpoint is one address at which the broker listens. All endpoints share one listener
// with its deadlines and limits.
type endpoint struct {
	kind  string // mqtt, mqtts, ws or wss
	local bool   // only this machine reaches it
	ln    net.Listener
	// handshake performs the TLS and WebSocket handshakes on a new socket; nil if there are
	// none. It runs under the deadline for CONNECT.
	handshake func(net.Conn) (net.Conn, *tls.ConnectionState, error)
}

// endpointKinds are the kinds of endpoints, with their default ports.
var endpointKinds = []struct {
	kind, port    string
	encrypted, ws bool
	addr          func(*Config) *string
}{
	{"mqtt", "1883", false, false, func(c *Config) *string { return &c.MQTT }},
	{"mqtts", "8883", true, false, func(c *Config) *string { return &c.MQTTS }},
	{"ws", "8083", false, true, func(c *Config) *string { return &c.WS }},
	{"wss", "8084", true, true, func(c *Config) *string { return &c.WSS }},
}

// checkAddresses adds default ports, and refuses addresses where others could read or
// change the traffic.
func (c *Config) checkAddresses() error {
	for _, k := range endpointKinds {
		addr := k.addr(c)
		if *addr == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(*addr); err != nil && !strings.Contains(*addr, ":") {
			*addr = net.JoinHostPort(*addr, k.port)
		}
		switch {
		case c.Dev && !loopback(*addr):
			return fmt.Errorf("address %q: --dev accepts every client, so only addresses of this machine are allowed, such as 127.0.0.1:%s", *addr,
				k.port)
		case !k.encrypted && !c.Plaintext && !loopback(*addr):
			return fmt.Errorf("address %q: others could read and change messages to robots; use --%ss, or --plaintext on a network that you control",
				*addr, k.kind)
		case k.encrypted && c.Files.Cert == "":
			return fmt.Errorf("--%s needs --tls-cert and --tls-key", k.kind)
		}
	}
	switch {
	case c.Dev && !loopback(c.HTTP):
		return fmt.Errorf("address %q: --dev accepts every client, so only addresses of this machine are allowed, such as 127.0.0.1:9101", c.HTTP)
	case !c.Plaintext && !loopback(c.HTTP):
		return fmt.Errorf("address %q: others could read the state of the fleet; "+
			"use 127.0.0.1:9101, or --plaintext on a network that you control", c.HTTP)
	}
	return nil
}

// listenAll binds all addresses, or none.
func listenAll(cfg Config, k *fileWatcher) ([]*endpoint, error) {
	var endpoints []*endpoint
	for _, kind := range endpointKinds {
		addr := *kind.addr(&cfg)
		if addr == "" {
			continue
		}
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s address: %w", strings.ToUpper(kind.kind), err), closeEndpoints(endpoints))
		}
		endpoints = append(endpoints, &endpoint{kind: kind.kind, local: loopback(addr), ln: ln,
			handshake: handshakeOf(kind.encrypted, kind.ws, k, cfg.Origins)})
	}
	return endpoints, nil
}

func closeEndpoints(endpoints []*endpoint) error {
	var errs []error
	for _, d := range endpoints {
		errs = append(errs, d.ln.Close())
	}
	return errors.Join(errs...)
}

func handshakeOf(encrypted, ws bool, k *fileWatcher, origins []string) func(net.Conn) (net.Conn, *tls.ConnectionState, error) {
	if !encrypted && !ws {
		return nil
	}
	return func(c net.Conn) (_ net.Conn, state *tls.ConnectionState, err error) {
		if encrypted {
			t := tls.Server(c, k.current.Load().tls())
			if err := t.Handshake(); err != nil {
				return nil, nil, fmt.Errorf("TLS handshake: %w", err)
			}
			s := t.ConnectionState()
			c, state = t, &s
		}
		if ws {
			if c, err = websocket.Accept(c, origins); err != nil {
				return nil, nil, err
			}
		}
		return c, state, nil
	}
}

// handshake runs on the connection's own goroutine, under its deadline.
func (c *conn) handshake(deadline time.Time) error {
	if err := c.raw.SetDeadline(deadline); err != nil {
		return err
	}
	if c.endpoint == nil || c.endpoint.handshake == nil {
		return nil
	}
	inner, state, err := c.endpoint.handshake(c.raw)
	if err != nil {
		return err
	}
	c.Conn = inner
	if state != nil {
		c.chain, c.expires = state.PeerCertificates, endOf(state.VerifiedChains)
	}
	return c.Conn.SetReadDeadline(deadline) // the WebSocket upgrade has removed it
}

// loopback reports whether only this machine can reach addr.
func loopback(addr string) bool {
	if addr == "" {
		return true
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
