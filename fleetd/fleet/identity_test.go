package fleet_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/ca"
	"troupe/fleetd/fleet"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/vault"
	"troupe/schema"
)

// newVault makes the keys of a fleet, and a server certificate for localhost.
func newVault(t *testing.T) (dir string, v *vault.Vault, pair ca.Pair) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "ca")
	if err := vault.Make(dir, "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if pair, err = v.Server([]string{"localhost"}, nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	return dir, v, pair
}

// keyed gives fleetd keys, a certificate for its address, and an address for
// robots.
func keyed(t *testing.T) func(*fleet.Config) {
	dir, v, pair := newVault(t)
	cert, key := filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key.pem")
	if err := vault.SavePair(cert, key, false, pair, v.Chain(pair.Certificate)); err != nil {
		t.Fatal(err)
	}
	return func(c *fleet.Config) {
		c.CA, c.HTTPFiles, c.Enrol, c.RobotBrokers = dir, fleet.PairFiles{Cert: cert, Key: key}, "127.0.0.1:0",
			[]string{"mqtts://broker.example:8883"}
	}
}

// enrollee is a client that enrols as a robot with a token: it trusts the fingerprint and the root of
// that token.
type enrollee struct {
	w           *world
	token       schema.EnrolmentToken
	url         string
	key         crypto.Signer
	certificate *tls.Certificate
}

func newEnrollee(w *world, robot string, ask map[string]any) *enrollee {
	w.Helper()
	var t api.EnrolmentToken
	w.must("POST", "/robots/"+robot+"/tokens", ask, &t)
	token, err := schema.ParseToken(t.Token)
	if err != nil || !strings.Contains(t.Line, t.Token) || !strings.Contains(t.Line, t.Server) {
		w.Fatalf("%+v: %v", t, err)
	}
	_, port, err := net.SplitHostPort(strings.TrimPrefix(t.Server, "https://"))
	if err != nil {
		w.Fatal(err)
	}
	return &enrollee{w: w, token: token, url: "https://" + net.JoinHostPort("127.0.0.1", port), key: newKey(w)}
}

func newKey(w *world) crypto.Signer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		w.Fatal(err)
	}
	return key
}

func (e *enrollee) csr(name string) string {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}, e.key)
	if err != nil {
		e.w.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

var errOther = errors.New("another certificate than the token says")

// post asks fleetd over TLS, as a robot does.
func (e *enrollee) post(path string, body any) (out schema.Enrolled, p *api.Problem) {
	e.w.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		e.w.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if e.certificate == nil {
				return &tls.Certificate{}, nil
			}
			return e.certificate, nil // whomever fleetd asks for
		},
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			if sha256.Sum256(raw[0]) != e.token.Fingerprint {
				return errOther
			}
			return nil
		},
	}}}
	response, err := client.Post(e.url+api.Prefix+path, "application/json", bytes.NewReader(text))
	if err != nil {
		e.w.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		if err := json.NewDecoder(response.Body).Decode(&out); err != nil {
			e.w.Fatal(err)
		}
		return out, nil
	}
	p = &api.Problem{}
	if err := json.NewDecoder(response.Body).Decode(p); err != nil || p.Type == "" {
		e.w.Fatalf("%s: %s without a problem: %v", path, response.Status, err)
	}
	return out, p
}

func (e *enrollee) enrol() (schema.Enrolled, *api.Problem) {
	return e.post("/enrol", schema.EnrolRequest{Token: e.token.String(), CSR: e.csr(e.token.Robot)})
}

// useCertificate makes the enrollee connect with the certificate that it was given.
func (e *enrollee) useCertificate(answer schema.Enrolled) *x509.Certificate {
	e.w.Helper()
	c, err := ca.ReadCertificate([]byte(answer.Certificate))
	if err != nil {
		e.w.Fatal(err)
	}
	e.certificate = &tls.Certificate{Certificate: [][]byte{c.Raw}, PrivateKey: e.key}
	return c
}

func (w *world) refuses(p *api.Problem, k api.Kind, says string) {
	w.Helper()
	switch {
	case p == nil:
		w.Errorf("it is taken, want %s", k.Name)
	case !p.Of(k) || p.Status != k.Status || p.Hint == "" && k != api.KindInvalid:
		w.Errorf("%s %d: %v (hint %q), want %s", p.Type, p.Status, p, p.Hint, k.Name)
	case !strings.Contains(p.Detail+" "+p.Hint, says):
		w.Errorf("%v, without %q", p, says)
	}
}

