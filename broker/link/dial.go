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
)

// address is where a broker is and how it is spoken to.
type address struct {
	host, hostPort string
	encrypted      bool
	webSocket      string // URL; empty: not over WebSocket
}

// InTheClear reports whether others than this machine could read what is said to
// the broker at that URL, a password among it.
func InTheClear(url string) bool {
	a, err := addressOf(url)
	if err != nil || a.encrypted || a.host == "localhost" {
		return false
	}
	ip, err := netip.ParseAddr(a.host)
	return err != nil || !ip.IsLoopback()
}

// ports that are meant when a URL has none.
var ports = map[string]string{"mqtt": "1883", "tcp": "1883", "mqtts": "8883", "ws": "80", "wss": "443"}

// addressOf reads mqtt://host[:port], mqtts://..., ws://host[:port][/path] or
// wss://...
func addressOf(raw string) (address, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return address{}, fmt.Errorf("broker URL: %w", err)
	}
	port, known := ports[u.Scheme]
	overWebSocket := u.Scheme == "ws" || u.Scheme == "wss"
	if !known || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && !overWebSocket {
		return address{}, fmt.Errorf("broker URL %q: want mqtt://host:port, mqtts://host:port, ws://host:port/path or wss://host:port/path", u.Redacted())
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

// reach opens a connection for an attempt, which are counted from 1.
func (c *Config) reach(ctx context.Context, attempt int) (net.Conn, error) {
	if c.Dial != nil {
		return c.Dial(ctx)
	}
	return c.dial(ctx, c.ways[(attempt-1)%len(c.ways)])
}

// at is the URL to which an attempt goes.
func (c *Config) at(attempt int) string {
	if c.Dial != nil {
		return ""
	}
	if n := (attempt - 1) % len(c.ways); n > 0 {
		return c.Others[n-1]
	}
	return c.URL
}

// dial opens a connection as the address and the configuration want it.
func (c *Config) dial(ctx context.Context, to address) (net.Conn, error) {
	how, err := c.encryption(to)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	tcp := func(ctx context.Context, _, hostPort string) (net.Conn, error) {
		return dialTCP(ctx, hostPort, c.WriteTimeout+c.KeepAlive)
	}
	if to.webSocket != "" {
		return websocket.Dial(ctx, to.webSocket, tcp, how)
	}
	conn, err := tcp(ctx, "tcp", to.hostPort)
	if err != nil || how == nil {
		return conn, err
	}
	safe := tls.Client(conn, how)
	if err := safe.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return safe, nil
}

// dialTCP opens a connection that notices a dead peer by itself. It takes no
// proxy from the environment: a robot's way to its broker is configured, not
// inherited.
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
