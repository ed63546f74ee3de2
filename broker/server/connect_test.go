package server_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"troupe/broker/access"
	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema"
	"troupe/schema/argon2id"
)

func TestConnectIdentityRules(t *testing.T) {
	b := start(t)
	for _, c := range []struct {
		why     string
		connect brokertest.ConnectPacket
		code    byte
	}{
		{"a robot with its name as id", brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}, 0},
		{"a robot's blob connection", brokertest.ConnectPacket{Name: "r1", ClientID: "r1.blob"}, 0},
		{"robotd doctor beside it", brokertest.ConnectPacket{Name: "r1", ClientID: "r1.doctor"}, 0},
		{"a person with their name as id", brokertest.ConnectPacket{Name: "op1", ClientID: "op1"}, 0},
		{"a person with a suffix", brokertest.ConnectPacket{Name: "obs", ClientID: "obs.1"}, 0},
		{"a person without an id", brokertest.ConnectPacket{Name: "op1"}, 0},
		{"a person with an id of MQTT.js", brokertest.ConnectPacket{Name: "op1", ClientID: "mqttjs_8be2476a"}, 0},
		{"a person with another person's id", brokertest.ConnectPacket{Name: "op2", ClientID: "op1"}, 0}, // each gets an id of its own, see below
		{"a person with a robot's id", brokertest.ConnectPacket{Name: "op2", ClientID: "r1"}, 0},
		{"a person with any id", brokertest.ConnectPacket{Name: "resp1", ClientID: " #/+\x01\u00e4" + strings.Repeat("x", 1000)}, 0},
		{"a client without a name", brokertest.ConnectPacket{}, 0},
		{"a client without a name with a robot's id", brokertest.ConnectPacket{ClientID: "r1"}, 0}, // gets another id, see below
		{"a person with a persistent session", brokertest.ConnectPacket{Name: "op2", ClientID: "op2", Keep: true}, 0},

		{"a robot without an id", brokertest.ConnectPacket{Name: "r1"}, 2},
		{"a robot with a suffix", brokertest.ConnectPacket{Name: "r1", ClientID: "r1.x"}, 2},
		{"a robot with a persistent session", brokertest.ConnectPacket{Name: "r1", ClientID: "r1", Keep: true}, 2},
		{"a robot with an id of MQTT.js", brokertest.ConnectPacket{Name: "r1", ClientID: "mqttjs_8be2476a"}, 2},
		{"fleetd with another id", brokertest.ConnectPacket{Name: "fleetd", ClientID: "fleetd-b"}, 2},
		{"a stop button with another id", brokertest.ConnectPacket{Name: "stop1", ClientID: "ESP32_1"}, 2},
		{"a panel with another id", brokertest.ConnectPacket{Name: "console-r1", ClientID: "console-r2"}, 2},
		{"an id with a wildcard", brokertest.ConnectPacket{Name: "stop1", ClientID: "stop1.+"}, 2},
		{"an id with upper case", brokertest.ConnectPacket{Name: "stop1", ClientID: "stop1.A"}, 2},
		{"an id with a control character", brokertest.ConnectPacket{Name: "stop1", ClientID: "stop1.\x01"}, 2},
		{"a name with a wildcard", brokertest.ConnectPacket{Name: "#", ClientID: "#"}, 4},
		{"a name with a slash", brokertest.ConnectPacket{Name: "a/b", ClientID: "a/b"}, 4},
		{"no keep-alive", brokertest.ConnectPacket{Name: "r1", ClientID: "r1", NoKeepAlive: true}, 2},
		{"a keep-alive of an hour", brokertest.ConnectPacket{Name: "r1", ClientID: "r1", KeepAlive: 3600}, 2},
		{"MQTT 5", brokertest.ConnectPacket{Name: "r1", ClientID: "r1", Protocol: 5}, 0x84},
		{"MQTT 3.1", brokertest.ConnectPacket{Name: "r1", ClientID: "r1", Protocol: 3}, 1},
	} {
		got, code := brokertest.TryConnect(t, b.Dial, c.connect)
		if code != c.code {
			t.Errorf("%s: code %d, want %d", c.why, code, c.code)
		}
		if got != nil {
			got.Close()
		}
	}
}

