package api

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/enrol"
	"troupe/fleetd/operation"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// TokenRequest asks for an enrolment token.
type TokenRequest struct {
	Serial  string            `json:"serial,omitempty" maxLength:"128" doc:"serial number of the robot's body; only that body may use the token"`
	Labels  map[string]string `json:"labels,omitempty" doc:"that the robot gets when it enrols, so that policies apply to it from the start" cli:"-"`
	ValidMS int64             `json:"valid_ms,omitempty" minimum:"60000" maximum:"604800000" doc:"how long it is valid; default a day" cli:"valid,ms"`
	audit.Attribution
}

// EnrolmentToken is the token with which a robot enrols. Only this answer contains it.
type EnrolmentToken struct {
	Robot   string      `json:"robot"`
	Token   string      `json:"token" doc:"fleetd stores only its digest"`
	Serial  string      `json:"serial,omitempty"`
	Expires schema.Time `json:"expires"`
	Server  string      `json:"server" doc:"address for the enrolment"`
	Line    string      `json:"line" doc:"command to type on the robot"`
}

// Identity is what fleetd knows of a robot's credentials.
type Identity struct {
	Robot        string        `json:"robot"`
	Revoked      schema.Time   `json:"revoked,omitzero" doc:"when it was revoked; brokers refuse it until it is enrolled again or adopted"`
	Certificates []Certificate `json:"certificates"`
	Tokens       []TokenState  `json:"tokens"`
}

// Certificate is one that was issued to the robot.
type Certificate struct {
	Serial  string      `json:"serial"`
	How     string      `json:"how" enum:"token,renewal"`
	Issued  schema.Time `json:"issued"`
	Expires schema.Time `json:"expires"`
	Revoked schema.Time `json:"revoked,omitzero"`
	By      string      `json:"revoked_by,omitempty"`
	Why     string      `json:"revoked_why,omitempty"`
}

// TokenState is the state of a token. The token itself is not stored.
type TokenState struct {
	At      schema.Time `json:"at"`
	By      string      `json:"by,omitempty"`
	Serial  string      `json:"serial,omitempty"`
	Expires schema.Time `json:"expires"`
	Used    schema.Time `json:"used,omitzero"`
}

// RevokeRequest asks to revoke a robot's credentials.
type RevokeRequest struct {
	DryRun bool `json:"dry_run,omitempty" doc:"only show what it would revoke; otherwise why is required"`
	audit.Attribution
}

// Revoked is the result of a revocation.
type Revoked struct {
	DryRun         bool     `json:"dry_run,omitempty"`
	Robot          string   `json:"robot"`
	Certificates   []string `json:"certificates" doc:"serial numbers of the certificates that were valid"`
	PresenceStatus string   `json:"presence_status" doc:"presence of the robot; if it is connected, the broker disconnects it"`
	Broker         bool     `json:"broker" doc:"fleetd is connected to its broker, which gets the revocation at once; otherwise it gets it when fleetd is connected again"`
}

func (s *server) identities(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "make-enrolment-token", Method: http.MethodPost, Path: "/robots/{id}/tokens", Tag: "identity", Right: auth.Administer,
		Summary: "Make an enrolment token",
		Description: "Anybody with the token can enrol as that robot, once. Only this answer contains it; it replaces an earlier " +
			"token that was not used.",
		Audit:   audit.ActionMakeEnrolmentToken,
		Use:     "robot enrol ROBOT",
		Short:   "make an enrolment token for a robot",
		Example: "robot enrol r1\nrobot enrol r7 --serial B-0412 --valid 2h\nrobot enrol r9 -l site=lobby",
		Long: "Make an enrolment token and print the command to type on the robot. The robot makes its own\n" +
			"key and gets its certificate with the token. A token can be used once, is valid for a day,\n" +
			"and is replaced by the next one made for the same robot. Anybody with the token can become\n" +
			"that robot: treat it like a password. With -l the robot has these labels when it enrols, so\n" +
			"policies give it what it performs at once.",
	}, s.makeToken)
	operation.Register(t, operation.Row{
		ID: "get-identity", Method: http.MethodGet, Path: "/robots/{id}/identity", Tag: "identity", Right: auth.View,
		Summary: "List a robot's certificates and tokens",
		Use:     "robot identity ROBOT",
		Example: "robot identity r1",
	}, s.identity)
	operation.Register(t, operation.Row{
		ID: "revoke-robot", Method: http.MethodPost, Path: "/robots/{id}/revoke", Tag: "identity", Right: auth.Administer,
		Summary:     "Revoke a robot's credentials",
		Description: "Brokers close its connections at once and refuse its name and its certificates. A new token enrols it again.",
		Audit:       audit.ActionRevoke,
		Use:         "robot revoke ROBOT",
		Short:       "revoke a robot's credentials, at once",
		Example:     "robot revoke r1 --why stolen\nrobot revoke r7 --why 'stolen from hall 2'",
		Long: "Revoke a robot's credentials: brokers close its connections at once and refuse its name and\n" +
			"every certificate issued to it. This is not a stop: a disconnected robot does what its modes\n" +
			"do without a link. It remains in the fleet; enrolling it again with a new token ends the\n" +
			"revocation, and so does fleetd adopt where robots have passwords.",
	}, func(ctx context.Context, in *idAndBody[RevokeRequest]) (*answer[Revoked], error) {
		return s.revoke(ctx, in.principal, in.ID, in.Body)
	})
}

