package link

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"
)

// hostPort reads mqtt://host[:port]. Only plain TCP is spoken so far; other
// transports come in through Config.Dial.
func hostPort(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("broker URL: %w", err)
	}
	if (u.Scheme != "mqtt" && u.Scheme != "tcp") || u.Hostname() == "" || u.Path != "" || u.User != nil {
		return "", fmt.Errorf("broker URL %q: want mqtt://host:port", u.Redacted())
	}
	port := u.Port()
	if port == "" {
		port = "1883"
	}
	return net.JoinHostPort(u.Hostname(), port), nil
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
