package schema

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawToken(t *rapid.T) EnrolmentToken {
	token := EnrolmentToken{Robot: rapid.StringMatching(`[a-z0-9][a-z0-9-]{0,62}`).Draw(t, "robot")}
	copy(token.Secret[:], rapid.SliceOfN(rapid.Byte(), SecretBytes, SecretBytes).Draw(t, "secret"))
	copy(token.Fingerprint[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "fingerprint"))
	return token
}

func TestTokenSurvivesEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := drawToken(t)
		got, err := ParseToken(" " + token.String() + "\n")
		if err != nil || got != token {
			t.Fatalf("%s was parsed as %+v, %v", token, got, err)
		}
	})
}

func TestDamagedTokenIsRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawToken(t).String()
		cut := rapid.IntRange(0, len(text)-1).Draw(t, "cut")
		if _, err := ParseToken(text[:cut]); err == nil {
			t.Fatalf("%s without its last %d letters is accepted", text, len(text)-cut)
		}
		letters := len(text) - 80
		at := rapid.IntRange(letters, len(text)-1).Draw(t, "at")
		other := "A"
		if text[at] == 'A' {
			other = "B"
		}
		got, err := ParseToken(text[:at] + other + text[at+1:])
		if err == nil { // a checksum of two bytes misses one in 65,536
			want, _ := ParseToken(text)
			if got == want {
				t.Fatalf("%s with another letter is the same token", text)
			}
		}
	})
}

func TestTokenIsBoundToRobot(t *testing.T) {
	token := EnrolmentToken{Robot: "r7"}
	if _, err := ParseToken(strings.Replace(token.String(), "-r7-", "-r8-", 1)); err == nil {
		t.Error("a token is accepted for another robot")
	}
}

func TestIdentityURNNamesRobotOrFleetd(t *testing.T) {
	for urn, want := range map[string]struct {
		role Role
		name string
		ok   bool
	}{
		"urn:troupe:robot:r7":      {RoleRobot, "r7", true},
		"urn:troupe:fleetd:fleetd": {RoleFleetd, "fleetd", true},
		"urn:troupe:robot:":        {},
		"urn:troupe:robot:R7":      {},
		"urn:troupe:admin:root":    {},
		"urn:troupe:robot:r7:x":    {},
	} {
		role, name, ok := ParseIdentityURN(urn)
		if role != want.role || name != want.name || ok != want.ok {
			t.Errorf("%s: %s %s %v", urn, role, name, ok)
		}
		if ok && IdentityURN(role, name) != urn {
			t.Errorf("%s is encoded as %s", urn, IdentityURN(role, name))
		}
	}
	if IdentityURN(RoleAdmin, "root") != "" {
		t.Error("an administrator has a URN")
	}
}