func (s *server) makeToken(ctx context.Context, in *idAndBody[TokenRequest]) (*answer[EnrolmentToken], error) {
	issuer, err := s.issuer()
	if err != nil {
		return nil, err
	}
	if found := selector.LabelProblems(in.Body.Labels); len(found) > 0 {
		return nil, refusal(inBody("", found))
	}
	now, valid := s.Now(), time.Duration(in.Body.ValidMS)*time.Millisecond
	if valid == 0 {
		valid = enrol.DefaultValid
	}
	token := schema.EnrolmentToken{Robot: in.ID, Fingerprint: issuer.Fingerprint}
	if _, err := rand.Read(token.Secret[:]); err != nil {
		return nil, fmt.Errorf("make a token: %w", err)
	}
	row := enrol.Token{Digest: enrol.DigestOf(token), Robot: in.ID, Serial: in.Body.Serial, Labels: in.Body.Labels, CreatedAt: now,
		CreatedBy: actingName(in.principal, in.Body.Who), ExpiresAt: now.Add(valid)}
	if err := s.Identities.NewToken(ctx, in.principal, row, in.Body.Why); err != nil {
		return nil, s.fail(err, "robot "+in.ID)
	}
	line := "robotd enrol --token " + token.String() + " --server " + issuer.URL
	if in.Body.Serial != "" {
		line += fmt.Sprintf(" --serial %q", in.Body.Serial)
	}
	return &answer[EnrolmentToken]{EnrolmentToken{
		Robot: in.ID, Token: token.String(), Serial: in.Body.Serial, Expires: schema.TimeOf(row.ExpiresAt), Server: issuer.URL, Line: line,
	}}, nil
}

func invalidName(robot string) *Problem {
	return KindInvalid.Problem(fmt.Sprintf("%q cannot name a robot", robot), "write a to z, 0 to 9 and -, at most 63 characters")
}

func (s *server) identity(ctx context.Context, in *PathID) (*answer[Identity], error) {
	held, err := s.Identities.Of(ctx, in.ID)
	if err != nil {
		return nil, s.fail(err, "robot "+in.ID)
	}
	out := Identity{Robot: in.ID, Certificates: []Certificate{}, Tokens: []TokenState{}, Revoked: timeOf(held.RevokedAt)}
	for _, c := range held.Certificates {
		out.Certificates = append(out.Certificates, Certificate{
			Serial: c.Serial, How: string(c.How), Issued: timeOf(c.IssuedAt), Expires: timeOf(c.NotAfter),
			Revoked: timeOf(c.RevokedAt), By: c.RevokedBy, Why: c.RevokedWhy,
		})
	}
	for _, t := range held.Tokens {
		out.Tokens = append(out.Tokens, TokenState{At: timeOf(t.CreatedAt), By: t.CreatedBy, Serial: t.Serial, Expires: timeOf(t.ExpiresAt),
			Used: timeOf(t.UsedAt)})
	}
	if len(out.Certificates)+len(out.Tokens) == 0 && out.Revoked == 0 {
		return nil, KindNotFound.Problem("robot "+in.ID+" was never enrolled", "fleetd robot enrol "+in.ID+" makes a token for it")
	}
	return &answer[Identity]{out}, nil
}

// noReason refuses a revocation without a reason for the audit.
func noReason(of string) *Problem {
	f := schema.NewProblem("/why", "missing", "a revocation needs a reason", "say why "+of+" is no longer trusted")
	return refusal(inBody("", []schema.Problem{f}))
}

func (s *server) revoke(ctx context.Context, p auth.Principal, robot string, in RevokeRequest) (*answer[Revoked], error) {
	if !schema.ValidID(robot) {
		return nil, invalidName(robot)
	}
	if robot == s.Status().Name {
		return nil, KindInvalid.Problem(fmt.Sprintf("%q is this fleetd instance, not a robot", robot),
			"fleetd ca revoke SERIAL revokes the certificate of a fleetd instance")
	}
	if !in.DryRun && strings.TrimSpace(in.Why) == "" {
		return nil, noReason("robot " + robot)
	}
	seen, unknown := s.robot(robot)
	serials, err := s.Identities.Revoke(ctx, p, robot, unknown == nil, in.DryRun, attribute(p, in.Attribution))
	if errors.Is(err, change.ErrNeverSeen) {
		return nil, unknown
	}
	if err != nil {
		return nil, s.fail(err, "robot "+robot)
	}
	out := Revoked{DryRun: in.DryRun, Robot: robot, Certificates: nonNil(serials), PresenceStatus: seen.Presence.Status,
		Broker: s.Status().Broker.OK}
	if !in.DryRun {
		s.Log.WarnContext(ctx, "robot revoked", "robot", robot, "certificates", len(out.Certificates), "by", attribute(p, in.Attribution).Who,
			"why", in.Why)
	}
	return &answer[Revoked]{out}, nil
}
