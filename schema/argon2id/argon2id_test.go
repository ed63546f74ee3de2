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

func TestHashSurvivesParsing(t *testing.T) {
	h := HashPassword("correct horse", [SaltBytes]byte{1, 2, 3})
	back, err := Parse(h.String())
	if err != nil || back.String() != h.String() {
		t.Fatalf("%v, %v, want %v", back, err, h)
	}
}
