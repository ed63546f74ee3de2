package view

import (
	"strings"
	"testing"
)

func TestDifferentProtocolVersionIsReported(t *testing.T) {
	for _, c := range []struct{ robot, says string }{
		{"1.0", ""}, {"1.0 2.0", ""}, {"", ""},
		{"1.1", "newer on one side"}, {"2.0", "do not understand"}, {"2.0 2.1", "do not understand"}, {"1.2 2.0", "newer on one side"},
	} {
		if said := protocolSkew(strings.Fields(c.robot)); (said == "") != (c.says == "") || !strings.Contains(said, c.says) {
			t.Errorf("a robot that speaks %q: %q", c.robot, said)
		}
	}
}
