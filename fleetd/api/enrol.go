package api

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/ca"
	"troupe/fleetd/enrol"
	"troupe/fleetd/library"
	"troupe/fleetd/store"
	"troupe/schema"
)

// caller is the connection of a request.
type caller struct {
	tls    *tls.ConnectionState
	remote string
}

// Resolve fills it in; huma calls it.
func (c *caller) Resolve(ctx huma.Context) []error {
	c.tls, c.remote = ctx.TLS(), ctx.RemoteAddr()
	return nil
}

// EnrolPaths are the paths at which robots get certificates, below Prefix. The only other
// path that robots need is FilesPath.
var EnrolPaths = []string{"/enrol", "/renew"}

// enrolments registers the requests of robots, which authenticate with a token or their
// certificate.
func (s *server) enrolments(h huma.API) {
	huma.Register(h, op("enrol", http.MethodPost, "/enrol", "identity", "Get a robot's first certificate",
		"For a robot with a token. The first certificate uses up the token; until the token expires, a request with the same key gets the same answer, in case the answer was lost."),
		func(ctx context.Context, in *struct {
			caller
			Body schema.EnrolRequest
		}) (*answer[schema.Enrolled], error) {
			return s.enrol(ctx, in.remote, in.Body)
		})
	huma.Register(h, op("renew", http.MethodPost, "/renew", "identity", "Get a robot's next certificate",
		"Over a TLS connection that the robot authenticates with its present certificate, which stays valid until it expires."),
		func(ctx context.Context, in *struct {
			caller
			Body schema.RenewRequest
		}) (*answer[schema.Enrolled], error) {
			return s.renew(ctx, in.tls, in.Body)
		})
}

