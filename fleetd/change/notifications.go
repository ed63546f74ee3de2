package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/notify"
	"troupe/fleetd/store"
	"troupe/fleetd/vault"
	"troupe/schema"
)

// Notifications changes receivers and routes of notifications, and what is sent.
type Notifications struct {
	Deps
	// Sealer seals and opens the secrets of receivers.
	Sealer *vault.Sealer
}

type (
	// Receiver is where notifications go.
	Receiver = store.Receiver
	// Route says which alerts and events go to which receiver.
	Route = store.Route
	// Notification is what is sent, and what became of it.
	Notification = store.Notification
	// NotificationQuery selects notifications.
	NotificationQuery = store.NotificationQuery
	// Deliveries counts notifications of one receiver.
	Deliveries = store.Deliveries
)

// Bounds of what a fleet has.
const (
	maxReceivers = 100
	maxRoutes    = 100
)

// CodeStillUsed is the code of the refusal to delete a receiver that routes name.
const CodeStillUsed = "used_by_route"

// Receivers lists the receivers, and counts what each got.
func (n *Notifications) Receivers(ctx context.Context) (all []Receiver, counts map[string]Deliveries, err error) {
	db, err := n.Store()
	if err != nil {
		return nil, nil, err
	}
	if all, err = db.Receivers(ctx); err != nil {
		return nil, nil, err
	}
	counts, err = db.Deliveries(ctx)
	return all, counts, err
}

// Receiver returns one receiver.
func (n *Notifications) Receiver(ctx context.Context, id string) (Receiver, error) {
	return read(&n.Deps, func(db *store.Store) (Receiver, error) { return db.Receiver(ctx, id) })
}

// Routes lists the routes.
func (n *Notifications) Routes(ctx context.Context) ([]Route, error) {
	return read(&n.Deps, func(db *store.Store) ([]Route, error) { return db.Routes(ctx) })
}

// List lists what was sent and what waits, the newest first.
func (n *Notifications) List(ctx context.Context, q NotificationQuery) ([]Notification, error) {
	return read(&n.Deps, func(db *store.Store) ([]Notification, error) { return db.Notifications(ctx, q) })
}

// Secrets opens the secrets of a receiver.
func (n *Notifications) Secrets(r Receiver) (s notify.Secrets, err error) {
	if len(r.Sealed) == 0 {
		return s, nil
	}
	text, err := n.Sealer.Open(r.Sealed, sealName(r.ID))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("open the secrets of receiver %s: %w", r.ID, err)
	}
	return s, nil
}

func sealName(receiver string) string { return "receiver " + receiver }

func idProblems(what, id string) []schema.Problem {
	if schema.ValidID(id) {
		return nil
	}
	return []schema.Problem{schema.NewProblem("/id", "bad_id", fmt.Sprintf("%q cannot name a %s", id, what),
		"write a to z, 0 to 9 and -, at most 63 characters")}
}

