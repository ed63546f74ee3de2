package argon2id

import (
	"strings"
	"testing"
)

func TestNewHashesHaveTheCostThatOWASPRecommends(t *testing.T) {
	if h := HashPassword("correct horse", [SaltBytes]byte{1}).String(); !strings.HasPrefix(h, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Error(h)
	}
}

func TestNobodyCostsWhatANewHashCostsAndMatchesNoPassword(t *testing.T) {
	nobody, empty := Nobody(), HashPassword("", [SaltBytes]byte{})
	cost := func(h Hash) string { return h.String()[:strings.LastIndex(h.String(), "$")] }
	if cost(nobody) != cost(empty) || len(nobody.String()) != len(empty.String()) {
		t.Errorf("%v, want the cost of %v", nobody, empty)
	}
	if nobody.Verify(nil) {
		t.Error("it matches the empty password")
	}
}

func TestHashSurvivesParsing(t *testing.T) {
	h := HashPassword("correct horse", [SaltBytes]byte{1, 2, 3})
	back, err := Parse(h.String())
	if err != nil || back.String() != h.String() {
		t.Fatalf("%v, %v, want %v", back, err, h)
	}
}
