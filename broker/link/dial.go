package link

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"time"
)

// address is where a broker is, and whether what is said there is encrypted.
type address struct {
	host, hostPort string
	encrypted      bool
}

// addressOf reads mqtt://host[:port] or mqtts://host[:port]. Other transports come
// in through Config.Dial.
func addressOf(raw string) (address, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return address{}, fmt.Errorf("broker URL: %w", err)
	}
	port, known := map[string]string{"mqtt": "1883", "tcp": "1883", "mqtts": "8883"}[u.Scheme]
	if !known || u.Hostname() == "" || u.Path != "" || u.User != nil {
		return address{}, fmt.Errorf("broker URL %q: want mqtt://host:port or mqtts://host:port", u.Redacted())
	}
	if u.Port() != "" {
		port = u.Port()
	}
	return address{u.Hostname(), net.JoinHostPort(u.Hostname(), port), u.Scheme == "mqtts"}, nil
}

// dial opens a connection as the address and the configuration want it.
func (c *Config) dial(ctx context.Context, to address) (net.Conn, error) {
	conn, err := dialTCP(ctx, to.hostPort, c.WriteTimeout+c.KeepAlive)
	if err != nil || !to.encrypted {
		return conn, err
	}
	how := &tls.Config{}
	if c.TLS != nil {
		if how, err = c.TLS(); err != nil {
			conn.Close()
			return nil, fmt.Errorf("encrypt: %w", err)
		}
		how = how.Clone()
	}
	if how.ServerName == "" {
		how.ServerName = to.host
	}
	how.MinVersion = max(how.MinVersion, tls.VersionTLS13)
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
