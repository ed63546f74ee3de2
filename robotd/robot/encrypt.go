package robot

import (
	"crypto/tls"
	"errors"
	"time"

	"troupe/broker/link"
	"troupe/robotd/download"
	"troupe/robotd/identity"
)

// fleetd returns where large files come from, and with which identity the robot
// authenticates there now.
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

// encryption returns the TLS configuration for the broker: with the identity in the data
// directory, or without one, in which case the robot needs a password. It is called at each
// connection, so the next one uses a renewed certificate.
func (c Config) encryption() (*tls.Config, error) {
	how, err := link.Files{CA: c.BrokerCA}.TLS()
	if err != nil {
		return nil, err
	}
	who, err := identity.Load(c.dir())
	var own time.Time // end of the robot's certificate
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
