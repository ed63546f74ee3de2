package notifier_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/library"
	"troupe/fleetd/notifier"
	"troupe/fleetd/notify"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/trace"
	"troupe/fleetd/trace/tracetest"
	"troupe/fleetd/vault"
	"troupe/schema"
	"troupe/schema/testlog"
)

var admin = auth.Principal{ID: "anna", Kind: auth.KindToken, Rights: auth.All}

// world is a fleet with present alerts, and receivers that keep what they get.
type world struct {
	*storetest.World
	changes *change.Notifications
	tracer  *trace.Tracer
	alerts  []notify.Alert
	down    bool      // receivers answer nothing
	hang    bool      // receivers take it, and the answer does not arrive
	full    bool      // the database can be read and not written
	failed  int       // how often the database failed
	got     []arrived // in the order of their arrival
}

type arrived struct {
	receiver string
	notify.Notification
	try int
}

func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	key := t.TempDir() + "/key"
	storetest.InWorld(t, func(in *storetest.World) {
		w := &world{World: in}
		w.changes = &change.Notifications{Sealer: vault.FileSealer(key), Deps: change.Deps{
			Now: time.Now, Store: w.writable, Changed: func(context.Context, []string) {},
			Catalogue: func() library.Catalogue { return library.Catalogue{} }, Caps: func(string) *schema.Caps { return nil },
		}}
		test(w)
	}, "r1", "r2")
}

var errFull = errors.New("the disk is full")

func (w *world) writable() (db *store.Store, err error) {
	w.Locked(func() {
		if db = w.DB; w.full {
			err = errFull
		}
	})
	return db, err
}

func (w *world) receiver(id string) {
	w.Helper()
	_, found, err := w.changes.PutReceiver(context.Background(), admin, id, notify.Receiver{Kind: notify.Webhook,
		URL: "https://" + id + ".example"}, notify.Secrets{}, false, audit.Attribution{Who: "anna"})
	if err != nil || len(found) > 0 {
		w.Fatal(found, err)
	}
}

func (w *world) route(id string, r notify.Route) {
	w.Helper()
	if _, found, err := w.changes.PutRoute(context.Background(), admin, id, r, false,
		audit.Attribution{Who: "anna"}); err != nil || len(found) > 0 {
		w.Fatal(found, err)
	}
}

// instance starts a fleetd that sends notifications while leads says so.
func (w *world) instance(name string, leads func() bool) (end func()) {
	n := notifier.New(notifier.Deps{
		Log: slog.New(slog.NewTextHandler(testlog.Writer(w.T, name), nil)), Now: time.Now, Leads: leads, Ready: func() bool { return true },
		Failed: func(what string, err error) {
			w.Locked(func() { w.failed++ })
			if !errors.Is(err, errFull) && !errors.Is(err, store.ErrConflict) && !errors.Is(err, context.Canceled) {
				w.Failed(what, err)
			}
		},
		Alerts: func(context.Context) (in notify.Input, err error) {
			w.Locked(func() { in.Alerts = slices.Clone(w.alerts) })
			return in, nil
		},
		SiteOf: func(string) string { return "" }, Save: w.changes, Send: w.Send, Tracer: w.tracer,
	})
	return w.Start(func(ctx context.Context) { n.Run(ctx, w.DB) })
}

// Send is that of the receivers.
func (w *world) Send(ctx context.Context, r change.Receiver, n notify.Notification, try int) (result notify.Result) {
	<-time.After(50 * time.Millisecond) // how long a receiver takes
	w.Locked(func() {
		if w.down {
			result = notify.Result{Detail: "no answer: connection refused"}
			return
		}
		w.got = append(w.got, arrived{r.ID, n, try})
		result = notify.Result{OK: true, Detail: "the receiver answers 200 OK"}
		if w.hang {
			w.hang, result = false, notify.Result{Detail: "no answer: time-out"}
		}
	})
	return result
}

func (w *world) raise(of ...string) {
	w.Locked(func() {
		for _, robot := range of {
			w.alerts = append(w.alerts, notify.Alert{Robot: robot, ID: "a1", Type: "device_late", Level: schema.AlertError,
				Since: schema.TimeOf(time.Now()), Detail: "late"})
		}
	})
}

