package auth

import (
	"context"
	"net/http"
	"strings"
)

// Principal is who makes a request. ID is what the audit keeps; a person's name in the body
// of a request stands beside it, never in its place.
type Principal struct {
	ID     string
	Kind   Kind
	Name   string // to show; may be empty
	Rights Rights
}

// May reports whether the principal has one of these rights.
func (p Principal) May(rights Rights) bool { return rights&(p.Rights|SelfProving) != 0 }

// Kind is how a principal was authenticated.
type Kind string

const (
	KindLocal       Kind = "local"       // by reaching the address at all
	KindToken       Kind = "token"       // by a token
	KindCertificate Kind = "certificate" // by a TLS certificate
)

// Rights is a set of what a principal may do. A route that names several needs one of them,
// and its handler decides by the contents of the request which one.
type Rights uint16

const (
	View       Rights = 1 << iota // read everything but secrets
	Edit                          // change the library, labels, and which robots belong to the fleet
	Assign                        // change desired documents
	Command                       // send commands
	Manual                        // send commands of manual control
	Stop                          // stop robots
	Release                       // release stops
	Administer                    // make tokens, revoke credentials, remove robots
	end

	// SelfProving is the right of routes whose requests carry their own proof, such as a
	// token for enrolment, which the handler checks. Every principal has it.
	SelfProving Rights = 1 << 15

	// All is every right.
	All = end - 1
)

// rightNames are the names of the rights, in their order.
var rightNames = []string{"view", "edit", "assign", "command", "manual", "stop", "release", "administer"}

// String names the rights for a person.
func (r Rights) String() string {
	var names []string
	for i, name := range rightNames {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// An Authenticator makes the principal of a request. An error says why the request is
// refused and what to do.
type Authenticator interface {
	Authenticate(r *http.Request) (Principal, error)
}

// Local gives every request all rights: any client that reaches the address can command every robot.
type Local struct{}

// Authenticate implements Authenticator.
func (Local) Authenticate(*http.Request) (Principal, error) {
	return Principal{ID: "local", Kind: KindLocal, Rights: All}, nil
}

// Robots is for the address at which robots enrol, renew certificates and get files. The
// handlers there check the token or certificate of each request.
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

// WithAgain returns a context with which the request can be authenticated again, for requests
// that last.
func WithAgain(ctx context.Context, again func() (Principal, error)) context.Context {
	return context.WithValue(ctx, againKey{}, again)
}

// Again authenticates the request of a context again.
func Again(ctx context.Context) (Principal, error) {
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