// PutReceiver writes a receiver. Secrets that are not given stay as they are, unless the receiver now is at another place:
// then they have to be given again. With dryRun it only checks.
func (n *Notifications) PutReceiver(
	ctx context.Context, p auth.Principal, id string, r notify.Receiver, given notify.Secrets, dryRun bool, by audit.Attribution,
) (done Receiver, found []schema.Problem, err error) {
	err = n.transact(ctx, p, func(tx *store.Tx) error {
		found = idProblems("receiver", id)
		was, err := tx.Receiver(ctx, id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		done = Receiver{ID: id, Version: was.Version, Receiver: r, ChangedAt: n.Now(), ChangedBy: by.Who}
		secrets := given
		if len(was.Sealed) > 0 && was.Place() == r.Place() && was.Kind == r.Kind {
			old, err := n.Secrets(was)
			if err == nil { // else they have to be given again: nobody can open them
				secrets = given.Over(old, r.Kind)
			}
		}
		found = append(found, r.Problems(secrets)...)
		if lost := slices.DeleteFunc(slices.Clone(was.Secrets), func(name string) bool {
			return slices.Contains(secrets.Names(),
				name)
		}); len(lost) > 0 && was.Kind == r.Kind && len(found) == 0 {
			for _, name := range lost {
				found = append(found, schema.NewProblem("/"+name, "missing",
					"the receiver is at another place now, or this instance cannot open what was sealed: the old secret is not sent there",
					"write it again"))
			}
		}
		if was.Version == 0 {
			all, err := tx.Receivers(ctx)
			if err != nil {
				return err
			}
			if len(all) >= maxReceivers {
				found = append(found, schema.NewProblem("", "too_many", fmt.Sprintf("there are %d receivers, at most %d are allowed", len(all),
					maxReceivers), "delete one that nobody needs"))
			}
		}
		if len(found) > 0 {
			return errRefused
		}
		if done.Secrets = secrets.Names(); len(done.Secrets) > 0 {
			text, err := json.Marshal(secrets)
			if err == nil {
				done.Sealed, err = n.Sealer.Seal(text, sealName(id))
			}
			if err != nil {
				return fmt.Errorf("seal the secrets of receiver %s: %w", id, err)
			}
		}
		if dryRun {
			return nil
		}
		note := audit.Note{Who: by.Who, What: audit.ActionReceiver, Target: "receiver " + id, Why: by.Why, Detail: secretsText(given),
			After: audit.JSON(r)}
		if was.Version > 0 {
			note.Before = audit.JSON(was.Receiver)
		}
		if err := tx.PutReceiver(ctx, done); err != nil {
			return err
		}
		return tx.Note(ctx, done.ChangedAt, note)
	})
	if errors.Is(err, errRefused) {
		return done, found, nil
	}
	return done, nil, err
}

// secretsText names the secrets that were written, and nothing of them.
func secretsText(s notify.Secrets) string {
	if len(s.Names()) == 0 {
		return ""
	}
	return "with new " + strings.Join(s.Names(), " and ")
}

// DeleteReceiver deletes a receiver that no route names. What waits for it is given up.
func (n *Notifications) DeleteReceiver(ctx context.Context, p auth.Principal, id string, by audit.Attribution) (found []schema.Problem,
	err error) {
	err = n.transact(ctx, p, func(tx *store.Tx) error {
		was, err := tx.Receiver(ctx, id)
		if err != nil {
			return err
		}
		routes, err := tx.Routes(ctx)
		if err != nil {
			return err
		}
		var users []string
		for _, r := range routes {
			if r.Receiver == id || r.Escalate != nil && r.Escalate.Receiver == id {
				users = append(users, r.ID)
			}
		}
		if len(users) > 0 {
			found = []schema.Problem{schema.NewProblem("", CodeStillUsed, fmt.Sprintf("routes go to receiver %s: %s", id, strings.Join(users,
				", ")), "delete or change these first")}
			return errRefused
		}
		now := n.Now()
		if err := tx.DeleteReceiver(ctx, id, now); err != nil {
			return err
		}
		return tx.Note(ctx, now, audit.Note{Who: by.Who, What: audit.ActionDelete, Target: "receiver " + id, Why: by.Why,
			Before: audit.JSON(was.Receiver)})
	})
	if errors.Is(err, errRefused) {
		return found, nil
	}
	return nil, err
}

// PutRoute writes a route. With dryRun it only checks.
func (n *Notifications) PutRoute(ctx context.Context, p auth.Principal, id string, r notify.Route, dryRun bool,
	by audit.Attribution) (done Route, found []schema.Problem, err error) {
	err = n.transact(ctx, p, func(tx *store.Tx) error {
		found = idProblems("route", id)
		receivers, err := tx.Receivers(ctx)
		if err != nil {
			return err
		}
		_, problems := notify.Compile(r, func(id string) bool {
			return slices.ContainsFunc(receivers, func(r Receiver) bool { return r.ID == id })
		})
		found = append(found, problems...)
		routes, err := tx.Routes(ctx)
		if err != nil {
			return err
		}
		var was Route
		if i := slices.IndexFunc(routes, func(r Route) bool { return r.ID == id }); i >= 0 {
			was = routes[i]
		} else if len(routes) >= maxRoutes {
			found = append(found, schema.NewProblem("", "too_many", fmt.Sprintf("there are %d routes, at most %d are allowed", len(routes),
				maxRoutes), "delete one that nobody needs"))
		}
		if len(found) > 0 {
			return errRefused
		}
		done = Route{ID: id, Version: was.Version, Route: r, ChangedAt: n.Now(), ChangedBy: by.Who}
		if dryRun {
			return nil
		}
		note := audit.Note{Who: by.Who, What: audit.ActionRoute, Target: "route " + id, Why: by.Why, After: audit.JSON(r)}
		if was.Version > 0 {
			note.Before = audit.JSON(was.Route)
		}
		if err := tx.PutRoute(ctx, done); err != nil {
			return err
		}
		return tx.Note(ctx, done.ChangedAt, note)
	})
	if errors.Is(err, errRefused) {
		return done, found, nil
	}
	return done, nil, err
}

// DeleteRoute deletes a route. What it has sent already is delivered.
func (n *Notifications) DeleteRoute(ctx context.Context, p auth.Principal, id string, by audit.Attribution) error {
	return n.transact(ctx, p, func(tx *store.Tx) error {
		was, err := tx.Route(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.DeleteRoute(ctx, id); err != nil {
			return err
		}
		return tx.Note(ctx, n.Now(), audit.Note{Who: by.Who, What: audit.ActionDelete, Target: "route " + id, Why: by.Why,
			Before: audit.JSON(was.Route)})
	})
}

// CodeWaiting is the code of the refusal to send what waits already.
const CodeWaiting = "already_waiting"

// Resend makes a notification wait again that was sent or given up. It keeps its id.
func (n *Notifications) Resend(ctx context.Context, p auth.Principal, id string, by audit.Attribution) (done Notification,
	found []schema.Problem, err error) {
	err = n.transact(ctx, p, func(tx *store.Tx) error {
		if done, err = tx.Notification(ctx, id); err != nil {
			return err
		}
		if done.State == notify.Waiting {
			found = []schema.Problem{schema.NewProblem("", CodeWaiting, fmt.Sprintf("notification %s waits already", id),
				"wait, or look with fleetd receiver test whether the receiver works")}
			return errRefused
		}
		if _, err := tx.Receiver(ctx, done.Receiver); errors.Is(err, store.ErrNotFound) {
			found = []schema.Problem{schema.NewProblem("", "not_found", fmt.Sprintf("receiver %s was deleted", done.Receiver),
				"make it again, then send this")}
			return errRefused
		} else if err != nil {
			return err
		}
		now := n.Now()
		if err := tx.Resend(ctx, id, now); err != nil {
			return err
		}
		done.State, done.NextAt, done.EndedAt = notify.Waiting, now, time.Time{}
		return tx.Note(ctx, now, audit.Note{Who: by.Who, What: audit.ActionResend, Target: "notification " + id, Why: by.Why,
			Detail: "to receiver " + done.Receiver})
	})
	if errors.Is(err, errRefused) {
		return done, found, nil
	}
	return done, nil, err
}

// EndTry saves what became of a try to deliver a notification. The audit gets what was delivered and what is given up.
func (n *Notifications) EndTry(ctx context.Context, was Notification, r notify.Result) (state notify.DeliveryState, next time.Time,
	err error) {
	now := n.Now()
	state, next = notify.AfterTry(r, was.Tries+1, was.Since, now)
	err = n.transact(ctx, auth.Principal{}, func(tx *store.Tx) error {
		if err := tx.EndTry(ctx, was, state, next, now, audit.Text(r.Detail, 512)); err != nil {
			return err
		}
		if state == notify.Waiting {
			return nil
		}
		note := audit.Note{
			Source: audit.Source{Via: audit.ViaFleetd}, What: audit.ActionNotify, Target: "receiver " + was.Receiver, Outcome: audit.Done,
			Detail: audit.Text(fmt.Sprintf("notification %s: %s", was.ID, was.Subject(notify.English)), 512),
		}
		if state == notify.Dead {
			note.Outcome, note.Why = audit.Failed, audit.Text(r.Detail, 256)
		}
		return tx.Note(ctx, now, note)
	})
	return state, next, err
}

// NoteTest records that somebody sent a test.
func (n *Notifications) NoteTest(ctx context.Context, p auth.Principal, id string, r notify.Result, by audit.Attribution) error {
	return n.transact(ctx, p, func(tx *store.Tx) error {
		note := audit.Note{Who: by.Who, What: audit.ActionTestReceiver, Target: "receiver " + id, Why: by.Why, Outcome: audit.Done,
			Detail: audit.Text(r.Detail, 512)}
		if !r.OK {
			note.Outcome = audit.Failed
		}
		return tx.Note(ctx, n.Now(), note)
	})
}
