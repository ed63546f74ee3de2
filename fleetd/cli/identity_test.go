package cli

import (
	"strings"
	"testing"

	"troupe/fleetd/api"
)

func TestRevocationWithoutBrokerIsNotShownAsDone(t *testing.T) {
	r := api.Revoked{Robot: "r7", Certificates: []string{"a1"}, PresenceStatus: "unknown", Broker: true}
	if got, want := revokedLine(r),
		"r7 revoked: brokers refuse the name and 1 certificate, and close its connections (the robot is unknown)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Broker = false
	if got := revokedLine(r); !strings.Contains(got, "the broker does not know it yet") || strings.Contains(got, "brokers refuse") {
		t.Errorf("without a broker: %q", got)
	}
	r.DryRun = true
	if got := revokedLine(r); !strings.Contains(got, "would refuse") {
		t.Errorf("a dry run: %q", got)
	}
}
