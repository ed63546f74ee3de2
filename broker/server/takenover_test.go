package server_test

import (
	"testing"

	"troupe/schema"
)

func TestTakenOverConnectionIsNotified(t *testing.T) {
	b := start(t)
	for _, name := range []string{"r1", "fleetd"} {
		notice := "troupe/v1/clients/" + name + "/notice"
		old := b.Client(t, name)
		old.Subscribe(notice)
		now := b.Client(t, name)
		n, problems := schema.Decode[schema.Notice](old.Expect(notice).Payload)
		if len(problems) > 0 || n.Reason != schema.ReasonTakenOver {
			t.Errorf("%s got notice %+v %v", name, n, problems)
		}
		old.Lost()
		now.Subscribe(notice)
		now.Ping()
		if said := now.Inbox(notice); len(said) > 0 {
			t.Errorf("the newer connection of %s got %v", name, said)
		}
	}
}

// Without a subscription the notice must not be sent.
func TestTakenOverConnectionWithoutSubscriptionGetsNothing(t *testing.T) {
	b := start(t)
	old := b.Client(t, "op1")
	b.Client(t, "op1")
	old.Lost()
	if said := old.Inbox("#"); len(said) > 0 {
		t.Errorf("sent %v", said)
	}
}
