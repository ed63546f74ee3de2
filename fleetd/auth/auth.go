package auth

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// Principal is who makes a request. ID is what the audit keeps; a person's name in the body
// of a request stands beside it, never in its place.
type Principal struct {
	ID      string // the name of the account
	Kind    Kind   // empty: nobody is signed in
	Name    string // to show; may be empty
	Token   string // name of the token of the request; empty without one
	TokenID string
	Roles   []Role
	Rights  Rights
	Sites   []string // the principal sees and commands robots of these sites only; none = every robot
	From    Origin
}

// SiteLabel is the label of a robot that names its site.
const SiteLabel = "site"

// May reports whether the principal has one of these rights.
func (p Principal) May(rights Rights) bool { return rights&(p.Rights|SelfProving) != 0 }

// SignedIn reports whether fleetd knows who makes the request.
func (p Principal) SignedIn() bool { return p.Kind != "" }

// Same reports whether q is the same principal with the same rights.
func (p Principal) Same(q Principal) bool {
	return p.ID == q.ID && p.Kind == q.Kind && p.Rights == q.Rights && slices.Equal(p.Sites, q.Sites)
}

// Sees reports whether a robot with these labels belongs to the principal's sites.
func (p Principal) Sees(labels map[string]string) bool {
	return p.SeesAll() || slices.Contains(p.Sites, labels[SiteLabel])
}

// SeesAll reports whether the principal sees the robots of every site.
func (p Principal) SeesAll() bool { return p.SignedIn() && len(p.Sites) == 0 }

// Kind is how a principal was authenticated.
type Kind string

const (
	KindDev         Kind = "dev"         // by reaching the address of an instance in development mode
	KindSession     Kind = "session"     // by the cookie of a session
	KindToken       Kind = "token"       // by a token
	KindCertificate Kind = "certificate" // by a TLS certificate
	KindSchedule    Kind = "schedule"    // when the schedule was saved that acts now
)

// Rights is a set of what a principal may do. A route that names several needs one of them,
// and its handler decides by the contents of the request which one.
type Rights uint16

const (
	View         Rights = 1 << iota // read everything but secrets, accounts, the audit and flight records
	Edit                            // change the library
	Assign                          // change desired documents
	Command                         // send commands
	Manual                          // send commands of manual control
	Stop                            // stop robots
	ReleaseStops                    // release latched stops
	Administer                      // change accounts, labels and robots' credentials; add and remove robots
	Audit                           // read the audit
	Own                             // change one's own password and tokens
	Try                             // perform a draft once on one robot
	Records                         // get flight records of robots
	Approve                         // approve rollouts of others
	end

	// SelfProving is the right of routes whose requests carry their own proof, such as a
	// token for enrolment or a password, which the handler checks. Everybody has it.
	SelfProving Rights = 1 << 15
	// Public is the right of routes that need no proof and that everybody may use, such as the health check.
	Public = SelfProving

	// All is every right.
	All = end - 1
)

// rightNames are the names of the rights, in their order.
var rightNames = []string{"view", "edit", "assign", "command", "manual", "stop", "release_stops", "administer", "audit", "own", "try",
	"records", "approve"}

// Names lists the names of the rights.
func (r Rights) Names() []string {
	names := []string{}
	for i, name := range rightNames {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// String names the rights for a person.
func (r Rights) String() string { return strings.ReplaceAll(strings.Join(r.Names(), " or "), "_", " ") }

// An Authenticator makes the principal of a request; without credentials, one of no kind and
// without rights. An error says why the credentials are refused.
type Authenticator interface {
	Authenticate(r *http.Request) (Principal, error)
}

// Everybody is an authenticator that takes every request for the same principal.
type Everybody struct{ Principal }

// Authenticate implements Authenticator.
func (e Everybody) Authenticate(*http.Request) (Principal, error) { return e.Principal, nil }

// Dev is who makes a request in development mode without signing in: they have every right.
func Dev() Principal {
	return Principal{ID: "dev", Kind: KindDev, Name: "development", Roles: roleNames(), Rights: All}
}

// Robots is the Authenticator of the address at which robots enrol, renew certificates, get files
// and send flight records. It asks for no credentials: the handlers there check the token or
// certificate of each request. It gives View, which the route of files needs; fleet serves no
// other route at this address that reads.
type Robots struct{}

// Authenticate implements Authenticator.
func (Robots) Authenticate(r *http.Request) (Principal, error) {
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		return Principal{ID: "certificate", Kind: KindCertificate, Name: r.TLS.PeerCertificates[0].Subject.CommonName, Rights: View}, nil
	}
	return Principal{ID: "token", Kind: KindToken, Rights: View}, nil
}

type (
	contextKey struct{}
	againKey   struct{}
)

// WithReauthentication returns a context with which the request can be authenticated again, for requests
// that last.
func WithReauthentication(ctx context.Context, again func() (Principal, error)) context.Context {
	return context.WithValue(ctx, againKey{}, again)
}

// Reauthenticate authenticates the request of a context again.
func Reauthenticate(ctx context.Context) (Principal, error) {
	if again, ok := ctx.Value(againKey{}).(func() (Principal, error)); ok {
		return again()
	}
	return Principal{}, nil
}

// With returns a context that carries the principal of a request.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// Of returns the principal that a context carries. Without one it has no rights.
func Of(ctx context.Context) Principal {
	p, _ := ctx.Value(contextKey{}).(Principal)
	return p
}

// StillSignedIn reports whether the principal of a request that lasts, such as a stream, is signed in
// as before.
func StillSignedIn(ctx context.Context) bool {
	if ctx.Value(againKey{}) == nil {
		return true
	}
	now, err := Reauthenticate(ctx)
	return err == nil && now.Same(Of(ctx))
}