func TestTokenEnrolsOneRobotOnce(t *testing.T) {
	onBothInRealTime(t, func(w *world) {
		e := newEnrollee(w, "r7", map[string]any{"by": "ann"})
		first, p := e.enrol()
		if p != nil {
			w.Fatal(p)
		}
		c := e.useCertificate(first)
		if c.Subject.CommonName != "r7" || len(c.URIs) != 1 || first.Robot != "r7" || first.Brokers[0] != "mqtts://broker.example:8883" {
			w.Errorf("%+v %v", first, c.URIs)
		}
		if first.FleetID == "" || first.FleetID != w.Status().FleetID {
			w.Errorf("it is to obey %q", first.FleetID)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(first.CA))
		between := x509.NewCertPool()
		between.AppendCertsFromPEM([]byte(first.Certificate))
		if _, err := c.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between,
			KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
			w.Errorf("what it was given does not lead to whom it is to trust: %v", err)
		}
		w.until("r7 is known", func() bool { d, ok := w.Robot("r7"); return ok && d.Adopted })

		if again, p := e.enrol(); p != nil || again.Certificate != first.Certificate {
			w.Errorf("the same key asks again, and gets %v", p)
		}
		other := *e
		other.key = newKey(w)
		_, p = other.enrol()
		w.refuses(p, api.KindTokenUsed, "fleetd robot enrol r7")

		var i api.Identity
		w.must("GET", "/robots/r7/identity", nil, &i)
		if len(i.Certificates) != 1 || len(i.Tokens) != 1 || i.Tokens[0].Used == 0 || i.Revoked != 0 || i.Certificates[0].How != "token" {
			w.Errorf("%+v", i)
		}
		w.refuses(w.ask("GET", "/robots/r8/identity", nil, nil), api.KindNotFound, "never enrolled")
	}, keyed(t))
}

func TestRefusedEnrolmentSaysWhy(t *testing.T) {
	onBothInRealTime(t, func(w *world) {
		w.refuses(w.ask("POST", "/robots/R7/tokens", api.TokenRequest{}, nil), api.KindInvalid, "R7")
		w.refuses(w.ask("POST", "/robots/r7/tokens", map[string]any{"valid_ms": 1}, nil), api.KindInvalid, "")

		old := newEnrollee(w, "r7", map[string]any{})
		e := newEnrollee(w, "r7", map[string]any{"serial": "B-7"})
		_, p := old.enrol()
		w.refuses(p, api.KindTokenExpired, "fleetd robot enrol r7")

		ask := func(change func(*schema.EnrolRequest)) *api.Problem {
			q := schema.EnrolRequest{Token: e.token.String(), CSR: e.csr("r7"), Serial: "B-7"}
			change(&q)
			_, p := e.post("/enrol", q)
			return p
		}
		w.refuses(ask(func(q *schema.EnrolRequest) { q.Serial = "B-8" }), api.KindWrongBody, "B-7")
		w.refuses(ask(func(q *schema.EnrolRequest) { q.CSR = e.csr("r8") }), api.KindRequest, "r8")
		w.refuses(ask(func(q *schema.EnrolRequest) { q.CSR = "" }), api.KindInvalid, "")
		rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			w.Fatal(err)
		}
		weak := *e
		weak.key = rsaKey
		p = ask(func(q *schema.EnrolRequest) { q.CSR = weak.csr("r7") })
		w.refuses(p, api.KindRequest, "P-256")
		if len(p.Errors) != 1 || p.Errors[0].Code != ca.CodeWeakKey || p.Errors[0].Pointer != "/csr" {
			w.Errorf("%+v", p.Errors)
		}
		wrong := e.token
		wrong.Secret[0] ^= 1
		w.refuses(ask(func(q *schema.EnrolRequest) { q.Token = wrong.String() }), api.KindToken, "")
		if p := ask(func(*schema.EnrolRequest) {}); p != nil {
			w.Errorf("after all that the right one is refused: %v", p)
		}
		// Somebody tries.
		for range 30 {
			if p = ask(func(q *schema.EnrolRequest) { q.Token = "TROUPE-r7-AAAA" }); p.Of(api.KindTooOften) {
				break
			}
			w.refuses(p, api.KindToken, "80 letters")
		}
		w.refuses(p, api.KindTooOften, "wait")
		w.refuses(ask(func(q *schema.EnrolRequest) { q.Token = wrong.String() }), api.KindTooOften, "wait")
		if p := ask(func(*schema.EnrolRequest) {}); p != nil {
			w.Errorf("the right one is refused for the wrong ones of its address: %v", p)
		}
	}, keyed(t))
}

