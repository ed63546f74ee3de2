package api

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/ca"
	"troupe/fleetd/certificate"
	"troupe/fleetd/change"
	"troupe/fleetd/enrol"
	"troupe/fleetd/operation"
	"troupe/schema"
)

// EnrolPaths are the paths at which robots get certificates, below Prefix. Robots also
// need FilesPath, and schema.RecordsPath to send flight records.
var EnrolPaths = []string{"/enrol", "/renew"}

// enrolments registers the requests of robots, which authenticate with a token or their
// certificate.
func (s *server) enrolments(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "enrol", Method: http.MethodPost, Path: "/enrol", Tag: "identity", Right: auth.SelfProving,
		Summary: "Get a robot's first certificate",
		Description: "For a robot with a token. The first certificate uses up the token; until the token expires or the " +
			"certificate is revoked, a request with the same key gets the same answer, in case the answer was lost.",
		Audit:  audit.ActionEnrol,
		NoLine: "a robot gets its first certificate with the token that robot enrol made",
	}, s.enrol)
	operation.Register(t, operation.Row{
		ID: "renew", Method: http.MethodPost, Path: "/renew", Tag: "identity", Right: auth.SelfProving,
		Summary: "Get a robot's next certificate",
		Description: "Over a TLS connection that the robot authenticates with its present certificate, which stays valid until it " +
			"expires.",
		Audit:  audit.ActionRenew,
		NoLine: "a robot renews its certificate",
	}, s.renew)
}

// issuer returns the issuer of certificates, or a problem.
func (s *server) issuer() (certificate.Issuer, error) {
	i, err := s.Identity.Issuer()
	if err != nil {
		return i, KindNoKeys.Problem(err.Error(), "start fleetd with --ca DIR and --enrol ADDRESS; fleetd ca init makes the keys")
	}
	return i, nil
}

// tokenKinds maps the reasons of refused tokens to kinds of problems.
var tokenKinds = map[string]Kind{
	enrol.CodeTokenUnknown: KindToken, enrol.CodeTokenUsed: KindTokenUsed,
	enrol.CodeTokenExpired: KindTokenExpired, enrol.CodeWrongBody: KindWrongBody,
}

func problemAs(k Kind, no *schema.Problem) *Problem {
	return k.Problem(no.Detail, no.Hint, inBody("", []schema.Problem{*no})...)
}

func (s *server) enrol(ctx context.Context, in *bodyOf[schema.EnrolRequest]) (*answer[schema.Enrolled], error) {
	now := s.Now()
	limited := s.tokenLimit.exceeded(in.remote, now)
	issuer, err := s.issuer()
	if err != nil {
		return nil, err
	}
	if problems := in.Body.Validate(); len(problems) > 0 {
		return nil, refusal(inBody("", problems))
	}
	tooOften := KindTooOften.Problem("too many wrong tokens came from this address", "wait a minute, and copy the whole token")
	unknown := func(no *schema.Problem) error {
		if limited {
			return tooOften
		}
		s.tokenLimit.countWrong(in.remote, now)
		s.Log.WarnContext(ctx, "enrolment refused", "remote", in.remote, "why", no.Detail)
		return problemAs(KindToken, no)
	}
	token, err := schema.ParseToken(in.Body.Token)
	if err != nil {
		no := schema.NewProblem("/token", enrol.CodeTokenUnknown, err.Error(), "copy the whole token, or make one with fleetd robot enrol NAME")
		return nil, unknown(&no)
	}
	if limited { // guesses must not queue for the database's single writer
		known, err := s.Identities.KnowsToken(ctx, token)
		if err != nil {
			return nil, s.fail(err, "robot "+token.Robot)
		}
		if !known {
			return nil, tooOften
		}
	}
	c, err := s.Identities.Grant(ctx, in.principal, issuer.Authority, token, in.Body.Serial, in.Body.CSR)
	var no *change.Refused
	switch {
	case errors.As(err, &no) && no.Problem.Code == enrol.CodeTokenUnknown:
		return nil, unknown(&no.Problem)
	case err != nil:
		return nil, s.failCredential(err, "robot "+token.Robot)
	}
	s.Log.InfoContext(ctx, "robot enrolled", "robot", c.Robot, "remote", in.remote, "until", schema.TimeOf(c.NotAfter).String())
	return &answer[schema.Enrolled]{s.enrolled(issuer, c, now)}, nil
}

