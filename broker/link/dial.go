package link

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"

	"troupe/broker/websocket"
	"troupe/schema"
)

// address is a parsed broker URL.
type address struct {
	host, hostPort string
	encrypted      bool
	webSocket      string // URL; empty: not over WebSocket
}

// IsPlaintext reports whether the network could read what is sent to the broker at that
// URL, including a password.
func IsPlaintext(url string) bool {
	a, err := parseURL(url)
	if err != nil || a.encrypted || a.host == "localhost" {
		return false
	}
	ip, err := netip.ParseAddr(a.host)
	return err != nil || !ip.IsLoopback()
}

// defaultPorts are the ports of URLs without one.
var defaultPorts = map[string]string{"mqtt": "1883", "tcp": "1883", "mqtts": "8883", "ws": "80", "wss": "443"}

// parseURL parses mqtt://host[:port], mqtts://..., ws://host[:port][/path] or wss://...
func parseURL(raw string) (address, error) {
	u, err := url.Parse(raw)
	if err != nil { // it quotes the URL
		return address{}, fmt.Errorf("broker URL %q: it cannot be parsed", schema.PrintableURL(raw))
	}
	port, known := defaultPorts[u.Scheme]
	overWebSocket := u.Scheme == "ws" || u.Scheme == "wss"
	if !known || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && !overWebSocket {
		return address{}, fmt.Errorf("broker URL %q: want mqtt://host:port, mqtts://host:port, ws://host:port/path or wss://host:port/path",
			schema.PrintableURL(raw))
	}
	if u.Port() != "" {
		port = u.Port()
	}
	a := address{host: u.Hostname(), hostPort: net.JoinHostPort(u.Hostname(), port), encrypted: u.Scheme == "mqtts" || u.Scheme == "wss"}
	if overWebSocket {
		if u.Path == "" {
			u.Path = websocket.Path
		}
		a.webSocket = u.String()
	}
	return a, nil
}

// dialAddress opens a connection to the address of that index.
func (c *Config) dialAddress(ctx context.Context, index int) (net.Conn, error) {
	switch {
	case c.Dial != nil:
		return c.Dial(ctx)
	case c.dialURL != nil:
		return c.dialURL(ctx, c.urlOf(index))
	}
	return c.dial(ctx, c.addresses[index])
}

// urlOf is the URL of the address of that index.
func (c *Config) urlOf(index int) string {
	switch {
	case c.Dial != nil:
		return ""
	case index > 0:
		return c.FallbackURLs[index-1]
	}
	return c.URL
}

// dial opens a connection to an address.
func (c *Config) dial(ctx context.Context, to address) (net.Conn, error) {
	config, err := c.tlsConfig(to)
	if err != nil {
		return nil, fmt.Errorf("configure TLS: %w", err)
	}
	tcp := func(ctx context.Context, _, hostPort string) (net.Conn, error) {
		return dialTCP(ctx, hostPort, c.WriteTimeout+c.KeepAlive)
	}
	if to.webSocket != "" {
		return websocket.Dial(ctx, to.webSocket, tcp, config)
	}
	conn, err := tcp(ctx, "tcp", to.hostPort)
	if err != nil || config == nil {
		return conn, err
	}
	encrypted := tls.Client(conn, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	return encrypted, nil
}

// dialTCP opens a connection that detects a dead peer by itself. It ignores proxies of the
// environment: a robot's path to its broker is configured explicitly.
func dialTCP(ctx context.Context, addr string, dead time.Duration) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if err := setUserTimeout(conn, dead); err != nil {
		conn.Close()
		return nil, fmt.Errorf("set TCP user timeout: %w", err)
	}
	return conn, nil
}
