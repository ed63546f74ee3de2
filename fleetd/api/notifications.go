package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/notify"
	"troupe/fleetd/operation"
	"troupe/schema"
)

// Receiver is where notifications go, without its secrets, and what became of those that it got.
type Receiver struct {
	ID string `json:"id"`
	notify.Receiver
	Secrets []string    `json:"secrets" doc:"names of the secrets that are set; their values are never shown"`
	Waiting int64       `json:"waiting" doc:"notifications that wait for it"`
	Dead    int64       `json:"dead" doc:"notifications that were given up"`
	Last    schema.Time `json:"last_sent_at,omitzero"`
	Failing string      `json:"failing,omitempty" doc:"why the oldest of those that wait was not delivered yet"`
	Changed schema.Time `json:"changed_at,omitzero"`
	By      string      `json:"changed_by,omitempty"`
	DryRun  bool        `json:"dry_run,omitempty"`
}

// WhereText says where its notifications go.
func (r Receiver) WhereText() string { return r.Where() }

// StateText says whether it works.
func (r Receiver) StateText() string {
	switch {
	case r.Failing != "":
		return "failing: " + r.Failing
	case r.Waiting > 0:
		return "waiting"
	case r.Last == 0:
		return "nothing sent yet"
	}
	return "ok"
}

// ReceiverList lists receivers.
type ReceiverList struct {
	Receivers []Receiver `json:"receivers"`
}

// ReceiverRequest is a receiver to save, with its secrets.
type ReceiverRequest struct {
	notify.Receiver
	notify.Secrets
	By     string `json:"by,omitempty" maxLength:"63" doc:"the person, if nobody is signed in; else it is the account's name"`
	Why    string `json:"why,omitempty" maxLength:"256" doc:"the reason, for the audit"`
	DryRun bool   `json:"dry_run,omitempty" doc:"only check"`
}

// TestResult is what became of a test.
type TestResult struct {
	OK     bool   `json:"ok" doc:"the receiver took it"`
	ID     string `json:"id" doc:"of the notification"`
	Detail string `json:"detail"`
}

// OutcomeText says whether the receiver took it.
func (r TestResult) OutcomeText() string {
	if r.OK {
		return "sent"
	}
	return "not sent"
}

// NotificationRoute says which alerts and events go to which receiver.
type NotificationRoute struct {
	ID string `json:"id"`
	notify.Route
	Open    int         `json:"open" doc:"alerts that it has sent and that are not over"`
	Changed schema.Time `json:"changed_at,omitzero"`
	By      string      `json:"changed_by,omitempty"`
	DryRun  bool        `json:"dry_run,omitempty"`
}

// WhatText says what it sends.
func (r NotificationRoute) WhatText() string {
	var parts []string
	if len(r.Alerts)+len(r.Events) == 0 {
		parts = append(parts, "every alert")
	} else {
		parts = append(append(parts, r.Alerts...), r.Events...)
	}
	if r.Level != "" {
		parts = append(parts, "from "+string(r.Level))
	}
	return strings.Join(parts, " ")
}

// EscalateText says who gets what nobody acknowledges.
func (r NotificationRoute) EscalateText() string {
	if r.Escalate == nil {
		return ""
	}
	return r.Escalate.Receiver
}

// StateText says whether it sends anything.
func (r NotificationRoute) StateText() string {
	if !r.IsEnabled() {
		return "disabled"
	}
	return "enabled"
}

type routeList struct {
	Routes []NotificationRoute `json:"routes"`
}

// RouteRequest is a route to save.
type RouteRequest struct {
	notify.Route
	By     string `json:"by,omitempty" maxLength:"63" doc:"the person, if nobody is signed in; else it is the account's name"`
	Why    string `json:"why,omitempty" maxLength:"256" doc:"the reason, for the audit"`
	DryRun bool   `json:"dry_run,omitempty" doc:"only check"`
}

// Notification is what is sent, and what became of it.
type Notification struct {
	notify.Notification
	Subject string               `json:"subject" doc:"what it says, in one line"`
	State   notify.DeliveryState `json:"state" enum:"waiting,sent,dead" doc:"dead: given up; it can be sent again"`
	Tries   int                  `json:"tries"`
	Next    schema.Time          `json:"next_at,omitzero" doc:"when it is tried next"`
	Ended   schema.Time          `json:"ended_at,omitzero" doc:"when it was delivered or given up"`
	Detail  string               `json:"detail,omitempty" doc:"what the receiver said at the newest try"`
}

