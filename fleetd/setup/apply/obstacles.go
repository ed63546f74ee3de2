package apply

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
	"troupe/broker/link"
	"troupe/fleetd/setup"
	"troupe/fleetd/store"
)

func (c *comparison) inspect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var err error
	if c.database, err = store.Inspect(ctx, c.Plan.Database); err != nil {
		c.problem("/database/address", err.Error(), "see whether the server runs and lets this user in from here: psql with the same "+
			"address says so, too")
		return
	}
	switch d := c.database; {
	case d.Denied != "":
		c.problem("/database/address", d.Place+": "+d.Denied, "make fleetd's user the owner of the database: ALTER DATABASE NAME OWNER TO USER")
	case d.Version > d.Newest:
		c.problem("/database/address", fmt.Sprintf("%s is of a newer fleetd: its schema version is %d, and this fleetd makes %d", d.Place,
			d.Version, d.Newest), "install that fleetd, or name another database")
	}
}

// given checks the certificate that a person has for the console.
func (c *comparison) given() {
	a := c.Plan.Answers
	pair, err := tls.LoadX509KeyPair(a.Certificate, a.Key)
	if err != nil {
		c.problem("/tls/certificate", err.Error(), "name the files of a certificate and of its key, in PEM")
		return
	}
	if err := link.CheckServerCertificate(pair, c.now); err != nil {
		c.problem("/tls/certificate", a.Certificate+": "+err.Error(), "get a valid one from who issued it")
	}
	if host := hostOf(a.PublicURL); pair.Leaf.VerifyHostname(host) != nil {
		c.problem("/tls/certificate", fmt.Sprintf("%s is not for %s, which is in the URL of the console", a.Certificate, host),
			"write a name of the certificate into http.public_url, or get one for that name")
	}
}

// ports looks whether the addresses are free, if no program of this set-up can have them yet.
func (c *comparison) ports(ctx context.Context) {
	if !c.fresh {
		return
	}
	a := c.Plan.Answers
	addresses := []struct{ pointer, listen string }{{"/http/listen", a.HTTP}, {"/robots/listen", a.Robots}}
	if a.Broker == setup.Here {
		addresses = append(addresses, struct{ pointer, listen string }{"/broker/listen", a.BrokerListen}, struct {
			pointer,
			listen string
		}{"/broker/http", a.BrokerHTTP})
	}
	for _, at := range addresses {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at.listen)
		switch {
		case err == nil:
			_ = l.Close() // it was only tried
		case errors.Is(err, syscall.EADDRINUSE):
			c.problem(at.pointer, at.listen+" is in use by another program", "choose another port, or stop that program: ss -ltnp shows it")
		case errors.Is(err, syscall.EADDRNOTAVAIL):
			c.problem(at.pointer, at.listen+" is not an address of this machine", "write 0.0.0.0 for every address, or one that ip address shows")
		case err != nil:
			c.problem(at.pointer, at.listen+": "+err.Error(), "choose another address")
		}
	}
}

// rights looks whether this user may write where something is new.
func (c *comparison) rights() {
	for _, o := range c.Outcomes {
		if o.State == Kept || o.Kind == setup.Admin || o.Kind == setup.Token || c.denied {
			continue
		}
		dir := filepath.Dir(o.Path)
		_, err := os.Stat(dir)
		for errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
			_, err = os.Stat(dir)
		}
		if probe, err := os.CreateTemp(dir, ".setup-*"); err != nil {
			c.problem(o.Pointer, "nothing can be written to "+dir+": "+err.Error(), "run this as root (sudo fleetd setup), or name other folders")
			c.denied = true
		} else if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
			c.problem(o.Pointer, err.Error(), "see whether the disk is full or broken")
			c.denied = true
		}
	}
}
