package store_test

import (
	"testing"

	"troupe/fleetd/notify"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

func notificationsAreDeliveredInOrder(t *testing.T, address string) {
	s := storetest.Open(t, address)
	crew := store.Receiver{ID: "crew", Receiver: notify.Receiver{Kind: notify.Webhook, URL: "https://a.example"},
		Sealed: []byte{0, 255, 7}, Secrets: []string{"hmac_key", "token"}, ChangedAt: at(1), ChangedBy: "anna"}
	route := store.Route{ID: "all", Route: notify.Route{Receiver: "crew", Sites: []string{"„ü“"}}, ChangedAt: at(1), ChangedBy: "anna"}
	transact(t, s, func(tx *store.Tx) error {
		if err := tx.PutReceiver(t.Context(), crew); err != nil {
			return err
		}
		return tx.PutRoute(t.Context(), route)
	})
	crew.Version, route.Version = 1, 1
	wantEqual(t, "the receiver", must[store.Receiver](t)(s.Receiver(t.Context(), "crew")), crew)
	wantEqual(t, "the routes", must[[]store.Route](t)(s.Routes(t.Context())), []store.Route{route})

	state := notify.State{Series: "s", Num: 2, Alerts: []notify.Tracked{{Alert: notify.Alert{Robot: "r1", ID: "a1"}}}}
	one := notify.Notification{ID: "n1", Kind: notify.KindAlerts, Route: "all", Receiver: "crew", At: schema.TimeOf(at(2))}
	two, other := one, one
	two.ID, other.ID, other.Receiver = "n2", "n3", "phones"
	save := func(tx *store.Tx) error {
		return tx.StepRoute(t.Context(), route, state, []notify.Notification{one, two, other}, at(2))
	}
	transact(t, s, save)
	wantErr(t, "the same step again", s.Tx(t.Context(), save), store.ErrConflict)
	wantEqual(t, "the versions", must[map[string][2]int64](t)(s.RouteVersions(t.Context())), map[string][2]int64{"all": {1, 1}})
	wantEqual(t, "the state", must[store.Route](t)(s.Route(t.Context(), "all")).State, state)

	due := func(second int) (ids []string) {
		for _, n := range must[[]store.Notification](t)(s.DueNotifications(t.Context(), at(second))) {
			ids = append(ids, n.ID)
		}
		return ids
	}
	wantEqual(t, "due before it was decided", due(1), []string(nil))
	wantEqual(t, "due", due(3), []string{"n1", "n3"})
	first := must[store.Notification](t)(s.Notification(t.Context(), "n1"))
	end := func(state notify.DeliveryState, next int) func(tx *store.Tx) error {
		return func(tx *store.Tx) error { return tx.EndTry(t.Context(), first, state, at(next), at(4), "why") }
	}
	transact(t, s, end(notify.Waiting, 60))
	wantErr(t, "the end of the same try again", s.Tx(t.Context(), end(notify.Sent, 0)), store.ErrConflict)
	wantEqual(t, "due while the oldest of the crew waits", due(10), []string{"n3"})
	wantEqual(t, "due when its time has come", due(60), []string{"n1", "n3"})
	first.Tries = 1
	transact(t, s, end(notify.Dead, 0))
	wantEqual(t, "due when it was given up", due(60), []string{"n2", "n3"})
	counts := must[map[string]store.Deliveries](t)(s.Deliveries(t.Context()))
	wantEqual(t, "the counts", counts["crew"], store.Deliveries{Receiver: "crew", Waiting: 1, Dead: 1, OldestAt: at(2)})
	transact(t, s, func(tx *store.Tx) error { return tx.Resend(t.Context(), "n1", at(70)) })
	wantErr(t, "sending again what waits", s.Tx(t.Context(), func(tx *store.Tx) error { return tx.Resend(t.Context(), "n1", at(70)) }),
		store.ErrConflict)
	wantEqual(t, "due when it is sent again", due(70), []string{"n1", "n3"})

	transact(t, s, func(tx *store.Tx) error { return tx.DeleteReceiver(t.Context(), "crew", at(80)) })
	wantEqual(t, "due when the receiver was deleted", due(90), []string{"n3"})
	dead := must[[]store.Notification](t)(s.Notifications(t.Context(), store.NotificationQuery{State: notify.Dead, Receiver: "crew"}))
	if len(dead) != 2 || dead[0].ID != "n2" || dead[0].Detail != "the receiver was deleted" {
		t.Errorf("what waited for a deleted receiver: %+v", dead)
	}
	if n := must[int64](t)(s.PruneNotifications(t.Context(), at(100), 10)); n != 2 {
		t.Errorf("%d are pruned", n)
	}
}

func alertsOfNoRobotAreAcknowledged(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	all := []store.AlertAck{
		{Robot: "r1", Alert: "a1", First: 5, At: at(2), By: "ben", Note: "„seen“"},
		{Alert: "rollout-x", First: 7, At: at(1), By: "anna", Note: "wait"},
	}
	for _, a := range all {
		transact(t, s, func(tx *store.Tx) error { return tx.AckAlert(t.Context(), a) })
	}
	wantEqual(t, "the acknowledgements", must[[]store.AlertAck](t)(s.AlertAcks(t.Context())), all)
}
