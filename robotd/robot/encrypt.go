package robot

import (
	"crypto/tls"
	"errors"
	"time"

	"troupe/broker/link"
	"troupe/robotd/download"
	"troupe/robotd/identity"
)

// fleetd is where large files come from, and how the robot proves itself there now.
func (c Config) fleetd() (d *download.Fleetd, err error) {
	defer func() {
		if err == nil && c.DialFleetd != nil {
			d.UseDialer(c.DialFleetd)
		}
	}()
	at, err := download.ParseFleetd(c.Fleetd)
	if err != nil {
		return nil, err
	}
	who, err := identity.Load(c.dir())
	if errors.Is(err, identity.ErrNone) {
		how, err := link.Files{CA: c.BrokerCA}.TLS()
		if err != nil {
			return nil, err
		}
		how.Time = c.clock.now
		return download.NewFleetd(at, how), nil
	}
	if err != nil {
		return nil, err
	}
	return download.NewFleetd(at, who.ToFleetd(at.Hostname(), c.clock.now)), nil
}

// encryption is how the robot connects to its broker now: with the identity in its data
// directory, or without one; then it needs a password. It is asked at each connection, so
// the next one uses a renewed certificate.
func (c Config) encryption() (*tls.Config, error) {
	how, err := link.Files{CA: c.BrokerCA}.TLS()
	if err != nil {
		return nil, err
	}
	who, err := identity.Load(c.dir())
	var own time.Time // until then the robot's certificate is good
	switch {
	case errors.Is(err, identity.ErrNone):
		how.Time = c.clock.now
	case err != nil:
		return nil, err
	default:
		mine := who.TLS(c.clock.now)
		if how.RootCAs != nil {
			mine.RootCAs = how.RootCAs
		}
		how, own = mine, who.Leaf().NotAfter
	}
	how.VerifyConnection = func(s tls.ConnectionState) error {
		until := s.PeerCertificates[0].NotAfter
		if !own.IsZero() && own.Before(until) {
			until = own
		}
		c.clock.connected(until)
		return nil
	}
	return how, nil
}
