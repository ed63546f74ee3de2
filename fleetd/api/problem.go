package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"troupe/schema"
)

// Problem is the body of every error answer (RFC 9457).
type Problem struct {
	Type   string    `json:"type" doc:"kind of the problem; stable; GET it for an explanation"`
	Title  string    `json:"title"`
	Status int       `json:"status"`
	Detail string    `json:"detail" doc:"what is wrong this time"`
	Hint   string    `json:"hint,omitempty" doc:"what to do"`
	Errors []Finding `json:"errors,omitempty"`

	// What a person must confirm before the request is carried out.
	Count   *int   `json:"count,omitempty" doc:"how many robots it would affect now"`
	Confirm string `json:"confirm,omitempty" doc:"the names to send as confirmation"`

	fault      *fault // for the log; nil = there is none
	retryAfter int    // seconds for the header Retry-After; 0 = none
}

// Finding is one error or warning about a request or a document.
type Finding struct {
	In   string `json:"in,omitempty" doc:"body, query, path or header; empty = the document"`
	File string `json:"file,omitempty" doc:"of a folder"`
	schema.Problem
}

// Kind is one type of problem.
type Kind struct {
	Name    string
	Status  int
	Title   string
	Meaning string
}

// Type is the URI that identifies k in answers; fleetd serves its meaning there.
func (k Kind) Type() string { return TypePrefix + k.Name }

// TypePrefix is the prefix of the types of all problems.
const TypePrefix = "/problems/"

