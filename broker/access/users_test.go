package access

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/argon2id"
)

func TestUsersFileErrorNamesTheLine(t *testing.T) {
	for line, want := range map[string]string{
		"r1":              "1 words",
		"r1 robot x y":    "4 words",
		"R1 robot":        `name "R1"`,
		"r.1 robot":       `name "r.1"`,
		"r1 king":         `role "king"`,
		"r1 broker":       `role "broker"`,
		"p console":       "console:r1",
		"p console:":      "console:r1",
		"p console:R1":    "console:r1",
		"p console:r1:r2": "console:r1",
		"p operator:r1":   "only a console",
		"r1 robot:":       "only a console",
		"r1 robot secret": "not an argon2id hash",
		"r1 robot $argon2i$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA":        "not an argon2id hash",
		"r1 robot $argon2id$v=16$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA":       "version",
		"r1 robot $argon2id$v=19$m=9999999,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA": "t from 1 to 10",
		"r1 robot $argon2id$v=19$m=8,t=0,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA":       "t from 1 to 10",
		"r1 robot $argon2id$v=19$m=8,t=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA":           "parameters",
		"r1 robot $argon2id$v=19$m=8,t=1,p=1$c2Fs$aGFzaGhhc2hoYXNoaGFzaA":              "salt",
		"r1 robot $argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$":                             "hash",
	} {
		_, err := ParseUsers(strings.NewReader("# head\n\nop1 operator\n" + line + "\n"))
		if err == nil || !strings.Contains(err.Error(), "line 4: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want line 4 and %q", line, err, want)
		}
	}
	_, err := ParseUsers(strings.NewReader("op1 operator\nop1 admin\nx king\n"))
	if err == nil || !strings.Contains(err.Error(), "line 2: user op1 is listed twice") || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("error %v, want both lines", err)
	}
}

func TestUsersFileDefinesUsers(t *testing.T) {
	h := argon2id.HashPassword("secret", [argon2id.SaltBytes]byte{7})
	u, err := ParseUsers(strings.NewReader("r1 robot " + h.String() + "\n  op1   operator  \npanel console:r1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := u.Find("r1"); !ok || r.Role != schema.RoleRobot || !r.Hash.Verify([]byte("secret")) || r.Hash.Verify([]byte("secret ")) {
		t.Errorf("r1: %+v %v", r, ok)
	}
	if o, ok := u.Find("op1"); !ok || o.Role != schema.RoleOperator || o.Hash != nil {
		t.Errorf("op1: %+v %v", o, ok)
	}
	if p, ok := u.Find("panel"); !ok || p.Role != schema.RoleConsole || p.Robot != "r1" {
		t.Errorf("panel: %+v %v", p, ok)
	}
	for _, name := range []string{"", "r2", "admin", "R1"} {
		if _, ok := u.Find(name); ok {
			t.Errorf("unknown user %q is found", name)
		}
	}
	var none Users
	if _, ok := none.Find(""); ok || none.Len() != 0 {
		t.Error("the zero value has users")
	}
}

func TestDevDerivesRoleFromName(t *testing.T) {
	for name, want := range map[string]schema.Role{
		"": schema.RoleObserver, "obs": schema.RoleObserver, "op1": schema.RoleOperator, "op9": schema.RoleOperator,
		"resp1": schema.RoleResponder, "stop1": schema.RoleStop,
		"admin": schema.RoleAdmin, "fleetd": schema.RoleFleetd, "r1": schema.RoleRobot, "op10": schema.RoleRobot,
		"fleetd-a": schema.RoleFleetd, "fleetd-": schema.RoleFleetd, "fleetda": schema.RoleRobot, "console-r1": schema.RoleConsole,
		"console-": schema.RoleRobot,
	} {
		if u, ok := Dev().Find(name); !ok || u.Role != want {
			t.Errorf("%q is %s, want %s", name, u.Role, want)
		}
	}
	for _, u := range Dev().All() {
		if u.Name != "" && !schema.ReservedName(u.Name) {
			t.Errorf("%s is not a reserved name", u.Name)
		}
	}
	for _, name := range []string{"fleetd", "fleetd-a", "console-r1", "op1", "resp1", "stop1", "obs", "admin"} {
		if u, _ := Dev().Find(name); !schema.ReservedName(name) || u.Role == schema.RoleRobot {
			t.Errorf("%s has role %s: want a reserved name of another role than robot", name, u.Role)
		}
	}
	if _, ok := Dev().Find("#"); ok {
		t.Error("a wildcard is a valid robot name")
	}
}

func FuzzParseUsers(f *testing.F) {
	f.Add("r1 robot " + argon2id.HashPassword("x", [argon2id.SaltBytes]byte{}).String())
	f.Add("# x\nop1 operator\n")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ParseUsers(strings.NewReader(text))
		if err == nil {
			for name, user := range u.byName {
				if name != user.Name || !schema.ValidID(name) {
					t.Fatalf("user %q under %q", user.Name, name)
				}
			}
		}
	})
}

func TestClientIDBelongsToUserName(t *testing.T) {
	names := rapid.SampledFrom([]string{"", "r1", "r2", "op1", "op2", "obs", "fleetd", "guest", "R1", "#"})
	ids := rapid.SampledFrom([]string{"", "r1", "r1.blob", "r1_blob", "r1.doctor", "r1_doctor", "r1_x", "r2", "op1", "op1.a",
		"op1.a.b", "op2", "obs.1", "guest", "guest.x", "fleetd", "op1.", ".op1", "op1.+"})
	rapid.Check(t, func(t *rapid.T) {
		c := Connect{Protocol: 4, KeepAlive: 60, Clean: rapid.Bool().Draw(t, "clean"), Name: names.Draw(t, "name"), ClientID: ids.Draw(t, "id")}
		user, known := Dev().Find(c.Name)
		if !known {
			return
		}
		id, no := Identify(c, user, "random")
		if no != nil {
			if no.Detail == "" || no.Code == 0 {
				t.Fatalf("%+v is refused without a reason", c)
			}
			return
		}
		if name, _, _ := schema.SplitClientID(id.ClientID); name != id.Name || id.Role != user.Role {
			t.Fatalf("%+v is %+v", c, id)
		}
		if c.Name != "" && id.Name != c.Name || c.Name == "" && id.Name != guest {
			t.Fatalf("%+v is %+v", c, id)
		}
		if id.Role == schema.RoleRobot && (!c.Clean ||
			!slices.Contains([]string{"", ".blob", "_blob", ".doctor", "_doctor"}, strings.TrimPrefix(id.ClientID, id.Name))) {
			t.Fatalf("robot %+v is %+v", c, id)
		}
	})
}
