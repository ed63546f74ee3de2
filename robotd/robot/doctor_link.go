package robot

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"troupe/broker/link"
	"troupe/schema/bus"
)

const (
	// tryWithin bounds each attempt to reach something.
	tryWithin = 5 * time.Second
)

// connect opens a connection until it is up or has failed, and calls then while it is up.
func connect(ctx context.Context, c link.Config, then func()) error {
	states := make(chan link.State, 16)
	if c.OnMessage == nil {
		c.OnMessage = func(link.Message) {}
	}
	c.OnState = func(s link.State) {
		select {
		case states <- s:
		default:
		}
	}
	l, err := link.Open(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close(context.WithoutCancel(ctx)) }()
	late := time.NewTimer(tryWithin)
	defer late.Stop()
	for {
		select {
		case s := <-states:
			switch s.Phase {
			case link.Up:
				then()
				return nil
			case link.Refused, link.Down:
				return s.Err
			}
		case <-late.C:
			return errSilent
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var errSilent = fmt.Errorf("no answer within %v", tryWithin)

// broker opens a connection as the robot does, with a client id of its own: the broker closes an
// earlier connection with the same id. It is not tried while a robotd that runs is connected.
func (x *examination) broker(ctx context.Context, url string) {
	part, c := "broker", x.c
	if len(c.FallbackBrokers) > 0 {
		part += " " + url
	}
	if x.connected {
		x.ok(part, url+": not tried, because robotd is connected")
		return
	}
	c.clock = &certificateClock{wall: x.on.Now, news: make(chan struct{}, 1)}
	err := connect(ctx, link.Config{URL: url, Dial: c.Dial, TLS: c.encryption, Engine: c.Engine, Name: c.ID, Suffix: "doctor",
		Password: c.Password}, func() {})
	if err != nil {
		x.fail(part, url+": "+err.Error(), helpWith(err))
		return
	}
	x.ok(part, url+" accepts the robot's connection")
}

// helpWith returns what to do about a connection that failed.
func helpWith(err error) string {
	var dns *net.DNSError
	text := err.Error()
	switch {
	case errors.Is(err, link.ErrOtherEngine):
		return "see which MQTT server listens there, and write it in --engine; or it does not know this name"
	case errors.Is(err, link.ErrRefused):
		return "compare the robot's name and password (--id, --password-file), or its certificate, with what the broker knows"
	case errors.Is(err, errSilent):
		return "see whether a firewall drops what is sent there, and whether the port is that of MQTT"
	case errors.As(err, &dns) || strings.Contains(text, "no such host"):
		return "the name of the broker is not known here: correct --broker, or repair the name server"
	case strings.Contains(text, "connection refused"):
		return "nothing listens there: start the broker, or correct the port in --broker"
	}
	if help := helpWithTLS(err); help != "" {
		return help
	}
	return "see whether the network and the broker are up"
}

// helpWithTLS returns what to do about TLS that failed; empty if it did not. Some errors have only a text.
func helpWithTLS(err error) string {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	text := err.Error()
	switch {
	case strings.Contains(text, "configure TLS"):
		return "the robot's own files are wrong: see the finding identity, and --broker-ca"
	case errors.As(err, &authority):
		return "the broker's certificate is not signed by the CA that this robot trusts: correct --broker-ca, or enrol the robot with the " +
			"fleet of this broker"
	case errors.As(err, &name):
		return "the broker's certificate is for other names: write one of them in --broker, or give the broker a certificate for this one"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the broker's certificate has expired or is not valid yet: renew it at the broker; or the clock here is wrong: see the " +
			"finding clock"
	case strings.Contains(text, "remote error: tls") && strings.Contains(text, "certificate"):
		return "the broker rejects the robot's certificate: see the finding identity; if it is valid there, enrol the robot with the fleet of " +
			"this broker"
	case strings.Contains(text, "x509:") || strings.Contains(text, "remote error: tls"):
		return "the broker and the robot do not agree about TLS: the error and the broker's log say on what"
	case strings.Contains(text, "TLS handshake"): // it was cut off, or what came is not TLS
		return "perhaps the port in --broker has no TLS: correct the port, or write mqtt://"
	}
	return ""
}

// adapters looks for the adapters of the body on the bus.
func (x *examination) adapters(ctx context.Context) {
	b := x.c.Body
	if len(b.Adapters) == 0 {
		x.ok("body", "it is simulated")
		return
	}
	received := make(chan link.Message, 256)
	config := link.Config{
		URL: b.Bus, Dial: b.Dial, ClientID: "doctor", Subscribe: []link.Subscription{{Filter: bus.RobotPresenceTopic, QoS: 1},
			{Filter: bus.Out("+", bus.OutPresence), QoS: 1}},
		OnMessage: func(m link.Message) {
			select {
			case received <- m:
			default:
			}
		},
	}
	for _, name := range b.Adapters {
		config.Subscribe = append(config.Subscribe, link.Subscription{Filter: bus.In(name, bus.InHealth)})
	}
	err := connect(ctx, config, func() { x.reportAdapters(listen(ctx, b.Adapters, received)) })
	switch {
	case err != nil && b.Listen != "":
		x.warn("body", b.Bus+": "+err.Error(), "robotd serves this bus itself: run this while robotd runs to find the adapters")
	case err != nil:
		x.fail("body", b.Bus+": "+err.Error(), "start robotd if it serves the bus (--bus-listen), else the broker of the bus")
	}
}
