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
	"slices"
	"syscall"
	"time"
	"troupe/broker/link"
	"troupe/fleetd/fileaccess"
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
	if u, known := c.service(setup.FleetdUser); known {
		for _, file := range []struct{ pointer, path string }{{"/tls/certificate", a.Certificate}, {"/tls/key", a.Key}} {
			err := u.Reach(file.path)
			if info, noInfo := os.Stat(file.path); err == nil && noInfo == nil && !u.May(info, fileaccess.Read) {
				err = fmt.Errorf("the user %s cannot read %s", setup.FleetdUser, file.path)
			}
			if err != nil {
				c.problem(file.pointer, err.Error(), "copy the file to "+a.Config+" and give it to that user, also each time that it is renewed")
			}
		}
	}
	if err := link.CheckServerCertificate(pair, c.on.Now); err != nil {
		c.problem("/tls/certificate", a.Certificate+": "+err.Error(), "get a valid one from who issued it")
	}
	if host := hostOf(a.PublicURL); pair.Leaf.VerifyHostname(host) != nil {
		c.problem("/tls/certificate", fmt.Sprintf("%s is not for %s, which is in the URL of the console", a.Certificate, host),
			"write a name of the certificate into http.public_url, or get one for that name")
	}
}

// services looks whether the installed services can use what the answers name: their units let them see and write
// little of the computer, and their users may not enter every folder.
func (c *comparison) services(ctx context.Context) {
	c.serviceOf(ctx, setup.FleetdUser, c.Plan.FleetdEnv())
	if c.Plan.Answers.Broker == setup.Here {
		c.serviceOf(ctx, setup.BrokerUser, filepath.Join(c.Plan.Answers.Config, "broker.env"))
	}
}

// serviceOf looks at one service, whose user has its name. Of each answer the first obstacle is named.
func (c *comparison) serviceOf(ctx context.Context, name, settings string) {
	said := map[string]bool{}
	problem := func(pointer, detail, hint string) {
		if !said[pointer] {
			said[pointer] = true
			c.problem(pointer, detail, hint)
		}
	}
	unit, installed := c.on.Unit(ctx, name)
	u, known := c.service(name)
	allow := func(line string) string {
		return fmt.Sprintf("allow it with systemctl edit %s, which needs [Service] and %s", name, line)
	}
	if installed && !slices.Contains(unit.Settings, settings) {
		problem("/folders/config", fmt.Sprintf("the service %s does not read its settings from %s", name, settings),
			"leave folders.config out, or "+allow("EnvironmentFile="+settings))
	}
	for _, s := range c.Plan.Steps {
		if s.Owner != name {
			continue
		}
		folder := s.Kind == setup.Folder || s.Kind == setup.Authority
		switch {
		case installed && !unit.sees(s.Path):
			problem(s.Pointer, fmt.Sprintf("the service %s cannot see %s, which systemd hides from it", name, s.Path), "name another folder")
		case installed && folder && !unit.writes(s.Path):
			problem(s.Pointer, fmt.Sprintf("the service %s may not write to %s", name, s.Path), "leave the answer out, for the folder "+
				"of the package, or "+allow("ReadWritePaths="+s.Path))
		case known && folder:
			if err := u.Reach(s.Path); err != nil {
				problem(s.Pointer, err.Error(), "chmod o+x that folder, or name another one")
			}
		}
	}
	if err := u.Reach(settings); known && err != nil {
		problem("/folders/config", err.Error(), "chmod o+x that folder, or name another one")
	}
	if a := c.Plan.Answers; name == setup.FleetdUser && a.Console == setup.GivenTLS && installed {
		for _, file := range []struct{ pointer, path string }{{"/tls/certificate", a.Certificate}, {"/tls/key", a.Key}} {
			if !unit.sees(file.path) {
				problem(file.pointer, fmt.Sprintf("the service %s cannot see %s, which systemd hides from it", name, file.path),
					"copy the file to "+a.Config+", also each time that it is renewed")
			}
		}
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
