package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/ca"
	"troupe/fleetd/certificate"
	"troupe/schema"
)

// certificates looks at the server certificates of fleetd's addresses.
func (x *examination) certificates() {
	if x.c.HTTPCert != "" {
		x.certificate("certificate", x.c.HTTPCert, x.c.HTTPKey, hostOf(x.c.PublicURL), false)
	}
	if x.c.Enrol == "" {
		return
	}
	cert, key, part := x.c.EnrolCert, x.c.EnrolKey, "certificate for robots"
	if cert == "" {
		cert, key = x.c.HTTPCert, x.c.HTTPKey
	}
	if cert != x.c.HTTPCert || x.vault != nil {
		x.certificate(part, cert, key, hostOf(x.c.EnrolURL), true)
	}
}

// certificate looks at one pair of files. Robots accept only certificates of the fleet's CA.
func (x *examination) certificate(part, cert, key, name string, robots bool) {
	const again = "make a new one with fleetd setup --replace, or fleetd ca server --replace; fleetd takes it without a restart"
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		x.fail(part, err.Error(), "restore the files, or "+again)
		return
	}
	now, leaf := x.on.Now(), pair.Leaf
	until := cert + " is valid until " + leaf.NotAfter.UTC().Format(time.DateOnly)
	switch err := link.CheckServerCertificate(pair, now); {
	case err != nil:
		x.fail(part, cert+": "+err.Error(), again)
	case name != "" && leaf.VerifyHostname(name) != nil:
		x.fail(part, fmt.Sprintf("%s is not for %s, under which fleetd is reached; it is for %s", cert, name, strings.Join(namesOf(leaf),
			", ")), again)
	case robots && x.vault != nil && !x.signedHere(pair):
		x.fail(part, cert+" is not signed by the fleet's CA, so robots refuse it when they renew their certificates",
			"give the address for robots a certificate of its own: --enrol-tls-cert and --enrol-tls-key, made with fleetd ca server")
	case leaf.NotAfter.Sub(now) < soon:
		x.warn(part, until, again)
	default:
		x.ok(part, until)
	}
}

func (x *examination) signedHere(pair tls.Certificate) bool {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(x.vault.Root())
	for _, der := range pair.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(c)
		}
	}
	_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: x.on.Now()})
	return err == nil
}

func namesOf(leaf *x509.Certificate) []string {
	names := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}

// addresses looks whether fleetd's addresses are served, and by fleetd.
func (x *examination) addresses(ctx context.Context) {
	x.address(ctx, "console", x.c.HTTP, x.c.HTTPCert)
	if x.c.Enrol != "" {
		x.address(ctx, "address for robots", x.c.Enrol, cmp.Or(x.c.EnrolCert, x.c.HTTPCert))
	}
}

// address connects to an address. Whether fleetd is there is known by its certificate, if it has one.
func (x *examination) address(ctx context.Context, part, at, cert string) {
	ctx, cancel := context.WithTimeout(ctx, tryWithin)
	defer cancel()
	local := localAddress(at)
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", local)
	if err != nil {
		x.warn(part, "fleetd does not run: nothing is at "+at, "start it: systemctl start fleetd; its log says why it ended: journalctl -u "+
			"fleetd")
		return
	}
	defer conn.Close()
	if cert == "" {
		x.ok(part, "there is a server at "+at)
		return
	}
	// Which certificate is served is compared with the file below, so the chain need not be verified.
	secured := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, ServerName: hostOf(x.c.PublicURL)}) //nolint:gosec // see above
	if err := secured.HandshakeContext(ctx); err != nil {
		x.fail(part, "another program, or a fleetd without TLS, is at "+at+": "+err.Error(),
			"ss -ltnp shows which program it is; end it, or choose another address")
		return
	}
	shown := secured.ConnectionState().PeerCertificates
	file, err := certificateFile(cert)
	switch {
	case err != nil: // the finding of the certificate says so
		x.ok(part, "there is a server at "+at)
	case !shown[0].Equal(file):
		x.warn(part, fmt.Sprintf("what is at %s shows another certificate than %s", at, cert),
			"if fleetd is there, its log says why it ignores the file; else ss -ltnp shows which program it is")
	default:
		x.ok(part, "fleetd is at "+at)
	}
}

