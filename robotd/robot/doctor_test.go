package robot

import (
	"context"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/robotd/identity"
	"troupe/robotd/page"
	"troupe/schema"
	"troupe/schema/finding"
)

// patient is a robot's computer and settings without a fault, until a test puts one in.
type patient struct {
	t  *testing.T
	c  Config
	on Computer
	ca *brokertest.CA
	// plain has no TLS, secured asks for certificates.
	plain, secured *brokertest.Broker
	bus            brokertest.Backend
	adapter        *brokertest.Client
}

func newPatient(t *testing.T) *patient {
	p := &patient{t: t, ca: brokertest.NewCA(t)}
	p.plain, p.secured = brokertest.Start(t), brokertest.Start(t, p.ca.Configure)
	p.bus = brokertest.NewBus(t)
	t.Cleanup(func() { _ = p.bus.Close() })
	p.adapter = brokertest.Connect(t, p.bus.Dial, brokertest.ConnectPacket{ClientID: "base"})
	data := t.TempDir()
	saveIdentity(t, p.ca, data)
	p.c = Config{ID: "r1", Broker: "mqtts://" + p.secured.AddrOf("mqtts"), Data: data, Page: Page{Listen: "127.0.0.1:0"}}
	p.on = ThisComputer()
	p.on.Synchronised = func() (bool, error) { return true, nil }
	p.on.Load, p.on.Processors = func() (float64, error) { return 3.9, nil }, 2
	p.on.Free = func(string) uint64 { return 4 << 30 }
	p.on.Find = func(string) error { return nil }
	p.on.Sounds = t.TempDir()
	return p
}

// certify replaces the identity by one whose certificate was changed.
func (p *patient) certify(change func(*x509.Certificate)) {
	p.t.Helper()
	p.ca.SaveClient(p.ca.IssueClient(schema.RoleRobot, "r1", change), "cert.pem", "key.pem")
	for _, file := range []string{"cert.pem", "key.pem"} {
		text, err := os.ReadFile(p.ca.Path(file))
		if err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.c.Data, "identity", file), text, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *patient) anonymous() {
	if err := os.RemoveAll(filepath.Join(p.c.Data, "identity")); err != nil {
		p.t.Fatal(err)
	}
	p.c.Broker = "mqtt://" + p.plain.Addr()
}

// onBus makes the adapter base the body, and publishes its presence.
func (p *patient) onBus(presence string) {
	p.c.Body = Body{Adapters: []string{"base"}, Bus: "mqtt://bus", Dial: p.bus.Dial}
	p.adapter.Retain("bus/base/out/presence", presence)
	p.adapter.Ping()
}

// judged lets robotd be on the bus and say what it thinks of the adapter base.
func (p *patient) judged(health string) {
	p.onBus(describedBase)
	p.adapter.Retain("bus/robotd/presence", `{"v":1,"present":true,"session":"s"}`)
	ctx, cancel := context.WithCancel(context.Background())
	robotd, ended := brokertest.Connect(p.t, p.bus.Dial, brokertest.ConnectPacket{ClientID: "robotd"}), make(chan struct{})
	p.t.Cleanup(func() { cancel(); <-ended })
	go func() {
		defer close(ended)
		for tick := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; {
			select {
			case <-tick.C:
				robotd.Publish("bus/base/in/health", health)
			case <-ctx.Done():
				tick.Stop()
			}
		}
	}()
}

const describedBase = `{"v":1,"present":true,"session":"s1","describe":{"model":"acme","state_ms":20,"units":[{"id":"head","kind":"head","yaw_rad":{"min":-1,"max":1}}]}}`

