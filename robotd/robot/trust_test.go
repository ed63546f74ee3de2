package robot

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"testing"

	"troupe/robotd/identity"
	"troupe/schema/sign"
)

func TestKeysOfEnrolmentAreTrustedUnlessOthersAreConfigured(t *testing.T) {
	key := func(seed byte) sign.Key {
		text := make([]byte, ed25519.SeedSize)
		text[0] = seed
		return sign.PublicKey(sign.SignsDesired, ed25519.NewKeyFromSeed(text))
	}
	c := Config{ID: "r1", Data: t.TempDir(),
		enrolled: enrolled{enrolment: identity.Fleetd{FleetID: "db-1", TrustKeys: []string{key(1).String()}}}}
	believed := func(want sign.Key) {
		t.Helper()
		b, err := c.brain()
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Trust) != 1 || b.Trust[0].String() != want.String() || b.FleetID != "db-1" {
			t.Errorf("trusted keys %v, fleet %q", b.Trust, b.FleetID)
		}
	}
	believed(key(1))
	if err := os.WriteFile(filepath.Join(c.Data, trustFile), []byte(key(2).String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	believed(key(2))
	if err := os.Remove(filepath.Join(c.Data, trustFile)); err != nil {
		t.Fatal(err)
	}
	c.enrolment.TrustKeys = []string{"no key"}
	if _, err := c.brain(); err == nil {
		t.Error("an invalid key is ignored")
	}
}
