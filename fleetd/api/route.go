package api

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"troupe/fleetd/accounts"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/schema"
	"troupe/schema/verb"
)

// caller is who makes a request, and over which connection. Every input embeds it.
type caller struct {
	principal auth.Principal
	tls       *tls.ConnectionState
	remote    string
	cookies   []*http.Cookie
}

// Resolve fills it in; huma calls it.
func (c *caller) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	c.principal, c.tls, c.remote, c.cookies = auth.Of(ctx.Context()), ctx.TLS(), ctx.RemoteAddr(), r.Cookies()
	return nil
}

// noInput is the input of a request without parameters.
type noInput struct{ caller }

// rowKey is the key of the row in the metadata of an operation.
const rowKey = "row"

// rowOf is the row that huma's operation was made from.
func rowOf(o *huma.Operation) operation.Row {
	row, _ := o.Metadata[rowKey].(operation.Row)
	return row
}

// Keys of operations in the description of the API.
const (
	commandKey  = "x-cli"       // the command line that does the same; the page /docs shows it
	otherWayKey = "x-cli-calls" // set if the command line does not call the operation: what it does
)

// described is an operation as huma registers it. It refuses principals without any of the rights before it reads their
// parameters.
func described(o operation.Operation) huma.Operation {
	out := huma.Operation{
		OperationID: o.ID, Method: o.Method, Path: o.Route(), Tags: []string{o.Tag}, Summary: o.Summary, Description: o.Description,
		MaxBodyBytes: cmp.Or(o.MaxBody, MaxBody), Metadata: map[string]any{rowKey: o.Row},
	}
	if o.More != nil {
		o.More(&out)
	}
	out.Middlewares = append(huma.Middlewares{permit(o.Row)}, out.Middlewares...)
	if first, _, _ := strings.Cut(o.Example, "\n"); first != "" {
		out.Extensions = map[string]any{commandKey: "fleetd " + first}
		if o.Without != "" {
			out.Extensions[otherWayKey] = o.Without
		}
	}
	return out
}

// permit is middleware that refuses principals without any of the rights of an operation.
func permit(o operation.Row) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if p := forbidden(auth.Of(ctx.Context()), o.Right, o.Summary); p != nil {
			if a := requestOf(ctx.Context()); a != nil {
				a.forbidden = p
			}
			_, w := humago.Unwrap(ctx)
			refuse(w, p)
			return
		}
		next(ctx)
	}
}

// forbidden says why a principal may not do something; nil = it may.
func forbidden(p auth.Principal, rights auth.Rights, what string) *Problem {
	switch {
	case p.May(rights):
		return nil
	case !p.SignedIn():
		return signInRequired(what + ": nobody is signed in")
	}
	detail, way := fmt.Sprintf("%s does not have the right to %v", p.ID, rights), "an administrator can give it to you"
	if p.Kind == auth.KindToken && rights&auth.Own != 0 { // as its user may
		detail += fmt.Sprintf(" with the token %s, which has roles of its own", p.Token)
		way = "sign in, or use a token that has the roles of its user"
	}
	return KindNotAllowed.Problem(what+": "+detail, fmt.Sprintf("this needs the role %s; %s", auth.RolesWith(rights), way))
}

// refuse writes the refusal of a request.
func refuse(w http.ResponseWriter, p *Problem) {
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="Troupe"`)
	}
	Write(w, p)
}

// sending are the rights of which a command needs one; rightOf says which.
const sending = auth.Command | auth.Manual | auth.Try | auth.Stop | auth.Administer

// rightOf returns the right to send a command, by its name group/verb.
func rightOf(name string) auth.Rights {
	group, name, _ := strings.Cut(name, "/")
	v, known := verb.Of(group, name)
	switch {
	case v.Class == verb.ClassStop:
		return auth.Stop
	case v.ID() == "control/renew" || v.ID() == "control/release": // of their own lease, also one of a trial
		return auth.Manual | auth.Try
	case v.Class == verb.ClassControl || v.Class == verb.ClassManual:
		return auth.Manual
	case known && !v.Allows(schema.RoleOperator):
		return auth.Administer
	}
	return auth.Command
}

// authenticate is middleware that puts the principal of each request into its context.
func authenticate(who auth.Authenticator, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := who.Authenticate(r)
		switch {
		case errors.Is(err, accounts.ErrNoAccounts): // nobody can sign in now
			refuse(w, noAccounts(err))
			return
		case err != nil:
			refuse(w, signInRequired(err.Error()))
			return
		}
		p.From = auth.OriginOf(r, p)
		if a := requestOf(r.Context()); a != nil {
			a.principal = p
		}
		ctx := auth.WithReauthentication(auth.With(r.Context(), p), func() (auth.Principal, error) { return who.Authenticate(r) })
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// PathID is the path parameter that names a robot, act, story, command or batch.
type PathID struct {
	caller
	ID string `path:"id" maxLength:"64"`
}

// bodyOf is the input of a request with a body.
type bodyOf[T any] struct {
	caller
	Body T
}

// idAndBody is the input of a request with a body about what PathID names.
type idAndBody[T any] struct {
	PathID
	Body T
}

// idAndReason is the input of a request without a body about what PathID names, for which people may give a reason.
type idAndReason struct {
	PathID
	AttributionQuery
}

type answer[T any] struct{ Body T }

type accepted[T any] struct {
	Status int
	Body   T
}

// AttributionQuery is an audit.Attribution in the query of requests whose body is a file, or that have none.
type AttributionQuery struct {
	By  string `query:"by" maxLength:"63"`
	Why string `query:"why" maxLength:"256" doc:"the reason, for the audit"`
}

func (q AttributionQuery) attribution(p auth.Principal) audit.Attribution {
	return attribute(p, audit.Attribution{Who: q.By, Why: q.Why})
}

// attribute returns a request's attribution under the name of its principal.
func attribute(p auth.Principal, a audit.Attribution) audit.Attribution {
	return audit.Attribution{Who: actingName(p, a.Who), Why: a.Why}
}

// actingName is the name under which a principal acts: nobody acts under another one's. Only a
// person whom nobody authenticated, in development mode, says who they are, or is dev.
func actingName(p auth.Principal, by string) string {
	if p.SignedIn() && p.Kind != auth.KindDev {
		return p.ID
	}
	return orElse(by, p.ID)
}

// nonNil makes a nil list empty, so that JSON has [] and not null.
func nonNil[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}

// timeOf converts t; the zero time is omitted from JSON.
func timeOf(t time.Time) schema.Time {
	if t.IsZero() {
		return 0
	}
	return schema.TimeOf(t)
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