// All kinds of problems.
var (
	KindMalformed = Kind{"malformed", http.StatusBadRequest, "The request cannot be read",
		"The request is not well-formed and could not be parsed."}
	KindInvalid = Kind{"invalid", http.StatusUnprocessableEntity, "The request is not valid",
		"The request was parsed, and something in it is wrong; errors says what, where and what to do."}
	KindNotFound = Kind{"not-found", http.StatusNotFound, "Not found", "What the request names does not exist."}
	KindConflict = Kind{"conflict", http.StatusConflict, "It was changed meanwhile",
		"The state is no longer the one that the request assumes. Get it again, then decide again."}
	KindCount = Kind{"count-changed", http.StatusConflict, "The number of matching robots changed",
		"expected_count is not the number of robots or stories that the request would affect now. Send it with dry_run, check the result, and " +
			"send the number that it shows."}
	KindConfirm = Kind{"needs-confirmation", http.StatusConflict, "This needs a confirmation",
		"The request removes something. Send the count, and where needed the names, that a dry run shows."}
	KindUnpublished = Kind{"not-published", http.StatusConflict, "There is no published revision",
		"Only published stories can be assigned to robots. Publish it first."}
	KindPreconditionFailed = Kind{"precondition-failed", http.StatusPreconditionFailed, "It was changed since you read it",
		"If-Match names another revision than the stored one. Get it again, then decide again."}
	KindPreconditionRequired = Kind{"precondition-required", http.StatusPreconditionRequired, "If-Match is missing",
		"The request overwrites a draft. If-Match names the draft revision that you read, so that nobody overwrites somebody else's change " +
			"unknowingly."}
	KindTooLarge = Kind{"too-large", http.StatusRequestEntityTooLarge, "The request is too large",
		"A request may have 1 MiB, one that validates or publishes texts 8 MiB, an import, a folder or an uploaded asset 16 MiB; an act or " +
			"story may have 64 KiB."}
	KindMedia = Kind{"unsupported-media-type", http.StatusUnsupportedMediaType, "The body is of an unknown type",
		"Bodies are JSON; acts and stories may also be YAML."}
	KindNotAllowed = Kind{"not-allowed", http.StatusForbidden, "This is not allowed", "The request came from a page of another site, used a " +
		"host name that is not allowed, or needs a role or a site that the account does not have."}
	KindSignIn = Kind{"sign-in-required", http.StatusUnauthorized, "Sign in first", "Nobody is signed in, the session or token has ended, " +
		"or user and password do not match. Sign in to the console or with fleetd login; programs send Authorization: Bearer and a token."}
	KindSlow = Kind{"too-slow", http.StatusRequestTimeout, "The request came too slowly", "The body did not arrive in time."}
	KindBusy = Kind{"busy", http.StatusServiceUnavailable, "Too many concurrent changes",
		"Many requests change the same data at once; this one changed nothing. Try again."}
	KindDatabase = Kind{"database-unavailable", http.StatusServiceUnavailable, "The database does not answer",
		"Robots continue, and you can still stop them. Everything else waits until the database answers."}
	KindOverload = Kind{"overloaded", http.StatusServiceUnavailable, "Too many requests at once",
		"fleetd serves a limited number of requests at once, and did not read this one. Stops have a limit of their own."}
	KindDisk = Kind{"disk-unwritable", http.StatusServiceUnavailable, "fleetd cannot write to its disk",
		"Stops are sent and robots latch them. Stops that the database does not have yet are lost if fleetd ends. Free space on the disk."}
	KindSealKey = Kind{"seal-key-unreadable", http.StatusServiceUnavailable, "A key of fleetd cannot be read",
		"The key with which fleetd seals the secrets of receivers of notifications cannot be read, so nothing with a secret is saved or sent."}
	KindLoading = Kind{"loading", http.StatusServiceUnavailable, "fleetd has not read its robots yet",
		"After its start fleetd answers this until it has read the robots from the database, usually for less than a second. Stops of all " +
			"robots, by name and by label work. Try again after the seconds of Retry-After."}
	KindOutcome = Kind{"outcome-unknown", http.StatusServiceUnavailable, "It is unknown whether the change was made",
		"The database stopped answering during the commit. Check whether the change was made before you repeat the request."}
	KindBroker = Kind{"broker-unavailable", http.StatusServiceUnavailable, "No connection to the robots",
		"fleetd is not connected to the MQTT broker and cannot reach robots. Stop robots at the robots themselves."}
	KindNoAnswer = Kind{"no-answer", http.StatusGatewayTimeout, "The robot does not answer",
		"The robot is not connected, or did not answer the question in time."}
	KindEnding = Kind{"shutting-down", http.StatusServiceUnavailable, "fleetd is shutting down",
		"The request was abandoned because fleetd is shutting down. Robots continue. Check whether the change was made before you repeat " +
			"the request."}
	KindNoKeys = Kind{"no-certificates", http.StatusNotImplemented, "This instance issues no certificates",
		"It was started without the fleet's keys (--ca), or without an address for enrolment (--enrol)."}
	KindToken     = Kind{"token-unknown", http.StatusForbidden, "Unknown enrolment token", "This fleet has not issued the token."}
	KindTokenUsed = Kind{"token-used", http.StatusForbidden, "The enrolment token was used",
		"A token enrols one robot, once. Until it expires, a request with the same key gets the same answer again, unless that certificate " +
			"was revoked."}
	KindTokenExpired = Kind{"token-expired", http.StatusForbidden, "The enrolment token has expired",
		"A token is valid for a day unless it was made with another duration, and until a newer one is made for its robot."}
	KindWrongBody = Kind{"wrong-body", http.StatusForbidden, "The enrolment token is for another body",
		"The token is bound to a serial number, and the robot has another one, or none."}
	KindRequest = Kind{"certificate-request-refused", http.StatusUnprocessableEntity, "The request for a certificate is refused",
		"The certificate signing request is not acceptable; errors says why: weak_key, wrong_subject, csr_not_proven, csr_unreadable."}
	KindCertificate = Kind{"certificate-refused", http.StatusForbidden, "The certificate is not accepted",
		"The robot presented no certificate of this fleet, or one that has expired or was revoked. Enrol it again with a new token."}
	KindTooOften = Kind{"too-often", http.StatusTooManyRequests, "Too many wrong tokens or passwords",
		"This address sent wrong tokens or passwords repeatedly and has to wait."}
	KindInUse = Kind{"in-use", http.StatusConflict, "It is in use",
		"Published stories or activities need what the request would delete; detail names them."}
	KindState = Kind{"wrong-state", http.StatusConflict, "It is not possible now",
		"The request does not fit the state of the rollout; detail names the state, and hint what is possible."}
	KindOnline = Kind{"robot-online", http.StatusConflict, "The robot is online",
		"The request would disconnect a robot that is or may be online, or delete documents that it would publish again."}
	KindInternal = Kind{"internal", http.StatusInternalServerError, "Internal error",
		"This is a defect of fleetd, not of the request. Its log has details."}
)

