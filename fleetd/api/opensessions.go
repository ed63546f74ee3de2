package api

import (
	"context"
	"net/http"
	"slices"

	"troupe/fleetd/accounts"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/schema"
)

// ActiveSession is the sign-in of a user in a browser.
type ActiveSession struct {
	ID        string      `json:"id"`
	User      string      `json:"user"`
	Address   string      `json:"address,omitempty" doc:"where the sign-in came from"`
	Agent     string      `json:"agent,omitempty" doc:"what the browser calls itself"`
	Since     schema.Time `json:"since"`
	UsedAt    schema.Time `json:"used_at,omitzero" doc:"when its newest request came to this instance of fleetd; absent if none did since its start"`
	ExpiresAt schema.Time `json:"expires_at"`
	This      bool        `json:"this" doc:"it is the session of this request"`
}

type activeSessionList struct {
	Sessions []ActiveSession `json:"sessions"`
}

// EndedSessions says how many sessions ended.
type EndedSessions struct {
	Ended int `json:"ended"`
}

func (s *server) activeSessions(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-sessions", Method: http.MethodGet, Path: "/sessions", Tag: "accounts", Right: auth.Own | auth.Administer,
		Summary:     "List where users are signed in",
		Description: "One's own sessions; administrators see those of everybody. The command line and programs have tokens instead.",
		Use:         "session list",
		Columns:     "SESSION id | USER user | FROM address | SINCE since | LAST USED used_at | BROWSER agent",
	}, func(_ context.Context, in *struct {
		caller
		User string `query:"user" maxLength:"63" doc:"of this user only"`
	}) (*answer[activeSessionList], error) {
		user := in.User
		if !in.principal.May(auth.Administer) {
			user = in.principal.ID
		}
		out := activeSessionList{Sessions: []ActiveSession{}}
		this := s.sessionOf(in.principal, s.cookiesOf(in.caller).session)
		for _, o := range s.Accounts.ActiveSessions(user) {
			one := ActiveSession{ID: o.ID, User: o.User, Address: o.Address, Agent: o.Agent, Since: timeOf(o.Since), ExpiresAt: timeOf(o.ExpiresAt),
				This: o.ID == this}
			if !o.UsedAt.IsZero() {
				one.UsedAt = timeOf(o.UsedAt)
			}
			out.Sessions = append(out.Sessions, one)
		}
		return &answer[activeSessionList]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "end-session", Method: http.MethodDelete, Path: "/sessions/{id}", Tag: "accounts", Right: auth.Own | auth.Administer,
		Summary: "End a session",
		Description: "One's own; administrators can end every session. The browser has to sign in again, and what it follows or " +
			"drives ends.",
		Audit:   audit.ActionSessionEnd,
		Use:     "session end [SESSION...]",
		Short:   "end sign-ins at once, by their ids or all of a user",
		Example: "session end 5d41402abc4b\nsession end --all --user anna --why 'lost tablet'",
		Long: "End sign-ins at once, by their ids or all of a user: one's own; administrators can end every one. The\n" +
			"browser has to sign in again, and what it follows or drives ends.",
		Done: "session {id} has ended",
	}, func(ctx context.Context, in *idAndReason) (*struct{}, error) {
		return nil, s.endSession(ctx, in.principal, in.ID, in.attribution(in.principal))
	})
	operation.Register(t, operation.Row{
		ID: "end-sessions", Method: http.MethodDelete, Path: "/sessions", Tag: "accounts", Right: auth.Own | auth.Administer,
		Summary:     "End all sessions of a user but that of the request",
		Description: "One's own; administrators can end those of another user.",
		Audit:       audit.ActionSessionEnd,
		Example:     "session end --all",
		Done:        "ended sessions: {.ended}",
	}, func(ctx context.Context, in *struct {
		caller
		User string `query:"user" maxLength:"63" doc:"default: yourself; for others administrators only"`
		AttributionQuery
	}) (*answer[EndedSessions], error) {
		p, user := in.principal, orElse(in.User, in.principal.ID)
		if user != p.ID && !p.May(auth.Administer) {
			return nil, forbidden(p, auth.Administer, "End the sessions of "+user)
		}
		out, this := EndedSessions{}, s.sessionOf(p, s.cookiesOf(in.caller).session)
		for _, o := range s.Accounts.ActiveSessions(user) {
			if o.ID != this {
				s.Accounts.EndSession(ctx, p, o, in.attribution(p))
				out.Ended++
			}
		}
		return &answer[EndedSessions]{out}, nil
	})
}

// sessionOf names the session of a request; empty if it has none.
func (s *server) sessionOf(p auth.Principal, cookie string) string {
	if p.Kind != auth.KindSession {
		return ""
	}
	return s.Accounts.SessionID(cookie)
}

func (s *server) endSession(ctx context.Context, p auth.Principal, id string, by audit.Attribution) error {
	all := s.Accounts.ActiveSessions("")
	i := slices.IndexFunc(all, func(o accounts.ActiveSession) bool { return o.ID == id })
	if i < 0 || all[i].User != p.ID && !p.May(auth.Administer) { // who may not end it does not learn that it exists
		return KindNotFound.Problem("there is no session "+id, "list the sessions: it may have ended")
	}
	s.Accounts.EndSession(ctx, p, all[i], by)
	return nil
}