// localAddress is how this computer reaches an address at which a program listens.
func localAddress(at string) string {
	host, port, err := net.SplitHostPort(at)
	if ip, bad := netip.ParseAddr(host); err == nil && (host == "" || bad == nil && ip.IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return at
}

// identity is fleetd's identity with the broker.
func (x *examination) identity() *certificate.Identity {
	return certificate.NewIdentity(certificate.IdentityDeps{
		Name: x.c.Name, Password: x.c.BrokerPassword, BrokerFiles: x.c.BrokerFiles, Vault: x.vault, Now: x.on.Now,
		EnrolURL: func() string { return "" },
	})
}

var errSilent = fmt.Errorf("no answer within %v", tryWithin)

// engineTopic has the version of a broker that has one. Troupe's broker refuses the subscription with a notice.
const engineTopic = "$SYS/broker/version"

// observation is what a connection to the broker received.
type observation struct {
	engine    string
	instances map[string]schema.FleetHeartbeat
	skew      map[string]time.Duration // of the clocks of instances
}

// broker connects as fleetd does, with a client id of its own, and listens for a moment.
func (x *examination) broker(ctx context.Context, url string) {
	part := "broker"
	if len(x.c.Brokers) > 1 {
		part += " " + url
	}
	var shown []*x509.Certificate
	identity := x.identity()
	received := make(chan link.Message, 256)
	states := make(chan link.State, 16)
	ns := x.c.Namespace
	config := link.Config{
		URL: url, Engine: x.c.Engine, Name: x.c.Name, Suffix: "doctor", Password: x.c.BrokerPassword,
		TLS: func() (*tls.Config, error) {
			how, err := identity.TLS()
			if err == nil {
				how.VerifyConnection = func(s tls.ConnectionState) error { shown = s.PeerCertificates; return nil }
			}
			return how, err
		},
		Subscribe: []link.Subscription{
			{Filter: ns.Topic(schema.TopicFleetHeartbeat, "+")}, {Filter: ns.Topic(schema.TopicNotice, x.c.Name), QoS: 1, Optional: true},
		},
		OnMessage: func(m link.Message) {
			select {
			case received <- m:
			default:
			}
		},
		OnState: func(s link.State) {
			select {
			case states <- s:
			default:
			}
		},
	}
	l, err := link.Open(ctx, config)
	if err == nil {
		err = awaitUp(ctx, states)
	}
	if err == nil { // now that its notices arrive
		err = l.Subscribe(link.Subscription{Filter: engineTopic, Optional: true})
	}
	if err != nil {
		if l != nil {
			_ = l.Close(context.WithoutCancel(ctx)) // it was only tried
		}
		x.fail(part, url+": "+err.Error(), helpWithBroker(err))
		return
	}
	got := x.listen(ctx, received)
	_ = l.Close(context.WithoutCancel(ctx)) // it was only tried
	says := fmt.Sprintf("%s accepts fleetd; it is %s", url, got.engine)
	switch {
	case len(shown) > 0 && shown[0].NotAfter.Sub(x.on.Now()) < soon:
		x.warn(part, says+"; its certificate is valid until "+shown[0].NotAfter.UTC().Format(time.DateOnly),
			"make a new one with fleetd setup --replace, or fleetd ca server; the broker takes it without a restart")
	case len(shown) > 0:
		x.ok(part, says+"; its certificate is valid until "+shown[0].NotAfter.UTC().Format(time.DateOnly))
	case link.IsPlaintext(url) && !loopback(url):
		x.warn(part, says+"; everybody on the way can read and change what is sent", "use mqtts")
	default:
		x.ok(part, says)
	}
	x.instances(got)
}

func awaitUp(ctx context.Context, states <-chan link.State) error {
	late := time.NewTimer(tryWithin)
	defer late.Stop()
	for {
		select {
		case s := <-states:
			switch s.Phase {
			case link.Up:
				return nil
			case link.Refused, link.Down:
				return s.Err
			}
		case <-late.C:
			return errSilent
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// listen collects what arrives for a moment.
func (x *examination) listen(ctx context.Context, received <-chan link.Message) observation {
	engine := "of another engine than Troupe's broker or Mosquitto"
	if x.c.Engine == link.NATS { // which has no topic with its version
		engine = "NATS, as --engine says"
	}
	got := observation{engine: engine, instances: map[string]schema.FleetHeartbeat{},
		skew: map[string]time.Duration{}}
	enough := time.NewTimer(x.on.Listen)
	defer enough.Stop()
	for {
		select {
		case <-ctx.Done():
			return got
		case <-enough.C:
			return got
		case m := <-received:
			if m.Topic == engineTopic {
				got.engine = schema.SanitizeTextWithin(string(m.Payload), 60)
				continue
			}
			row, params, ok := x.c.Namespace.Match(m.Topic)
			switch {
			case ok && row.Kind == schema.TopicNotice:
				if n, problems := schema.Decode[schema.Notice](m.Payload); len(problems) == 0 && n.Topic == engineTopic {
					got.engine = "Troupe's broker"
				}
			case ok && row.Kind == schema.TopicFleetHeartbeat:
				if h, problems := schema.Decode[schema.FleetHeartbeat](m.Payload); len(problems) == 0 {
					got.instances[params.CID] = h
					got.skew[params.CID] = h.TS.Time().Sub(m.At)
				}
			}
		}
	}
}

// instances reports who serves the fleet, and how far their versions and clocks differ.
func (x *examination) instances(got observation) {
	if len(got.instances) == 0 {
		x.warn("instances", "no fleetd sends heartbeats through the broker", "start fleetd; without heartbeats robots do not perform")
		return
	}
	var names, versions, slow []string
	leaders := 0
	for name, h := range got.instances {
		about := name + " " + cmp.Or(h.Instance.Version, "of unknown version")
		if h.Instance.Leads {
			leaders++
			about += " (leads)"
		}
		if !h.Instance.Database {
			about += " (without the database)"
		}
		names = append(names, about)
		if !slices.Contains(versions, h.Instance.Version) {
			versions = append(versions, h.Instance.Version)
		}
		if got.skew[name].Abs() > skewMost {
			slow = append(slow, fmt.Sprintf("%s by %s", name, got.skew[name].Round(time.Second)))
		}
	}
	slices.Sort(names)
	slices.Sort(slow)
	all := strings.Join(names, ", ")
	own, runs := got.instances[x.c.Name]
	switch {
	case len(slow) > 0:
		x.fail("instances", all+"; the clock here differs from that of "+strings.Join(slow, ", "), setClock+", on each computer of an instance")
	case leaders != 1:
		x.warn("instances", fmt.Sprintf("%s; %d of them lead", all, leaders), "one leads as soon as it reaches database and broker: see "+
			"their logs")
	case x.c.Version != "" && runs && own.Instance.Version != x.c.Version[:min(len(x.c.Version), schema.MaxInstanceVersion)]:
		x.warn("instances", all+"; this program is "+x.c.Version, "restart the service, so that it runs what is installed: systemctl "+
			"restart fleetd")
	case len(versions) > 1:
		x.warn("instances", all+"; they are not of the same version", "update the others soon: docs/update.md says in which order")
	default:
		x.ok("instances", all)
	}
}

func loopback(url string) bool {
	host := hostOf(url)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// helpWithBroker returns what to do about a connection that failed. Some errors have only a text.
func helpWithBroker(err error) string {
	var (
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	text := err.Error()
	switch {
	case errors.Is(err, link.ErrOtherEngine):
		return "see which MQTT server listens there, and write it in --engine; or it does not know this name"
	case errors.Is(err, link.ErrRefused):
		return "compare fleetd's certificate, or its name and password, with what the broker knows: its log says why it refused"
	case errors.Is(err, errSilent):
		return "see whether a firewall drops what is sent there, and whether the port is that of MQTT"
	case errors.As(err, &dns):
		return "the name of the broker is not known here: correct --broker, or repair the name server"
	case strings.Contains(text, "connection refused"):
		return "nothing listens there: start the broker (systemctl start troupe-broker), or correct the port in --broker"
	case errors.As(err, &authority):
		return "the broker's certificate is not signed by the CA that fleetd trusts: make one with fleetd ca server, or correct --broker-ca"
	case errors.As(err, &name):
		return "the broker's certificate is for other names: write one of them in --broker, or make a certificate for this one"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the broker's certificate has expired or is not valid yet: make a new one with fleetd setup --replace; or a clock is wrong"
	case errors.Is(err, ca.ErrForeign), strings.Contains(text, "remote error: tls"):
		return "the broker refuses fleetd's certificate: give it this fleet's CA with --client-ca, and see whether the certificate was revoked"
	case strings.Contains(text, "TLS handshake"):
		return "perhaps the port in --broker has no TLS: correct the port, or write mqtt://"
	}
	return "see whether the network and the broker are up; the broker's log says more"
}

// certificateFile reads the first certificate of a file.
func certificateFile(path string) (*x509.Certificate, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ca.ReadCertificate(text)
}
