package server_test

import (
	"net"
	"strings"
	"testing"

	"troupe/broker/access"
	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema"
	"troupe/schema/argon2id"
)

// someHash is the hash of the password "secret".
var someHash = argon2id.HashPassword("secret", [argon2id.SaltBytes]byte{5}).String()

func TestNameWithoutProofIsRefusedFromOtherMachines(t *testing.T) {
	ca := brokertest.NewCA(t)
	var log logBuffer
	b := brokertest.Start(t, log.into, usersOf(ca, "op1 operator "+someHash+"\nr1 robot\nfleetd fleetd\n"), ca.Configure,
		func(c *server.Config) {
			c.MQTTS, c.WSS, c.WS, c.MQTT, c.Plaintext = "0.0.0.0:0", "0.0.0.0:0", "0.0.0.0:0", "127.0.0.1:0", true
		})
	at := func(kind string) string {
		_, port, err := net.SplitHostPort(b.AddrOf(kind))
		if err != nil {
			t.Fatal(err)
		}
		return "localhost:" + port
	}
	connect := func(name string) brokertest.ConnectPacket {
		return brokertest.ConnectPacket{Name: name, ClientID: name}
	}
	code := func(dial brokertest.Dialer, h brokertest.ConnectPacket) byte {
		c, code := brokertest.TryConnect(t, dial, h)
		if c != nil {
			c.Close()
		}
		return code
	}
	for _, name := range []string{"r1", "fleetd"} {
		for kind, dial := range map[string]brokertest.Dialer{
			"mqtts": brokertest.OverTLS(at("mqtts"), ca.TLS()),
			"wss":   brokertest.OverWebSocket("wss://"+at("wss")+"/mqtt", ca.TLS()),
			"ws":    brokertest.OverWebSocket("ws://"+at("ws")+"/mqtt", nil),
		} {
			if got := code(dial, connect(name)); got != 4 {
				t.Errorf("%s over %s from another machine without a certificate: code %d", name, kind, got)
			}
		}
		if got := code(brokertest.TCP(b.Addr()), connect(name)); got != 0 {
			t.Errorf("%s from this machine: code %d", name, got)
		}
	}
	for role, name := range map[schema.Role]string{schema.RoleRobot: "r1", schema.RoleFleetd: "fleetd"} {
		if got := code(brokertest.OverTLS(at("mqtts"), ca.TLS(ca.IssueClient(role, name))), connect(name)); got != 0 {
			t.Errorf("%s with its certificate: code %d", name, got)
		}
	}
	op := connect("op1")
	op.Password = "secret"
	if got := code(brokertest.OverTLS(at("mqtts"), ca.TLS()), op); got != 0 {
		t.Errorf("op1 with its password: code %d", got)
	}
	if !log.holds("users without a password can be impersonated") || !log.holds("[fleetd r1]") {
		t.Error("no warning about users without a password")
	}

	ca.Write("users", []byte("op1 operator\nr1 robot\n"))
	brokertest.Eventually(t, "the log of op1 without a password",
		func() bool { return log.holds("changed file refused") && log.holds("op1 has no password") })
	if got := code(brokertest.OverTLS(at("mqtts"), ca.TLS()), connect("op1")); got != 4 {
		t.Errorf("op1 after its hash was removed: code %d", got)
	}
}

func TestStartIsRefusedWithUnprovableNames(t *testing.T) {
	ca := brokertest.NewCA(t)
	pair := server.Files{Cert: ca.Path("server.pem"), Key: ca.Path("server.key.pem")}
	withCA := pair
	withCA.ClientCA = ca.Path("ca.pem")
	for _, c := range []struct {
		what, users string
		cfg         server.Config
		refused     string // empty: the broker starts
	}{
		{"every role, no CA", "fleetd fleetd\nop1 operator " + someHash + "\nr1 robot\n", server.Config{MQTTS: "0.0.0.0:0", Files: pair},
			"fleetd, r1"},
		{"an operator, who cannot have a certificate", "op1 operator\nr1 robot\n", server.Config{MQTTS: "0.0.0.0:0", Files: withCA},
			"op1 has no password"},
		{"with --plaintext", "op1 operator\n", server.Config{MQTT: "0.0.0.0:0", Plaintext: true}, "op1 has no password"},
		{"over WebSocket", "obs observer\n", server.Config{WSS: ":0", Files: withCA}, "obs has no password"},
		{"roles with certificates", "r1 robot\nfleetd fleetd\n", server.Config{MQTTS: "0.0.0.0:0", Files: withCA}, ""},
		{"only addresses of this machine", "op1 operator\nr1 robot\n", server.Config{MQTT: "127.0.0.1:0", MQTTS: "localhost:0", Files: pair}, ""},
	} {
		users, err := access.ParseUsers(strings.NewReader(c.users))
		if err != nil {
			t.Fatal(err)
		}
		ca.Write("users", []byte(c.users))
		inFile, within := c.cfg, c.cfg
		inFile.Files.Users, within.Users = ca.Path("users"), &users
		for how, cfg := range map[string]server.Config{"Files.Users": inFile, "Users": within} {
			s, err := server.New(cfg)
			if s != nil {
				s.Close()
			}
			switch {
			case c.refused == "" && err != nil:
				t.Errorf("%s, %s: %v", c.what, how, err)
			case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused) || !strings.Contains(err.Error(), "hash-password")):
				t.Errorf("%s, %s: error %v, want one with %q and the remedy", c.what, how, err, c.refused)
			}
		}
	}
}