func TestRobotRenewsWithItsCertificate(t *testing.T) {
	onBothInRealTime(t, func(w *world) {
		e := newEnrollee(w, "r7", map[string]any{})
		first, p := e.enrol()
		if p != nil {
			w.Fatal(p)
		}
		renew := func() (schema.Enrolled, *api.Problem) { return e.post("/renew", schema.RenewRequest{CSR: e.csr("r7")}) }
		_, p = renew()
		w.refuses(p, api.KindCertificate, "no client certificate")
		e.useCertificate(first)
		next, p := renew()
		if p != nil || next.Certificate == first.Certificate || next.Robot != "r7" {
			w.Fatalf("%+v: %v", next, p)
		}
		e.useCertificate(next)
		if _, p := renew(); p != nil {
			w.Errorf("with the renewed one: %v", p)
		}
		e.useCertificate(first)
		if _, p := renew(); p != nil {
			w.Errorf("the older one is good until its end: %v", p)
		}
		_, p = e.post("/renew", schema.RenewRequest{CSR: e.csr("r8")})
		w.refuses(p, api.KindRequest, "r8")

		foreign, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{Subject: pkix.Name{CommonName: "r7"},
			SerialNumber: e.useCertificate(first).SerialNumber},
			&x509.Certificate{Subject: pkix.Name{CommonName: "r7"}, SerialNumber: e.useCertificate(first).SerialNumber}, e.key.Public(), e.key)
		if err != nil {
			w.Fatal(err)
		}
		e.certificate = &tls.Certificate{Certificate: [][]byte{foreign}, PrivateKey: e.key}
		_, p = renew()
		w.refuses(p, api.KindCertificate, "not of this fleet")

		w.must("POST", "/robots/r7/revoke", api.RevokeRequest{Attribution: audit.Attribution{Who: "ann", Why: "stolen"}}, nil)
		e.useCertificate(first)
		_, p = renew()
		w.refuses(p, api.KindCertificate, "revoked")

		ended := map[string]int{}
		w.until("the refusals are in the audit", func() bool {
			clear(ended)
			for _, e := range w.audited("") {
				ended[fmt.Sprint(e.What, " ", e.Target, " ", e.Outcome)]++
			}
			return ended["renew renew refused"] == 4
		})
		if ended["enrol robot r7 done"] != 1 || ended["renew robot r7 done"] != 3 {
			w.Errorf("the audit has %v", ended)
		}
	}, keyed(t))
}