func (w *world) end(robot string) {
	w.Locked(func() { w.alerts = slices.DeleteFunc(w.alerts, func(a notify.Alert) bool { return a.Robot == robot }) })
}

// received lists what arrived about alerts, as "receiver robot state", each notification once.
func (w *world) received() (all []string) {
	seen := map[string]bool{}
	w.Locked(func() {
		for _, n := range w.got {
			if seen[n.ID] {
				continue
			}
			seen[n.ID] = true
			for _, e := range n.Alerts {
				all = append(all, fmt.Sprint(n.receiver, " ", e.Robot, " ", e.State))
			}
		}
	})
	return all
}

func always() bool { return true }

func zero() *int64 { return new(int64) }

func TestReceiverThatWasDownGetsEverythingInOrder(t *testing.T) {
	inWorld(t, func(w *world) {
		w.receiver("crew")
		w.route("all", notify.Route{Receiver: "crew", GroupS: zero()})
		end := w.instance("one", always)
		w.Locked(func() { w.down = true })
		w.raise("r1")
		w.Sleep(2 * time.Minute)
		w.end("r1")
		w.Sleep(2 * time.Minute)
		w.raise("r2")
		w.Sleep(6 * time.Minute)
		if waiting := w.notifications(notify.Waiting); len(waiting) != 3 || waiting[2].Tries < 8 || waiting[0].Tries != 0 {
			t.Errorf("while it is down: %+v", waiting)
		}
		w.Locked(func() { w.down = false })
		w.Sleep(2 * time.Minute)
		end()
		want := []string{"crew r1 firing", "crew r1 resolved", "crew r2 firing"}
		if got := w.received(); !slices.Equal(got, want) {
			t.Errorf("it got %q, want %q", got, want)
		}
		if n := len(w.notifications(notify.Sent)); n != 3 {
			t.Errorf("%d are sent", n)
		}
		w.wantAudit("notify", audit.Done, 3)
	})
}

func (w *world) notifications(state notify.DeliveryState) []store.Notification {
	w.Helper()
	all, err := w.DB.Notifications(context.Background(), store.NotificationQuery{State: state})
	if err != nil {
		w.Fatal(err)
	}
	return all
}

func (w *world) wantAudit(what string, outcome audit.Outcome, want int) {
	w.Helper()
	entries, err := w.DB.Audit(context.Background(), store.AuditQuery{Limit: 1000})
	if err != nil {
		w.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if string(e.What) == what && e.Outcome == outcome {
			n++
		}
	}
	if n != want {
		w.Errorf("the audit has %d entries %s %s, want %d", n, what, outcome, want)
	}
}

func TestNotificationSurvivesEndOfFleetdAndChangeOfLeader(t *testing.T) {
	inWorld(t, func(w *world) {
		w.receiver("crew")
		w.route("all", notify.Route{Receiver: "crew", GroupS: zero()})
		leader := "one"
		leads := func(name string) func() bool {
			return func() (is bool) { w.Locked(func() { is = leader == name }); return is }
		}
		w.Locked(func() { w.down = true })
		endOne := w.instance("one", leads("one"))
		endTwo := w.instance("two", leads("two"))
		defer endTwo()
		w.raise("r1")
		w.Sleep(5 * time.Second)
		w.Locked(func() { leader = "nobody" })
		endOne()
		w.end("r1")
		w.Sleep(5 * time.Second)
		w.Locked(func() { leader, w.down = "two", false })
		w.Sleep(2 * time.Minute)
		want := []string{"crew r1 firing", "crew r1 resolved"}
		if got := w.received(); !slices.Equal(got, want) {
			t.Errorf("it got %q, want %q", got, want)
		}
		// Both believe that they lead, as for a moment after one was cut off.
		endThree := w.instance("three", always)
		defer endThree()
		w.raise("r2")
		w.Sleep(2 * time.Minute)
		want = append(want, "crew r2 firing")
		if got := w.received(); !slices.Equal(got, want) {
			t.Errorf("with two leaders it got %q, want %q", got, want)
		}
	})
}