func TestSessionCannotBeTakenWithAnotherName(t *testing.T) {
	b := start(t)
	robot := b.Client(t, "r1")
	for _, h := range []brokertest.ConnectPacket{{ClientID: "r1"}, {Name: "op1", ClientID: "r1"}, {Name: "r2", ClientID: "r1"},
		{Name: "r1", ClientID: "r1", Protocol: 5}} {
		if c, _ := brokertest.TryConnect(t, b.Dial, h); c != nil {
			c.Ping()
		}
	}
	robot.Ping() // still connected
}

// Whoever is not a robot, fleetd, a stop button or a panel may have any client id, as libraries make them.
func TestClientIDOfAPersonEndsNoSessionOfAnother(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		var held []*brokertest.Client
		ids := []string{"r1", "r1.blob", "fleetd", "fleetd.lead", "stop1", "stop1.gate", "console-r1", "console-r1.1", "op2.phone", "op2_tablet"}
		for _, id := range ids {
			name, _, _ := schema.SplitClientID(id)
			held = append(held, b.Client(t, name, brokertest.WithID(id)))
		}
		draw := rapid.OneOf(
			rapid.SampledFrom(ids),
			rapid.Map(rapid.SampledFrom(ids), func(id string) string { return id + "." }),
			rapid.StringMatching(`(mqttjs_|nodered_|r1|op1|op1\.|fleetd\.)[0-9a-f]{0,16}`),
			rapid.StringOf(rapid.RuneFrom([]rune("abr1.-_#+/$ A\u00e4"))),
		)
		from := rapid.SampledFrom([]string{"op1", "obs", "resp1", "admin"})
		for seed := range 10_000 {
			c, code := brokertest.TryConnect(t, b.Dial, brokertest.ConnectPacket{Name: from.Example(seed), ClientID: draw.Example(seed)})
			if code != 0 {
				t.Fatalf("%q: code %d", draw.Example(seed), code)
			}
			c.Close()
		}
		for _, c := range held {
			c.Ping()
		}
	})
}

// A client that keeps its id keeps its session: the newer connection ends the older one, as MQTT demands.
func TestNewerConnectionWithTheIDOfAPersonEndsTheOlderOne(t *testing.T) {
	b := start(t)
	older, other := b.Client(t, "op1", brokertest.WithID("mqttjs_8be2476a")), b.Client(t, "op2", brokertest.WithID("mqttjs_8be2476a"))
	newer := b.Client(t, "op1", brokertest.WithID("mqttjs_8be2476a"))
	older.Lost()
	other.Ping()
	newer.Ping()
}

// CONNACK has only a code, so the log has to say what is wrong and what to do.
func TestRefusedConnectIsLoggedWithTheWayOut(t *testing.T) {
	users := brokertest.Users(t, "op1 operator "+argon2id.HashPassword("secret", [16]byte{1}).String()+"\nr1 robot\nstop1 stop\n")
	for want, connect := range map[string]brokertest.ConnectPacket{
		"client id \\\"ESP32\\\" of user stop1 with role stop: it must be stop1, or stop1, a dot": {Name: "stop1", ClientID: "ESP32"},
		"of robot r1: it must be r1":                           {Name: "r1", ClientID: "mqttjs_8be2476a"},
		"keep-alive 0 s: set it to 5 to 300 s":                 {Name: "r1", ClientID: "r1", NoKeepAlive: true},
		"unknown user \\\"ann\\\": add a line":                 {Name: "ann", ClientID: "ann"},
		"the client gave no user name: give it":                {},
		"wrong password: give the client the right one":        {Name: "op1", ClientID: "op1", Password: "Secret"},
		"no client id and no clean session: set clean session": {Name: "op1", Keep: true, Password: "secret"},
		"only MQTT 3.1.1 (level 4) is supported; set it":       {Name: "r1", ClientID: "r1", Protocol: 3},
	} {
		var log logBuffer
		b := start(t, log.into, users) // each broker logs its first refusal at once
		if c, _ := brokertest.TryConnect(t, b.Dial, connect); c != nil {
			t.Errorf("%s: accepted", want)
		}
		if err := b.Close(); err != nil || !log.holds(want) {
			t.Errorf("%v, want %s in the log:\n%s", err, want, log.text.String())
		}
	}
}