func TestRobotAddressServesNothingElse(t *testing.T) {
	onBothInRealTime(t, func(w *world) {
		e := newEnrollee(w, "r7", map[string]any{})
		client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
		for _, path := range []string{"/", "/api/v1/robots", "/api/v1/stream", "/api/openapi.json", "/healthz", "/api/v1/enrol/../robots"} {
			response, err := client.Get(e.url + path)
			if err != nil {
				w.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != http.StatusNotFound {
				w.Errorf("%s: %s", path, response.Status)
			}
		}
	}, keyed(t))
}

func TestRevocationIsWrittenForBrokersAndPublished(t *testing.T) {
	onBothInRealTime(t, func(w *world) {
		e := newEnrollee(w, "r7", map[string]any{})
		first, p := e.enrol()
		if p != nil {
			w.Fatal(p)
		}
		serial := ca.Serial(e.useCertificate(first))
		var dry, done api.Revoked
		w.must("POST", "/robots/r7/revoke", api.RevokeRequest{DryRun: true}, &dry)
		w.must("POST", "/robots/r7/revoke", api.RevokeRequest{Attribution: audit.Attribution{Who: "ann", Why: "stolen"}}, &done)
		if !done.Broker {
			w.Error("fleetd has its broker, and says that it has none")
		}
		if !dry.DryRun || len(dry.Certificates) != 1 || len(done.Certificates) != 1 || done.Certificates[0] != serial {
			w.Errorf("%+v, then %+v", dry, done)
		}
		w.until("the list names it", func() bool { return listed(w, serial) })
		admin := w.broker.Load().Client(w.T, "admin")
		admin.Subscribe("troupe/v1/fleet/revoked")
		list := schema.Revoked{}
		for len(list.Names) == 0 {
			list, _ = schema.Decode[schema.Revoked](admin.Expect("troupe/v1/fleet/revoked").Payload)
		}
		if list.Names[0] != "r7" || len(list.Serials) != 1 || list.Serials[0] != serial {
			w.Errorf("brokers are sent %+v", list)
		}
		w.refuses(w.ask("POST", "/robots/r9/revoke", api.RevokeRequest{Attribution: audit.Attribution{Why: "stolen"}}, nil),
			api.KindNotFound, "r9")
		repeated := *e
		repeated.certificate = nil
		_, p = repeated.enrol() // the token has not expired, but does not end the revocation
		w.refuses(p, api.KindCertificate, "new token")

		back := newEnrollee(w, "r7", map[string]any{})
		if _, p := back.enrol(); p != nil {
			w.Fatal(p)
		}
		for len(list.Names) > 0 {
			list, _ = schema.Decode[schema.Revoked](admin.Expect("troupe/v1/fleet/revoked").Payload)
		}
		if len(list.Serials) != 1 {
			w.Errorf("when it came back brokers were sent %+v", list)
		}
	}, keyed(t))
}

// listed reports whether the list of the revoked in fleetd's folder names this
// certificate.
func listed(w *world, serial string) bool {
	text, err := os.ReadFile(filepath.Join(w.config.CA, vault.CRLFile))
	if err != nil {
		w.Fatal(err)
	}
	block, _ := pem.Decode(text)
	crl, err := x509.ParseRevocationList(block.Bytes)
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range crl.RevokedCertificateEntries {
		if e.SerialNumber.Text(16) == serial {
			return true
		}
	}
	return false
}

func TestInconsistentConfigurationIsRefused(t *testing.T) {
	for says, change := range map[string]func(*fleet.Config){
		"--http-tls-key":     func(c *fleet.Config) { c.HTTPFiles.Cert = "x.pem" },
		"fleetd ca init":     func(c *fleet.Config) { c.Enrol = "127.0.0.1:0" },
		"fleetd ca server":   func(c *fleet.Config) { c.Enrol, c.CA = "127.0.0.1:0", "x" },
		"the fleet's keys":   func(c *fleet.Config) { c.CA = t.TempDir() },
		"mqtts://broker":     func(c *fleet.Config) { c.RobotBrokers = []string{"broker"} },
		"of fleetd's addres": func(c *fleet.Config) { c.HTTPFiles = fleet.PairFiles{Cert: "/nowhere.pem", Key: "/nowhere.key"} },
	} {
		c := fleet.Config{Broker: "mqtt://127.0.0.1:1", Database: storetest.SQLite(t)}
		change(&c)
		f, err := fleet.Start(t.Context(), c)
		if err == nil {
			t.Errorf("it starts, without %q", says)
			_ = f.Close()
		} else if !strings.Contains(err.Error(), says) {
			t.Errorf("%v, without %q", err, says)
		}
	}
}

// A robot that is called like a fleetd instance or a client would be that client to brokers,
// which go by names.
func TestRobotCannotTakeAUsedName(t *testing.T) {
	onBothInRealTime(t, func(w *world) {
		w.stopFleetd()
		w.broker.Store(brokertest.Start(w.T, brokertest.InProcess, brokertest.Users(w.T, "fleetd fleetd\nhall fleetd\nguide operator\n"+
			"r7 robot\n")))
		w.startFleetd()
		refused := func(name, says string) {
			w.Helper()
			w.refuses(w.ask("POST", "/robots/"+name+"/tokens", api.TokenRequest{}, nil), api.KindInvalid, says)
			w.refuses(w.ask("POST", "/robots/"+name+"/adopt", audit.Attribution{Who: "ann"}, nil), api.KindInvalid, says)
			if d, _ := w.Robot(name); d.Adopted && name != "lena" { // lena was one before
				w.Errorf("%s belongs to the fleet", name)
			}
		}
		for name, says := range map[string]string{"fleetd": "this instance", "fleetd-b": "people's tools", "op1": "people's tools",
			"admin": "people's tools"} {
			refused(name, says)
		}
		w.refuses(w.ask("POST", "/robots/fleetd/revoke", api.RevokeRequest{Attribution: audit.Attribution{Who: "ann"}}, nil), api.KindInvalid,
			"fleetd ca revoke")

		early := map[string]*enrollee{}
		for _, name := range []string{"hall", "guide", "lena"} {
			early[name] = newEnrollee(w, name, map[string]any{}) // nobody is known to be called so yet
		}
		lena, p := early["lena"].enrol()
		if p != nil {
			w.Fatal(p)
		}
		broker := w.broker.Load()
		broker.Client(w.T, "guide").Publish("troupe/v1/fleet/cmd/guide/stop", "")
		broker.Client(w.T, "hall").Publish("troupe/v1/fleet/heartbeat/hall", `{"ts":"2030-01-01T00:00:00.000Z","session":"s","seq":1}`)
		w.must("POST", "/robots/r7/adopt", audit.Attribution{Who: "ann"}, nil)
		w.must("POST", "/desired", map[string]any{"selector": map[string]any{"ids": []string{"r7"}},
			"config": map[string]any{"set": map[string]any{"clients": map[string]string{"lena": "admin"}}}, "by": "ann"}, nil)
		w.until("guide to be seen", func() bool { return w.TakenBy("guide") != "" })
		w.until("hall to be seen", func() bool { return w.TakenBy("hall") != "" })
		for _, name := range []string{"guide", "hall", "lena"} {
			refused(name, "client")
		}
		for _, name := range []string{"guide", "hall"} {
			_, p := early[name].enrol()
			w.refuses(p, api.KindInvalid, "client")
		}
		early["lena"].useCertificate(lena)
		_, p = early["lena"].post("/renew", schema.RenewRequest{CSR: early["lena"].csr("lena")})
		w.refuses(p, api.KindInvalid, "client")
	}, keyed(t), strict)
}

func TestRobotNamedLikeAnInstanceIsNotAdoptedAutomatically(t *testing.T) {
	inWorld(t, func(w *world) {
		w.stopFleetd()
		w.broker.Store(brokertest.Start(w.T, brokertest.InProcess, brokertest.Users(w.T, "fleetd fleetd\nguest robot\nr7 robot\n")))
		w.startFleetd()
		startUnknownRobot(w, "guest")
		w.robot("r7")
		w.until("r7 is taken", func() bool { d, _ := w.Robot("r7"); return d.Adopted })
		if d, _ := w.Robot("guest"); d.Adopted {
			w.Error("guest belongs to the fleet")
		}
	})
}

// The broker keeps one document of the revoked, whoever wrote it last; and after a
// database came back from a copy, that document may know more than the database.
func TestOverwrittenFleetRevokedIsRepaired(t *testing.T) {
	inWorld(t, func(w *world) {
		const topic = "troupe/v1/fleet/revoked"
		w.robot("r8")
		w.robot("r9")
		w.must("POST", "/robots/r9/revoke", api.RevokeRequest{Attribution: audit.Attribution{Who: "ann", Why: "stolen"}}, nil)
		w.awaitPresence("r9", "lost")
		admin := w.broker.Load().Client(w.T, "admin")
		admin.Subscribe(topic)
		stands := func(what string, is func(l schema.Revoked) bool) (l schema.Revoked) {
			w.Helper()
			w.until(what, func() bool {
				for _, m := range admin.Inbox(topic) {
					l, _ = schema.Decode[schema.Revoked](m.Payload)
				}
				return is(l)
			})
			return l
		}
		own := w.Status().FleetID
		mine := func(names ...string) func(schema.Revoked) bool {
			return func(l schema.Revoked) bool { return l.FleetID == own && slices.Equal(l.Names, names) }
		}
		published := stands("the list to be published", mine("r9"))

		admin.Retain(topic, `{"rev":1,"fleet_id":"another","names":[],"serials":[],"ts":"2030-01-01T00:00:00.000Z"}`)
		stands("the other is there", func(l schema.Revoked) bool { return l.FleetID == "another" })
		if back := stands("the list to be published again", mine("r9")); back.Rev != published.Rev {
			w.Errorf("repeated as %+v, and was %+v", back, published)
		}

		admin.Retain(topic, `{"rev":40,"fleet_id":"`+own+`","names":["r8"],"serials":["ab12"],"ts":"2030-01-01T00:00:00.000Z"}`)
		w.awaitPresence("r8", "lost")
		all := stands("both are in it", mine("r8", "r9"))
		if all.Rev <= 40 || !slices.Equal(all.Serials, []string{"ab12"}) {
			w.Errorf("%+v", all)
		}
		var i api.Identity
		w.must("GET", "/robots/r8/identity", nil, &i)
		if i.Revoked == 0 {
			w.Error("the database did not take it in")
		}
		if w.sleep(5 * time.Minute); len(admin.Inbox(topic)) != 0 {
			w.Error("it is published although nothing is wrong with it")
		}
	})
}

func TestRevocationWithoutABrokerReportsThat(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r7")
		if err := w.broker.Load().Close(); err != nil {
			w.Fatal(err)
		}
		w.until("the broker is missed", func() bool { return !w.Status().Broker.OK })
		var done api.Revoked
		w.must("POST", "/robots/r7/revoke", api.RevokeRequest{Attribution: audit.Attribution{Who: "ann", Why: "stolen"}}, &done)
		if done.Broker {
			w.Error("it says that a broker received it")
		}
	})
}