// failCredential is fail for requests of robots with a credential.
func (s *server) failCredential(err error, what string) error {
	var no *change.Refused
	if !errors.As(err, &no) {
		return s.fail(err, what)
	}
	switch no.What {
	case change.TokenCredential:
		return problemAs(tokenKinds[no.Problem.Code], &no.Problem)
	case change.RequestCredential:
		return problemAs(KindRequest, &no.Problem)
	case change.NameCredential:
		return KindCertificate.Problem(no.Problem.Detail, no.Problem.Hint)
	default:
		return KindCertificate.Problem(no.Problem.Detail, no.Problem.Hint, Finding{Problem: no.Problem})
	}
}

func (s *server) enrolled(issuer certificate.Issuer, c enrol.Certificate, now time.Time) schema.Enrolled {
	return schema.Enrolled{
		TS: schema.TimeOf(now), Robot: c.Robot, Certificate: c.PEM, CA: string(ca.EncodeCertificates(issuer.Root())),
		Brokers: nonNil(issuer.Brokers), Expires: schema.TimeOf(c.NotAfter),
		FleetID: s.Status().FleetID, TrustKeys: issuer.TrustKeys,
	}
}

func (s *server) renew(ctx context.Context, in *bodyOf[schema.RenewRequest]) (*answer[schema.Enrolled], error) {
	now := s.Now()
	issuer, err := s.issuer()
	if err != nil {
		return nil, err
	}
	if problems := in.Body.Validate(); len(problems) > 0 {
		return nil, refusal(inBody("", problems))
	}
	holder, err := robotOf(in.tls, issuer, now)
	if err != nil {
		return nil, err
	}
	c, err := s.Identities.Renew(ctx, in.principal, issuer.Authority, holder, in.Body.CSR)
	if err != nil {
		return nil, s.failCredential(err, "robot "+holder.Name)
	}
	s.Log.InfoContext(ctx, "certificate renewed", "robot", holder.Name, "until", schema.TimeOf(c.NotAfter).String())
	return &answer[schema.Enrolled]{s.enrolled(issuer, c, now)}, nil
}

// robotOf returns the robot that a connection authenticates with its certificate.
func robotOf(connection *tls.ConnectionState, issuer certificate.Issuer, now time.Time) (ca.Holder, error) {
	if connection == nil || len(connection.PeerCertificates) == 0 {
		return ca.Holder{}, KindCertificate.Problem("no client certificate was presented",
			"connect with the robot's present certificate, directly and not through a proxy that hides it")
	}
	holder, err := issuer.Verify(connection.PeerCertificates[0], now)
	if err != nil {
		return holder, KindCertificate.Problem(err.Error(), "enrol the robot again with a new token")
	}
	if holder.Role != schema.RoleRobot {
		return holder, KindCertificate.Problem("this is not the certificate of a robot",
			"use the robot's certificate; a fleetd instance issues its own")
	}
	return holder, nil
}

// RobotsOnly is middleware that admits only robots of the fleet with a valid certificate.
// It protects files and the upload of flight records at the address for robots.
func RobotsOnly(deps Deps, next http.Handler) http.Handler {
	s := &server{Deps: deps}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.isRobot(r.Context(), r.TLS); err != nil {
			var p *Problem
			if !errors.As(s.failCredential(err, "file"), &p) {
				p = KindInternal.Problem(err.Error(), "")
			}
			Write(w, p)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *server) isRobot(ctx context.Context, connection *tls.ConnectionState) error {
	now := s.Now()
	issuer, err := s.issuer()
	if err != nil {
		return err
	}
	holder, err := robotOf(connection, issuer, now)
	if err != nil {
		return err
	}
	return s.Identities.CheckCertificate(ctx, holder)
}