// Kinds lists every kind of problem.
func Kinds() []Kind {
	return []Kind{
		KindMalformed, KindInvalid, KindNotFound, KindConflict, KindCount, KindConfirm, KindUnpublished, KindPreconditionFailed,
		KindPreconditionRequired,
		KindTooLarge, KindMedia, KindNotAllowed, KindSignIn, KindSlow, KindBusy, KindDatabase, KindSealKey, KindLoading, KindOverload, KindDisk,
		KindOutcome, KindBroker, KindNoAnswer, KindEnding, KindNoKeys,
		KindToken, KindTokenUsed, KindTokenExpired, KindWrongBody, KindRequest, KindCertificate, KindTooOften, KindInUse, KindState, KindOnline,
		KindInternal,
	}
}

// Problem makes a problem of this kind.
func (k Kind) Problem(detail, hint string, found ...Finding) *Problem {
	return &Problem{Type: k.Type(), Title: k.Title, Status: k.Status, Detail: detail, Hint: hint, Errors: found}
}

// Of reports whether p is of kind k.
func (p *Problem) Of(k Kind) bool { return p.Type == k.Type() }

// Error returns the problem in one line.
func (p *Problem) Error() string {
	s := p.Detail
	if s == "" {
		s = p.Title
	}
	if p.Hint != "" {
		s += "; " + p.Hint
	}
	return s
}

// GetStatus returns the HTTP status for huma, which writes the answer.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders returns the headers for huma, which writes the answer.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	return h
}

// ContentType returns the media type for huma, which writes the answer.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// withCount adds how many robots the request would affect.
func (p *Problem) withCount(n int) *Problem {
	p.Count = &n
	return p
}

// inDocument turns findings about an act or story into the errors of an answer.
func inDocument(found []schema.Problem) []Finding { return findings("", found) }

// inBody turns findings about a request's body into the errors of an answer.
func inBody(below string, found []schema.Problem) []Finding {
	out := findings("body", found)
	for i := range out {
		out[i].Pointer = below + out[i].Pointer
	}
	return out
}

func findings(in string, found []schema.Problem) []Finding {
	out := make([]Finding, len(found))
	for i, p := range found {
		out[i] = Finding{In: in, Problem: p}
	}
	return out
}

// asProblem turns an error that huma found into a Problem.
func asProblem(_ huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	kind := KindInternal
	if i := slices.IndexFunc(Kinds(), func(k Kind) bool { return k.Status == m.Status }); i >= 0 {
		kind = Kinds()[i]
	}
	p := kind.Problem(m.Detail, "")
	p.Status = m.Status
	for _, e := range m.Errors {
		if text, ok := e.Value.(string); ok && e.Location == "body" && kind.Status == http.StatusBadRequest {
			// huma keeps only the text of strictJSON's error, so decode again to get the pointer.
			var body any
			p.Errors = append(p.Errors, inBody("", schema.DecodeStrictInto([]byte(text), &body, maxDepth))...)
			continue
		}
		in, rest, _ := strings.Cut(e.Location, ".")
		f := Finding{In: in, Problem: schema.NewProblem(pointerOf(rest), "bad_value", e.Message, "")}
		if kind.Status == http.StatusBadRequest {
			f.Code = "syntax"
		}
		p.Errors = append(p.Errors, f)
	}
	if len(p.Errors) == 1 {
		p.Detail, p.Hint = p.Errors[0].Detail, p.Errors[0].Hint
		if at := p.Errors[0].Pointer; at != "" {
			p.Detail = fmt.Sprintf("%s %s: %s", p.Errors[0].In, at, p.Detail)
		}
	}
	return p, nil
}

// pointerOf turns a path such as labels[0].key into /labels/0/key.
func pointerOf(path string) string {
	if path == "" {
		return ""
	}
	return "/" + strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(path)
}