// A thief of a fleetd instance's certificate can act as that fleetd, so it is persisted and can
// be taken away alone.
func TestCertificateOfAnInstanceIsRecordedAndCanBeRevoked(t *testing.T) {
	onBothInRealTime(t, func(w *world) {
		v, err := vault.Open(w.config.CA, time.Now())
		if err != nil {
			w.Fatal(err)
		}
		pair, err := v.IssueInstance("fleetd-b", time.Now())
		if err != nil {
			w.Fatal(err)
		}
		if err := v.SaveIssued(pair.Certificate); err != nil {
			w.Fatal(err)
		}
		serial := ca.Serial(pair.Certificate)
		find := func(serial string) (one api.InstanceCertificate) {
			var all api.InstanceCertificates
			w.must("GET", "/instance-certificates", nil, &all)
			for _, s := range all.Certificates {
				if s.Serial == serial {
					one = s
				}
			}
			return one
		}
		w.until("it is persisted", func() bool { return find(serial).Serial != "" })
		if s := find(serial); s.Name != "fleetd-b" || s.Revoked != 0 {
			w.Errorf("%+v", s)
		}
		admin := w.broker.Load().Client(w.T, "admin")
		admin.Subscribe("troupe/v1/fleet/revoked")
		var done api.RevokedCertificate
		w.must("POST", "/certificates/"+serial+"/revoke", audit.Attribution{Who: "ann", Why: "the laptop is lost"}, &done)
		list, _ := schema.Decode[schema.Revoked](admin.Expect("troupe/v1/fleet/revoked").Payload)
		if done.Name != "fleetd-b" || !done.Broker || len(list.Names) != 0 || !slices.Equal(list.Serials, []string{serial}) {
			w.Errorf("%+v, and brokers are sent %+v", done, list)
		}
		w.until("the list in the file names it", func() bool { return listed(w, serial) })
		if s := find(serial); s.Revoked == 0 || s.By != "ann" || s.Why != "the laptop is lost" {
			w.Errorf("%+v", s)
		}

		w.must("POST", "/certificates/c0ffee/revoke", audit.Attribution{Who: "ann", Why: "stolen"}, &done) // of which there is no record
		w.until("the list in the file names that too", func() bool { return listed(w, "c0ffee") && listed(w, serial) })
		for _, bad := range []string{"xyz", "0ab", strings.Repeat("a", 41), "AB"} {
			w.refuses(w.ask("POST", "/certificates/"+bad+"/revoke", audit.Attribution{}, nil), api.KindInvalid, "no serial number")
		}
		w.stopFleetd()
		w.startFleetd()
		w.until("all are there after a restart", func() bool { return find(serial).Revoked != 0 && find("c0ffee").Revoked != 0 })
	}, keyed(t))
}