// issuer returns the issuer of certificates, or a problem.
func (s *server) issuer() (Issuer, error) {
	i, err := s.fleet.Issuer()
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

func (s *server) enrol(ctx context.Context, remote string, in schema.EnrolRequest) (*answer[schema.Enrolled], error) {
	now := s.fleet.Now()
	barred := s.tokenLimit.exceeded(remote, now)
	issuer, err := s.issuer()
	if err != nil {
		return nil, err
	}
	if problems := in.Validate(); len(problems) > 0 {
		return nil, refusal(inBody("", problems))
	}
	tooOften := KindTooOften.Problem("too many wrong tokens came from this address", "wait a minute, and copy the whole token")
	unknown := func(no *schema.Problem) error {
		if barred {
			return tooOften
		}
		s.tokenLimit.countWrong(remote, now)
		s.log.Warn("enrolment refused", "remote", remote, "why", no.Detail)
		return problemAs(KindToken, no)
	}
	token, err := schema.ParseToken(in.Token)
	if err != nil {
		no := schema.Fault("/token", enrol.CodeTokenUnknown, err.Error(), "copy the whole token, or make one with fleetd robot enrol NAME")
		return nil, unknown(&no)
	}
	if barred { // guesses must not queue for the database's single writer
		db, err := s.fleet.Store()
		if err == nil {
			_, err = db.Token(ctx, enrol.DigestOf(token))
		}
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nil, tooOften
		case err != nil:
			return nil, s.fail(err, "robot "+token.Robot)
		}
	}
	var out schema.Enrolled
	request, badRequest := ca.ReadRequest(in.CSR, token.Robot)
	err = s.inTx(ctx, "robot "+token.Robot, func(tx *store.Tx) error {
		row, err := tx.Token(ctx, enrol.DigestOf(token))
		known := !errors.Is(err, store.ErrNotFound)
		if known && err != nil {
			return err
		}
		ask := enrol.Ask{Robot: token.Robot, Serial: in.Serial}
		if badRequest == nil {
			if ask.Key, err = request.KeyDigest(); err != nil {
				return err
			}
		}
		grant, no := enrol.Redeem(row, known, ask, now)
		switch {
		case no != nil && no.Code == enrol.CodeTokenUnknown:
			return unknown(no)
		case no != nil:
			return problemAs(tokenKinds[no.Code], no)
		case badRequest != nil:
			return problemAs(KindRequest, badRequest)
		}
		if err := s.checkName(ctx, tx, token.Robot); err != nil {
			return err
		}
		if grant == enrol.Again {
			out, err = s.repeatAnswer(ctx, tx, issuer, row, now)
			return err
		}
		out, err = s.grant(ctx, tx, issuer, request, row, ask, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.fleet.Changed(ctx)
	s.log.Info("robot enrolled", "robot", out.Robot, "remote", remote, "until", out.Expires.String())
	return &answer[schema.Enrolled]{out}, nil
}

// repeatAnswer repeats the answer that was given before.
func (s *server) repeatAnswer(ctx context.Context, tx *store.Tx, issuer Issuer, row enrol.Token, now time.Time) (schema.Enrolled, error) {
	held, err := tx.Certificates(ctx, row.Robot)
	if err != nil {
		return schema.Enrolled{}, err
	}
	for _, c := range held {
		if c.Serial == row.Certificate {
			return s.enrolled(issuer, c, now), nil
		}
	}
	return schema.Enrolled{}, store.ErrNotFound
}

// grant issues the certificate of a robot, adds its row and ends its revocation.
func (s *server) grant(ctx context.Context, tx *store.Tx, issuer Issuer, r ca.Request, row enrol.Token, ask enrol.Ask, now time.Time) (schema.Enrolled, error) {
	c, err := issue(ctx, tx, issuer, r, enrol.ByToken, now)
	if err != nil {
		return schema.Enrolled{}, err
	}
	if err := tx.UseToken(ctx, row.Digest, ask.Key, c.Serial, now); err != nil {
		return schema.Enrolled{}, err
	}
	if _, err := tx.AddRobot(ctx, r.Name, now); err != nil {
		return schema.Enrolled{}, err
	}
	was, err := tx.Unbar(ctx, r.Name)
	if err != nil {
		return schema.Enrolled{}, err
	}
	if was {
		if err := tx.TellRevoked(ctx, s.fleet.Status().FleetID, now); err != nil {
			return schema.Enrolled{}, err
		}
	}
	return s.enrolled(issuer, c, now), tx.Note(ctx, now, library.Note{Who: row.CreatedBy, What: "enrol", Target: "robot " + r.Name, Detail: "certificate " + c.Serial})
}

func issue(ctx context.Context, tx *store.Tx, issuer Issuer, r ca.Request, how enrol.How, now time.Time) (enrol.Certificate, error) {
	leaf, err := issuer.Robot(r, now)
	if err != nil {
		return enrol.Certificate{}, err
	}
	c := enrol.Certificate{
		Serial: ca.Serial(leaf), Robot: r.Name, How: how, IssuedAt: now, NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter,
		PEM: string(ca.EncodeCertificates(issuer.Chain(leaf)...)),
	}
	return c, tx.AddCertificate(ctx, c)
}

func (s *server) enrolled(issuer Issuer, c enrol.Certificate, now time.Time) schema.Enrolled {
	return schema.Enrolled{
		TS: schema.TimeOf(now), Robot: c.Robot, Certificate: c.PEM, CA: string(ca.EncodeCertificates(issuer.Root())),
		Brokers: nonNil(issuer.Brokers), Expires: schema.TimeOf(c.NotAfter),
		FleetID: s.fleet.Status().FleetID, TrustKeys: issuer.TrustKeys,
	}
}

func (s *server) renew(ctx context.Context, connection *tls.ConnectionState, in schema.RenewRequest) (*answer[schema.Enrolled], error) {
	now := s.fleet.Now()
	issuer, err := s.issuer()
	if err != nil {
		return nil, err
	}
	if problems := in.Validate(); len(problems) > 0 {
		return nil, refusal(inBody("", problems))
	}
	holder, err := robotOf(connection, issuer, now)
	if err != nil {
		return nil, err
	}
	request, no := ca.ReadRequest(in.CSR, holder.Name)
	if no != nil {
		return nil, problemAs(KindRequest, no)
	}
	var out schema.Enrolled
	err = s.inTx(ctx, "robot "+holder.Name, func(tx *store.Tx) error {
		held, err := validCertificates(ctx, tx, holder)
		if err != nil {
			return err
		}
		if err := s.checkName(ctx, tx, holder.Name); err != nil {
			return err
		}
		if no := enrol.Renew(held, holder.Serial, now); no != nil {
			return KindCertificate.Problem(no.Detail, no.Hint, Finding{Problem: *no})
		}
		c, err := issue(ctx, tx, issuer, request, enrol.ByRenewal, now)
		if err != nil {
			return err
		}
		out = s.enrolled(issuer, c, now)
		return tx.Note(ctx, now, library.Note{What: "renew", Target: "robot " + holder.Name, Detail: "certificate " + c.Serial + " after " + holder.Serial})
	})
	if err != nil {
		return nil, err
	}
	s.log.Info("certificate renewed", "robot", holder.Name, "until", out.Expires.String())
	return &answer[schema.Enrolled]{out}, nil
}

// robotOf returns the robot that a connection authenticates with its certificate.
func robotOf(connection *tls.ConnectionState, issuer Issuer, now time.Time) (ca.Holder, error) {
	if connection == nil || len(connection.PeerCertificates) == 0 {
		return ca.Holder{}, KindCertificate.Problem("no certificate was presented", "connect with the robot's present certificate, directly and not through a proxy that hides it")
	}
	holder, err := issuer.Verify(connection.PeerCertificates[0], now)
	if err != nil {
		return holder, KindCertificate.Problem(err.Error(), "enrol the robot again with a new token")
	}
	if holder.Role != schema.RoleRobot {
		return holder, KindCertificate.Problem("this is not the certificate of a robot", "use the robot's certificate; a fleetd instance issues its own")
	}
	return holder, nil
}

// credentials reads the credentials of robots from the database.
type credentials interface {
	Certificates(ctx context.Context, robot string) ([]enrol.Certificate, error)
	IsBarred(ctx context.Context, robot string) (bool, error)
}

// validCertificates returns the certificates that were issued to a robot, or why the one that it
// presents is refused although the fleet issued it.
func validCertificates(ctx context.Context, db credentials, holder ca.Holder) ([]enrol.Certificate, error) {
	held, err := db.Certificates(ctx, holder.Name)
	if err != nil {
		return nil, err
	}
	barred, err := db.IsBarred(ctx, holder.Name)
	if err != nil {
		return nil, err
	}
	if barred {
		return nil, KindCertificate.Problem("robot "+holder.Name+" was revoked", "enrol the robot again with a new token")
	}
	if no := enrol.Holds(held, holder.Serial); no != nil {
		return nil, KindCertificate.Problem(no.Detail, no.Hint, Finding{Problem: *no})
	}
	return held, nil
}

// RobotsOnly is middleware that admits only robots of the fleet with a valid certificate.
// It protects the files at the address for enrolment.
func RobotsOnly(fleetd Fleet, log *slog.Logger, next http.Handler) http.Handler {
	s := &server{fleet: fleetd, log: log}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.isRobot(r.Context(), r.TLS); err != nil {
			var p *Problem
			if !errors.As(s.fail(err, "file"), &p) {
				p = KindInternal.Problem(err.Error(), "")
			}
			Write(w, p)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *server) isRobot(ctx context.Context, connection *tls.ConnectionState) error {
	now := s.fleet.Now()
	issuer, err := s.issuer()
	if err != nil {
		return err
	}
	holder, err := robotOf(connection, issuer, now)
	if err != nil {
		return err
	}
	db, err := s.fleet.Store()
	if err != nil {
		return err
	}
	_, err = validCertificates(ctx, db, holder)
	return err
}

// inTx runs a transaction and turns an error into a problem.
func (s *server) inTx(ctx context.Context, what string, do func(tx *store.Tx) error) error {
	db, err := s.fleet.Store()
	if err != nil {
		return s.fail(err, what)
	}
	if err := db.Tx(ctx, do); err != nil {
		return s.fail(err, what)
	}
	return nil
}