// TestEachUsualMistakeIsFound makes one mistake after the other on a robot that has no other.
func TestEachUsualMistakeIsFound(t *testing.T) {
	for _, row := range []struct {
		name    string
		mistake func(p *patient)
		part    string
		verdict finding.Severity
		detail  string
		help    string
	}{
		{"none", func(*patient) {}, "", finding.OK, "", ""},
		{"none without certificates", (*patient).anonymous, "", finding.OK, "", ""},
		{"none with an adapter", func(p *patient) { p.onBus(describedBase) }, "", finding.OK, "", ""},
		{"a clock before the build", func(p *patient) { p.on.Built = time.Now().Add(time.Hour) }, "clock", finding.Fail, "was built at",
			"set the clock"},
		{"a clock before the fleet's time", func(p *patient) {
			if err := identity.SaveFleetTime(p.c.Data, time.Now().Add(time.Hour)); err != nil {
				p.t.Fatal(err)
			}
		}, "clock", finding.Fail, "the fleet's time was", "set the clock"},
		{"a clock that follows nothing", func(p *patient) {
			p.on.Synchronised = func() (bool, error) { return false, nil }
		}, "clock", finding.Warn, "follows no source", "timesyncd"},
		{"a clock that nobody knows of", func(p *patient) {
			p.on.Synchronised = func() (bool, error) { return false, errors.ErrUnsupported }
		}, "clock", finding.Warn, "unknown", "timesyncd"},
		{"a busy computer", func(p *patient) {
			p.on.Load = func() (float64, error) { return 12.34, nil }
		}, "processor", finding.Warn, "load average 12.3 in the last minute, 2 processors", "nice -n -5"},
		{"a load that nobody knows", func(p *patient) {
			p.on.Load = func() (float64, error) { return 0, errors.ErrUnsupported }
		}, "", finding.OK, "", ""},
		{"a full disk", func(p *patient) { p.on.Free = func(string) uint64 { return 1 << 20 } }, "disk", finding.Fail, "1 MiB are free",
			"make room"},
		{"a disk that says that it is full", func(p *patient) {
			p.on.Sync = func(*os.File) error { return syscall.ENOSPC }
		}, "disk", finding.Fail, "is full", "make room"},
		{"little room", func(p *patient) { p.on.Free = func(string) uint64 { return 100 << 20 } }, "disk", finding.Warn, "100 MiB",
			"stories with sounds"},
		{"a disk of another user", func(p *patient) {
			p.on.Sync = func(*os.File) error { return fs.ErrPermission }
		}, "disk", finding.Fail, "nothing can be written", "user that runs robotd"},
		{"a broken disk", func(p *patient) { p.on.Sync = func(*os.File) error { return syscall.EIO } }, "disk", finding.Fail,
			"input/output error", "dmesg"},
		{"a slow disk", func(p *patient) {
			late := time.Duration(0)
			p.on.Now = func() time.Time { return time.Now().Add(late) }
			p.on.Sync = func(*os.File) error { late += 7 * time.Second; return nil }
		}, "disk", finding.Warn, "took 70", "faster one"},
		{"a directory that is not there", func(p *patient) {
			p.anonymous()
			p.c.Data = filepath.Join(p.c.Data, "none")
		}, "disk", finding.Warn, "does not exist yet", "--data"},
		{"a directory whose parent is not there either", func(p *patient) {
			p.anonymous()
			p.c.Data = filepath.Join(p.c.Data, "none", "below")
		}, "disk", finding.Warn, "does not exist yet", "--data"},
		{"no identity", func(p *patient) {
			p.anonymous()
			p.c.Broker = "mqtts://" + p.secured.AddrOf("mqtts")
			p.c.BrokerCA = p.ca.Path("ca.pem")
		}, "identity", finding.Fail, "neither a certificate nor a password", "robotd enrol"},
		{"a torn identity", func(p *patient) {
			if err := os.WriteFile(filepath.Join(p.c.Data, "identity", "cert.pem"), []byte("torn"), 0o600); err != nil {
				p.t.Fatal(err)
			}
		}, "identity", finding.Fail, "open the identity", "enrol --again"},
		{"an identity that has ended", func(p *patient) {
			p.certify(func(c *x509.Certificate) {
				c.NotBefore, c.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-time.Hour)
			})
		}, "identity", finding.Fail, "expired on", "enrol --again"},
		{"an identity that has not begun", func(p *patient) {
			p.certify(func(c *x509.Certificate) {
				c.NotBefore, c.NotAfter = time.Now().Add(time.Hour), time.Now().Add(40*time.Hour)
			})
		}, "identity", finding.Fail, "is valid only from", "clock"},
		{"an identity that is not renewed", func(p *patient) {
			p.certify(func(c *x509.Certificate) {
				c.NotBefore, c.NotAfter = time.Now().Add(-80*24*time.Hour), time.Now().Add(10*24*time.Hour)
			})
		}, "identity", finding.Warn, "should have been renewed", "robotd renew"},
		{"a key that everybody may read", func(p *patient) {
			if err := os.Chmod(filepath.Join(p.c.Data, "identity", "key.pem"), 0o644); err != nil {
				p.t.Fatal(err)
			}
		}, "identity", finding.Fail, "others on this computer may read", "chmod 600"},
		{"no broker", func(p *patient) { p.anonymous(); p.c.Broker = "mqtt://127.0.0.1:1" }, "broker", finding.Fail, "connection refused",
			"nothing listens there"},
		{"a name that nobody knows", func(p *patient) { p.anonymous(); p.c.Broker = "mqtt://broker.invalid:1883" }, "broker", finding.Fail,
			"broker.invalid", "name of the broker"},
		{"a broker of another CA", func(p *patient) { p.c.BrokerCA = brokertest.NewCA(p.t).Path("ca.pem") }, "broker", finding.Fail,
			"certificate", "--broker-ca"},
		{"a broker of another name", func(p *patient) {
			p.c.Broker = strings.Replace(p.c.Broker, "127.0.0.1", "0.0.0.0", 1)
		}, "broker", finding.Fail, "0.0.0.0", "for other names"},
		{"a broker whose certificate is over", func(p *patient) {
			p.on.Now = func() time.Time { return time.Now().AddDate(50, 0, 0) }
		}, "broker", finding.Fail, "expired", "the finding clock"},
		{"a broker that refuses the certificate", func(p *patient) {
			p.certify(func(c *x509.Certificate) {
				c.NotBefore, c.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-time.Hour)
			})
		}, "broker", finding.Fail, "remote error", "the finding identity"},
		{"a port without TLS", func(p *patient) { p.c.Broker = "mqtts://" + p.plain.Addr() }, "broker", finding.Fail, "TLS", "has no TLS"},
		{"no file of the CA", func(p *patient) { p.c.BrokerCA = "none.pem" }, "broker", finding.Fail, "none.pem", "--broker-ca"},
		{"a robot that the broker does not know", func(p *patient) {
			p.anonymous()
			p.c.Broker = "mqtt://" + brokertest.Start(p.t, brokertest.Users(p.t, "op1 operator\n")).Addr()
		}, "broker", finding.Fail, "refused by the broker", "name and password"},
		{"no bus", func(p *patient) {
			p.c.Body = Body{Adapters: []string{"base"}, Bus: "mqtt://127.0.0.1:1"}
		}, "body", finding.Fail, "connection refused", "--bus-listen"},
		{"a bus that robotd serves and does not", func(p *patient) {
			p.c.Body = Body{Adapters: []string{"base"}, Bus: "mqtt://127.0.0.1:1", Listen: "127.0.0.1:1"}
		}, "body", finding.Warn, "connection refused", "while robotd runs"},
		{"an adapter that is gone", func(p *patient) { p.onBus(`{"v":1,"present":false,"session":"s1"}`) }, "body", finding.Fail, "adapter base is not on", "start it"},
		{"an adapter of another name", func(p *patient) {
			p.onBus(describedBase)
			p.c.Body.Adapters = []string{"bass"}
		}, "body", finding.Fail, "adapter bass is not on mqtt://bus; there are: base", "its name must be as in"},
		{"an adapter that robotd uses", func(p *patient) { p.judged(`{"v":1,"health":"good"}`) }, "", finding.OK, "", ""},
		{"an adapter that hangs", func(p *patient) {
			p.judged(`{"v":1,"health":"silent","why":"the adapter is silent","way_out":"if it stays silent, restart the adapter"}`)
		}, "body", finding.Fail, "robotd does not use adapter base: the adapter is silent", "restart the adapter"},
		{"no sound device", func(p *patient) { p.on.Sounds += "/none" }, "sound", finding.Warn, "no sound device",
			"if the robot's speaker plays here"},
		{"no player", func(p *patient) {
			p.on.Find = func(string) error { return errors.New("not found") }
		}, "sound", finding.Warn, "aplay", "apt-get install alsa-utils"},
		{"a page that somebody else serves", func(p *patient) {
			other, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				p.t.Fatal(err)
			}
			p.t.Cleanup(func() { _ = other.Close() })
			p.c.Page.Listen = other.Addr().String()
		}, "page", finding.Warn, "is in use", "--page"},
		{"a password that everybody may read", func(p *patient) {
			if err := os.WriteFile(filepath.Join(p.c.Data, page.PasswordFile), []byte("x"), 0o644); err != nil { // 0644: everybody may read it
				p.t.Fatal(err)
			}
		}, "page", finding.Warn, "may read", "chmod 600"},
	} {
		t.Run(strings.ReplaceAll(row.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			row.mistake(p)
			found := Examine(t.Context(), p.c, nil, p.on)
			met := row.part == ""
			for _, f := range found {
				switch {
				case f.Part == row.part && f.Severity == row.verdict && strings.Contains(f.Detail, row.detail) && strings.Contains(f.Help, row.help):
					met = true
				case f.Part == row.part || f.Severity != finding.OK && row.part == "":
					t.Errorf("found %+v", f)
				case f.Severity != finding.OK && f.Help == "":
					t.Errorf("no help: %+v", f)
				}
			}
			if !met || len(found) < 7 {
				t.Errorf("not found in %+v", found)
			}
		})
	}
}

// TestUnreadSettingsAreFound is also about what depends on the settings, of which nothing is known then.
func TestUnreadSettingsAreFound(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	found := Examine(t.Context(), Config{}, errors.New("configuration robot.yaml: there is no setting brokr"), p.on)
	if f := found[0]; f.Part != "settings" || f.Severity != finding.Fail || !strings.Contains(f.Detail, "brokr") ||
		!strings.Contains(f.Help, "was not examined") {
		t.Errorf("found %+v", f)
	}
	for _, f := range found[1:] {
		if f.Part != "clock" && f.Part != "processor" {
			t.Errorf("found %+v", f)
		}
	}
}