// NotificationList lists notifications.
type NotificationList struct {
	Notifications []Notification `json:"notifications"`
}

// PathNotify names a receiver or a route.
type PathNotify struct {
	caller
	ID string `path:"id" maxLength:"63"`
}

func (s *server) notifications(t *operation.Table) {
	s.receivers(t)
	s.notificationRoutes(t)
	operation.Register(t, operation.Row{
		ID: "list-notifications", Method: http.MethodGet, Path: "/notifications", Tag: "notifications", Right: auth.Administer, FleetWide: true,
		Summary: "List what was sent, what waits and what was given up, the newest first",
		Use:     "notification list",
		Columns: "AT at | ROUTE route=test | RECEIVER receiver | KIND kind | STATE state | TRIES tries | WHAT subject | DETAIL detail | ID id",
		None:    "no notifications",
	}, func(ctx context.Context, in *struct {
		caller
		State    string `query:"state" enum:"waiting,sent,dead" doc:"only in this state; dead = given up"`
		Receiver string `query:"receiver" maxLength:"63" doc:"only to this receiver"`
		Route    string `query:"route" maxLength:"63" doc:"only of this route"`
		Language string `query:"language" enum:"en,de,fr" default:"en" doc:"of what they say"`
		Limit    int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"at most this many"`
	}) (*answer[NotificationList], error) {
		all, err := s.Notifications.List(ctx, change.NotificationQuery{State: notify.DeliveryState(in.State), Receiver: in.Receiver,
			Route: in.Route, Limit: in.Limit})
		if err != nil {
			return nil, s.fail(err, "notifications")
		}
		out := NotificationList{Notifications: []Notification{}}
		for _, n := range all {
			out.Notifications = append(out.Notifications, notificationOf(n, notify.Language(in.Language)))
		}
		return &answer[NotificationList]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "resend-notification", Method: http.MethodPost, Path: "/notifications/{id}/resend", Tag: "notifications", Right: auth.Administer,
		FleetWide:   true,
		Summary:     "Send a notification again that was delivered or given up",
		Description: "It keeps its id, and is tried before newer ones of its receiver.",
		Audit:       audit.ActionResend,
		Use:         "notification resend ID",
		Example:     "notification resend 7f9c5f0e-4a51-5d0b-9c57-6f7d0a1e4b90",
		Done:        "notification {.id} is sent again to {.receiver}",
	}, func(ctx context.Context, in *struct {
		caller
		ID   string `path:"id" maxLength:"64"`
		Body struct {
			By  string `json:"by,omitempty" maxLength:"63" doc:"the person, if nobody is signed in; else it is the account's name"`
			Why string `json:"why,omitempty" maxLength:"256" doc:"the reason, for the audit"`
		}
	}) (*answer[Notification], error) {
		n, found, err := s.Notifications.Resend(ctx, in.principal, in.ID, attribute(in.principal, audit.Attribution{Who: in.Body.By,
			Why: in.Body.Why}))
		if err := s.failed(err, "notification "+in.ID, inBody("", found)); err != nil {
			return nil, err
		}
		return &answer[Notification]{notificationOf(n, notify.English)}, nil
	})
}

func notificationOf(n change.Notification, l notify.Language) Notification {
	out := Notification{
		Notification: n.Notification, Subject: n.Subject(l), State: n.State, Tries: n.Tries, Ended: timeOf(n.EndedAt), Detail: n.Detail,
	}
	if n.State == notify.Waiting {
		out.Next = timeOf(n.NextAt)
	}
	return out
}

const receiverColumns = "ID id | KIND kind | WHERE WhereText() | STATE StateText() | WAITING waiting | DEAD dead | LAST last_sent_at"

func (s *server) receivers(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-receivers", Method: http.MethodGet, Path: "/receivers", Tag: "notifications", Right: auth.Administer, FleetWide: true,
		Summary: "List the receivers of notifications",
		Use:     "receiver list",
		Columns: receiverColumns,
		None:    "no receivers",
	}, func(ctx context.Context, in *noInput) (*answer[ReceiverList], error) {
		all, counts, err := s.Notifications.Receivers(ctx)
		if err != nil {
			return nil, s.fail(err, "receivers")
		}
		out := ReceiverList{Receivers: []Receiver{}}
		for _, r := range all {
			out.Receivers = append(out.Receivers, receiverOf(r, counts[r.ID]))
		}
		return &answer[ReceiverList]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "put-receiver", Method: http.MethodPut, Path: "/receivers/{id}", Tag: "notifications", Right: auth.Administer, FleetWide: true,
		Summary: "Save a receiver of notifications",
		Description: "Secrets that are left out stay as they are, unless the receiver is at another server now. " +
			"fleetd sends nothing to addresses of its own machine and to link-local ones, unless --notify-allow names them, and follows " +
			"no redirects.",
		Audit:   audit.ActionReceiver,
		Use:     "receiver put FILE",
		Example: "receiver put phones.yaml",
		Long: "Save the receiver that a file in YAML or JSON describes; --dry-run only checks it.\n\n" +
			"  receiver: phones\n  kind: ntfy               # or webhook, email, alertmanager, slack\n  url: https://ntfy.example\n" +
			"  topic: museum-robots\n" +
			"  token: tk_4711           # a secret: stored sealed, never shown\n  language: de             # default en\n\n" +
			"  receiver: crew\n  kind: email\n  server: mail.example:587 # STARTTLS; tls: tls encrypts from the first byte\n  user: troupe\n" +
			"  password: secret\n" +
			"  from: troupe@museum.example\n  to: [crew@museum.example]",
	}, func(ctx context.Context, in *struct {
		PathNotify
		Body ReceiverRequest
	}) (*answer[Receiver], error) {
		w := in.Body
		r, found, err := s.Notifications.PutReceiver(ctx, in.principal, in.ID, w.Receiver, w.Secrets, w.DryRun, attribute(in.principal,
			audit.Attribution{Who: w.By, Why: w.Why}))
		if err := s.failed(err, "receiver "+in.ID, inBody("", found)); err != nil {
			return nil, err
		}
		out := receiverOf(r, change.Deliveries{})
		out.DryRun = w.DryRun
		return &answer[Receiver]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "delete-receiver", Method: http.MethodDelete, Path: "/receivers/{id}", Tag: "notifications", Right: auth.Administer, FleetWide: true,
		Summary:     "Delete a receiver of notifications",
		Description: "It is refused while routes go to it. What waits for it is given up.",
		Audit:       audit.ActionDelete,
		Use:         "receiver delete ID",
		Example:     "receiver delete phones",
		Done:        "receiver {id} is deleted",
	}, func(ctx context.Context, in *struct {
		PathNotify
		AttributionQuery
	}) (*struct{}, error) {
		found, err := s.Notifications.DeleteReceiver(ctx, in.principal, in.ID, in.attribution(in.principal))
		return nil, s.failed(err, "receiver "+in.ID, inBody("", found))
	})
	operation.Register(t, operation.Row{
		ID: "test-receiver", Method: http.MethodPost, Path: "/receivers/{id}/test", Tag: "notifications", Right: auth.Administer, FleetWide: true,
		Summary:     "Send a test to a receiver, and say what it answers",
		Description: "This instance sends it at once and once; what waits for the receiver is not touched.",
		Audit:       audit.ActionTestReceiver,
		Use:         "receiver test ID",
		Example:     "receiver test phones",
		Done:        "{.OutcomeText()}: {.detail}",
	}, func(ctx context.Context, in *struct {
		PathNotify
		Body struct {
			By string `json:"by,omitempty" maxLength:"63" doc:"the person, if nobody is signed in; else it is the account's name"`
		}
	}) (*answer[TestResult], error) {
		r, err := s.Notifications.Receiver(ctx, in.ID)
		if err != nil {
			return nil, s.fail(err, "receiver "+in.ID)
		}
		n := notify.Notification{ID: uuid.NewString(), Kind: notify.KindTest, Receiver: in.ID, At: timeOf(s.Now())}
		result := s.Sender.Send(ctx, r, n, 1)
		if err := s.Notifications.NoteTest(ctx, in.principal, in.ID, result, attribute(in.principal,
			audit.Attribution{Who: in.Body.By})); err != nil {
			return nil, s.fail(err, "receiver "+in.ID)
		}
		return &answer[TestResult]{TestResult{OK: result.OK, ID: n.ID, Detail: result.Detail}}, nil
	})
}

func receiverOf(r change.Receiver, d change.Deliveries) Receiver {
	return Receiver{
		ID: r.ID, Receiver: r.Receiver, Secrets: nonNil(r.Secrets), Waiting: d.Waiting, Dead: d.Dead, Last: timeOf(d.LastAt),
		Failing: d.LastFailureDetail,
		Changed: timeOf(r.ChangedAt), By: r.ChangedBy,
	}
}

func (s *server) notificationRoutes(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-routes", Method: http.MethodGet, Path: "/routes", Tag: "notifications", Right: auth.Administer, FleetWide: true,
		Summary: "List the routes of notifications",
		Use:     "route list",
		Columns: "ID id | STATE StateText() | WHAT WhatText() | SITES sites | RECEIVER receiver | ESCALATES-TO EscalateText() | OPEN open",
		None:    "no routes: nobody is notified",
	}, func(ctx context.Context, in *noInput) (*answer[routeList], error) {
		all, err := s.Notifications.Routes(ctx)
		if err != nil {
			return nil, s.fail(err, "routes")
		}
		out := routeList{Routes: []NotificationRoute{}}
		for _, r := range all {
			out.Routes = append(out.Routes, routeOf(r))
		}
		return &answer[routeList]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "put-route", Method: http.MethodPut, Path: "/routes/{id}", Tag: "notifications", Right: auth.Administer, FleetWide: true,
		Summary: "Save a route: which alerts and events go to which receiver",
		Description: "Repeats of one cause at many robots are one notification. Alerts that nobody acknowledges are repeated, " +
			"and go to another receiver if the route says so.",
		Audit:   audit.ActionRoute,
		Use:     "route put FILE",
		Example: "route put night.yaml",
		Long: "Save the route that a file in YAML or JSON describes; --dry-run only checks it.\n\n" +
			"  route: night\n  receiver: phones\n  alerts: [robot_lost, robot_stopped]   # default: every alert\n" +
			"  events: [act_failed]     # default: none\n" +
			"  level: error             # alerts of this level and above\n  sites: [berlin]\n" +
			"  quiet: {zone: Europe/Berlin, windows: [{span: \"22:00-07:00\"}], through: critical}\n  group_s: 60\n  repeat_s: 14400\n" +
			"  escalate: {after_s: 900, receiver: crew}",
	}, func(ctx context.Context, in *struct {
		PathNotify
		Body RouteRequest
	}) (*answer[NotificationRoute], error) {
		w := in.Body
		r, found, err := s.Notifications.PutRoute(ctx, in.principal, in.ID, w.Route, w.DryRun, attribute(in.principal,
			audit.Attribution{Who: w.By, Why: w.Why}))
		if err := s.failed(err, "route "+in.ID, inBody("", found)); err != nil {
			return nil, err
		}
		out := routeOf(r)
		out.DryRun = w.DryRun
		return &answer[NotificationRoute]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "delete-route", Method: http.MethodDelete, Path: "/routes/{id}", Tag: "notifications", Right: auth.Administer, FleetWide: true,
		Summary:     "Delete a route of notifications",
		Description: "What it has sent already is delivered. Nobody gets the end of alerts that it has sent.",
		Audit:       audit.ActionDelete,
		Use:         "route delete ID",
		Example:     "route delete night",
		Done:        "route {id} is deleted",
	}, func(ctx context.Context, in *struct {
		PathNotify
		AttributionQuery
	}) (*struct{}, error) {
		return nil, s.failed(s.Notifications.DeleteRoute(ctx, in.principal, in.ID, in.attribution(in.principal)), "route "+in.ID, nil)
	})
}

func routeOf(r change.Route) NotificationRoute {
	out := NotificationRoute{ID: r.ID, Route: r.Route, Changed: timeOf(r.ChangedAt), By: r.ChangedBy}
	for _, a := range r.State.Alerts {
		if a.SentAt != 0 && a.EndedAt == 0 {
			out.Open++
		}
	}
	return out
}
