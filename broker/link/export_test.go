package link

import (
	"context"
	"net"
)

// WithNetwork returns c with dial instead of the network.
func WithNetwork(c Config, dial func(ctx context.Context, url string) (net.Conn, error)) Config {
	c.dialURL = dial
	return c
}