// BenchmarkConnect measures CONNECT and CONNACK of one client after the other, with an id of the form that each role
// may have and with one that a library made.
func BenchmarkConnect(b *testing.B) {
	for _, id := range []string{"op1.bench", "mqttjs_8be2476a"} {
		b.Run(id, func(b *testing.B) {
			broker := start(b, brokertest.InProcess)
			for b.Loop() {
				c := broker.Client(b, "op1", brokertest.WithID(id))
				c.Close()
			}
		})
	}
}

// The connection that remains must also receive.
func TestOneConnectionPerIDRemainsAndReceives(t *testing.T) {
	b := start(t, func(c *server.Config) { c.RobotConnects = 1000 })
	fleetd := b.Client(t, "fleetd")
	for round := range 60 {
		var wg sync.WaitGroup
		clients := make([]*brokertest.Client, 8)
		for i := range clients {
			wg.Add(1)
			go func() {
				defer wg.Done()
				clients[i], _ = brokertest.TryConnect(t, b.Dial, brokertest.ConnectPacket{Name: "r1", ClientID: "r1"})
				if clients[i] != nil && i%2 == 0 {
					clients[i].Cut()
				}
			}()
		}
		wg.Wait()
		last := b.Client(t, "r1")
		last.Subscribe(r1 + "cmd/#")
		fleetd.Publish(r1+"cmd/fleetd/safety/stop", fmt.Sprint(round))
		last.Expect(r1 + "cmd/#")
		for _, c := range clients {
			if c != nil {
				c.Lost()
			}
		}
		if n := b.Status()["clients"]; n > 2 {
			t.Fatalf("round %d: %d clients", round, n)
		}
	}
}

func TestPasswordsAreChecked(t *testing.T) {
	hash := argon2id.HashPassword("secret", [16]byte{1})
	users, err := access.ParseUsers(strings.NewReader("r1 robot " + hash.String() + "\nop1 operator\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, func(c *server.Config) { c.Dev, c.Users = false, &users })
	for _, c := range []struct {
		connect brokertest.ConnectPacket
		code    byte
	}{
		{brokertest.ConnectPacket{Name: "r1", ClientID: "r1", Password: "secret"}, 0},
		{brokertest.ConnectPacket{Name: "op1", ClientID: "op1"}, 0}, // in-process; see TestNameWithoutProofIsRefusedFromOtherMachines
		{brokertest.ConnectPacket{Name: "r1", ClientID: "r1", Password: "Secret"}, 4},
		{brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}, 4},
		{brokertest.ConnectPacket{Name: "r2", ClientID: "r2"}, 4},
		{brokertest.ConnectPacket{}, 4},
	} {
		got, code := brokertest.TryConnect(t, b.Dial, c.connect)
		if code != c.code {
			t.Errorf("%+v: code %d, want %d", c.connect, code, c.code)
		}
		if got != nil {
			got.Close()
		}
	}
	if n := b.Status()["passwords_wrong"]; n != 2 {
		t.Errorf("%d wrong passwords counted", n)
	}
}

func TestEmptyUsersFileAdmitsNobody(t *testing.T) {
	users, err := access.ParseUsers(strings.NewReader("# no users yet\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, func(c *server.Config) { c.Dev, c.Users = false, &users })
	for _, name := range []string{"", "admin", "fleetd", "r1"} {
		if _, code := brokertest.TryConnect(t, b.Dial, brokertest.ConnectPacket{Name: name, ClientID: name}); code == 0 {
			t.Errorf("%q may connect", name)
		}
	}
}