func TestDeliveriesAreTraced(t *testing.T) {
	c := tracetest.Start(t)
	inWorld(t, func(w *world) {
		var err error
		if w.tracer, err = trace.New(context.Background(), trace.Config{Log: slog.New(slog.DiscardHandler)}); err != nil {
			w.Fatal(err)
		}
		w.receiver("crew")
		w.route("all", notify.Route{Receiver: "crew", GroupS: zero()})
		w.hang = true
		w.raise("r1")
		end := w.instance("one", always)
		w.Sleep(time.Minute)
		end()
		w.tracer.Close()
		spans := c.Named("deliver notification")
		if len(spans) != 2 {
			w.Fatalf("recorded %+v", spans)
		}
		for i, want := range []struct {
			try, outcome string
			failed       bool
		}{{"1", "waiting", true}, {"2", "sent", false}} {
			s := spans[i]
			if s.Attrs["troupe.try"] != want.try || s.Attrs["troupe.outcome"] != want.outcome || s.Failed != want.failed ||
				s.Attrs["troupe.receiver"] != "crew" || s.Attrs["troupe.notification"] != w.got[0].ID || s.End.Sub(s.Start) < 50*time.Millisecond {
				w.Errorf("try %s is %+v", want.try, s)
			}
		}
	})
}

func TestNotificationThatArrivesTwiceHasOneID(t *testing.T) {
	inWorld(t, func(w *world) {
		w.receiver("crew")
		w.route("all", notify.Route{Receiver: "crew", GroupS: zero()})
		w.hang = true
		w.raise("r1")
		end := w.instance("one", always)
		w.Sleep(time.Minute)
		end()
		if len(w.got) != 2 || w.got[0].ID != w.got[1].ID || w.got[0].try != 1 || w.got[1].try != 2 {
			t.Errorf("it got %+v", w.got)
		}
	})
}

func TestDeliveryThatCannotBeSavedIsNotRepeated(t *testing.T) {
	inWorld(t, func(w *world) {
		w.receiver("crew")
		w.receiver("phones")
		w.route("a", notify.Route{Receiver: "crew", GroupS: zero()})
		w.Locked(func() { w.full = true })
		w.raise("r1")
		end := w.instance("one", always)
		w.Sleep(5 * time.Minute)
		if len(w.got) != 1 || w.failed < 5 || w.failed > 12 {
			t.Errorf("on a full disk it arrived %d times, and the database failed %d times", len(w.got), w.failed)
		}
		w.Locked(func() { w.full = false })
		w.end("r1")
		w.Sleep(2 * time.Minute)
		end()
		if got, want := w.received(), []string{"crew r1 firing", "crew r1 resolved"}; !slices.Equal(got, want) || len(w.got) != 2 {
			t.Errorf("it got %q in %d notifications, want %q", got, len(w.got), want)
		}
		if n := len(w.notifications(notify.Sent)); n != 2 {
			t.Errorf("%d are sent", n)
		}
	})
}

// More events than one look reads are received at the same time, and more than a minute passes before somebody looks.
func TestEveryEventIsSentOrCounted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.receiver("crew")
		w.route("a", notify.Route{Receiver: "crew", Events: []string{"act_failed"}, GroupS: zero()})
		end := w.instance("one", always)
		w.Sleep(10 * time.Second)
		end()
		events := make([]store.Event, 23_000)
		for i := range events {
			events[i] = store.Event{Robot: fmt.Sprint("r", i%2+1), Boot: "b", Seq: int64(i), Type: "act_failed", Level: "warn", Body: []byte("{}"),
				ReceivedAt: time.Now().Add(time.Duration(i/500) * time.Millisecond)}
		}
		if err := w.DB.AddEvents(context.Background(), events); err != nil {
			t.Fatal(err)
		}
		w.Sleep(5 * time.Minute)
		end = w.instance("two", always)
		w.Sleep(5 * time.Minute)
		end()
		got, ids := 0, map[string]bool{}
		for _, n := range w.got {
			got += len(n.Events) + n.More
			for _, e := range n.Events {
				if ids[e.ID] {
					t.Fatalf("%s is sent twice", e.ID)
				}
				ids[e.ID] = true
			}
		}
		if got != len(events) {
			t.Errorf("%d events were sent or counted, want %d", got, len(events))
		}
	})
}

func TestGivenUpNotificationIsSentAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.receiver("crew")
		w.route("all", notify.Route{Receiver: "crew", GroupS: zero(), RepeatS: zero()})
		w.Locked(func() { w.down = true })
		w.raise("r1")
		end := w.instance("one", always)
		w.Sleep(25 * time.Hour)
		dead := w.notifications(notify.Dead)
		if len(dead) != 1 || dead[0].Detail != "no answer: connection refused" {
			t.Fatalf("after a day without an answer: %+v", dead)
		}
		w.wantAudit("notify", audit.Failed, 1)
		w.Locked(func() { w.down = false })
		if _, found, err := w.changes.Resend(context.Background(), admin, dead[0].ID,
			audit.Attribution{Who: "anna"}); err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
		w.Sleep(time.Minute)
		end()
		if len(w.got) != 1 || w.got[0].ID != dead[0].ID {
			t.Errorf("it got %+v", w.got)
		}
	})
}

func TestEscalationGoesToAnotherReceiver(t *testing.T) {
	inWorld(t, func(w *world) {
		w.receiver("crew")
		w.receiver("phones")
		w.route("a", notify.Route{Receiver: "crew", GroupS: zero()})
		w.route("b", notify.Route{Receiver: "phones", GroupS: zero(), Escalate: &notify.Escalation{AfterS: 60, Receiver: "crew"}})
		w.raise("r1")
		end := w.instance("one", always)
		w.Sleep(90 * time.Second)
		end()
		got := w.received()
		slices.Sort(got)
		if want := []string{"crew r1 firing", "crew r1 firing", "phones r1 firing"}; !slices.Equal(got, want) {
			t.Errorf("they got %q, want %q", got, want)
		}
	})
}

func TestSecretsStaySealed(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		const secret = "t0ps3cret-0123456789"
		put := func(r notify.Receiver, s notify.Secrets) []schema.Problem {
			_, found, err := w.changes.PutReceiver(ctx, admin, "crew", r, s, false, audit.Attribution{Who: "anna"})
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		hook := notify.Receiver{Kind: notify.Webhook, URL: "https://hooks.example/a"}
		if found := put(hook, notify.Secrets{Token: secret, HMACKey: secret}); len(found) > 0 {
			t.Fatal(found)
		}
		row, err := w.changes.Receiver(ctx, "crew")
		if err != nil || bytes.Contains(row.Sealed, []byte(secret)) {
			t.Fatalf("%q, %v", row.Sealed, err)
		}
		entries, err := w.DB.Audit(ctx, store.AuditQuery{})
		if err != nil || strings.Contains(fmt.Sprint(entries), secret) || !strings.Contains(entries[0].Detail, "hmac_key and token") {
			t.Errorf("the audit has %+v, %v", entries, err)
		}
		hook.URL = "https://hooks.example/b"
		if found := put(hook, notify.Secrets{}); len(found) > 0 {
			t.Errorf("at the same server: %v", found)
		}
		if row, err = w.changes.Receiver(ctx, "crew"); err != nil {
			t.Fatal(err)
		}
		if s, err := w.changes.Secrets(row); err != nil || s.Token != secret || s.HMACKey != secret {
			t.Errorf("the secrets are %+v, %v", s, err)
		}
		hook.URL = "https://elsewhere.example/b"
		if found := put(hook, notify.Secrets{}); len(found) != 2 {
			t.Errorf("the secrets would go to another server: %v", found)
		}
		if found := put(hook, notify.Secrets{Token: "new", HMACKey: secret}); len(found) > 0 {
			t.Errorf("with new secrets: %v", found)
		}
		other := *w.changes
		other.Sealer = vault.FileSealer(t.TempDir() + "/key")
		if _, err := other.Secrets(row); !errors.Is(err, vault.ErrSealedElsewhere) {
			t.Errorf("an instance with another key opens it: %v", err)
		}
		row.ID = "phones"
		if _, err := w.changes.Secrets(row); !errors.Is(err, vault.ErrSealedElsewhere) {
			t.Errorf("the secret of another receiver is opened: %v", err)
		}
	})
}
