package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"troupe/schema"
)

// Problem is how every refusal and every fault is told (RFC 9457).
type Problem struct {
	Type   string    `json:"type" doc:"names the kind of problem; stable; leads to its explanation"`
	Title  string    `json:"title"`
	Status int       `json:"status"`
	Detail string    `json:"detail" doc:"what is wrong this time"`
	Hint   string    `json:"hint,omitempty" doc:"the way out"`
	Errors []Finding `json:"errors,omitempty"`

	// What a person must have seen before the request is taken.
	Count   *int   `json:"count,omitempty" doc:"how many it would hit now"`
	Confirm string `json:"confirm,omitempty" doc:"the name to be given as confirmation"`
}

// Finding is one thing that is wrong in a request or a document.
type Finding struct {
	In string `json:"in,omitempty" doc:"body, query, path or header; empty = the document"`
	schema.Problem
}

// Kind is one type of problem.
type Kind struct {
	Name    string
	Status  int
	Title   string
	Meaning string
}

// Type is the URI by which answers name k; fleetd serves its meaning there.
func (k Kind) Type() string { return TypePrefix + k.Name }

// TypePrefix is what the types of all problems begin with.
const TypePrefix = "/problems/"

// The kinds of problems, all of them.
var (
	KindMalformed   = Kind{"malformed", http.StatusBadRequest, "The request cannot be read", "The request is not well-formed: it could not be read far enough to judge it."}
	KindInvalid     = Kind{"invalid", http.StatusUnprocessableEntity, "The request is not valid", "The request was read, and something in it is wrong; errors says what, where and the way out."}
	KindNotFound    = Kind{"not-found", http.StatusNotFound, "There is nothing of this name", "What the request names does not exist."}
	KindConflict    = Kind{"conflict", http.StatusConflict, "Somebody else changed it", "It is no longer as the request took it to be. Look again, then decide again."}
	KindCount       = Kind{"count-changed", http.StatusConflict, "It would hit another number", "expected_count is not the number that the request would hit now. Ask with dry_run, look, and send the number that it tells."}
	KindConfirm     = Kind{"needs-confirmation", http.StatusConflict, "This needs a confirmation", "The request takes something away. Send the count, and where one is asked for the name, that a dry run tells."}
	KindUnpublished = Kind{"not-published", http.StatusConflict, "There is no published revision", "Only published stories can be given to robots. Publish it first."}
	KindStale       = Kind{"precondition-failed", http.StatusPreconditionFailed, "It is no longer the one you saw", "If-Match names another state than the stored one. Get it again, then decide again."}
	KindTooLarge    = Kind{"too-large", http.StatusRequestEntityTooLarge, "The request is too large", "A request has at most 1 MiB, an act or story at most 64 KiB, a file that is put as an asset at most 16 MiB."}
	KindMedia       = Kind{"unsupported-media-type", http.StatusUnsupportedMediaType, "The body is of an unknown type", "Bodies are JSON; acts and stories may be YAML too."}
	KindNotAllowed  = Kind{"not-allowed", http.StatusForbidden, "This is not allowed", "The request came from another site's page, or asks for what nobody may ask for here."}
	KindSlow        = Kind{"too-slow", http.StatusRequestTimeout, "The request came too slowly", "The body did not arrive in time."}
	KindBusy        = Kind{"busy", http.StatusServiceUnavailable, "Too much at once", "Many requests change the same thing at once; this one changed nothing. Try again."}
	KindDatabase    = Kind{"database-unavailable", http.StatusServiceUnavailable, "The database does not answer", "Robots go on, and stops work. What needs the fleet's memory has to wait until the database answers."}
	KindOverload    = Kind{"overloaded", http.StatusServiceUnavailable, "Too many requests at once", "Fleetd serves a bounded number of requests at once. This one was not looked at. Stops have places of their own."}
	KindDisk        = Kind{"disk-unwritable", http.StatusServiceUnavailable, "Fleetd cannot write to its disk", "Stops go out and robots hold them. What the database has not taken yet is lost if fleetd ends. Make room on the disk."}
	KindOutcome     = Kind{"outcome-unknown", http.StatusServiceUnavailable, "It is not known whether it was done", "The database stopped answering after it was asked to commit the change, and before it said that it had. Look whether it was done before you ask again."}
	KindBroker      = Kind{"broker-unavailable", http.StatusServiceUnavailable, "No connection to the robots", "fleetd has lost the MQTT broker: nothing reaches a robot from here. Stop robots at the robot itself."}
	KindEnding      = Kind{"shutting-down", http.StatusServiceUnavailable, "fleetd is shutting down", "The request was given up because fleetd ends. Robots go on. Look whether it was done before you ask again."}
	KindNoKeys      = Kind{"no-certificates", http.StatusNotImplemented, "This instance issues no certificates", "It was started without the fleet's keys, or without an address at which robots may ask."}
	KindToken       = Kind{"token-unknown", http.StatusForbidden, "There is no such enrolment token", "The token that the robot shows is not one of this instance, or is for another robot."}
	KindTokenUsed   = Kind{"token-used", http.StatusForbidden, "The enrolment token was used", "A token makes one robot, once. Only the key that it was used for is answered again, as long as the token lasts."}
	KindTokenOld    = Kind{"token-expired", http.StatusForbidden, "The enrolment token has ended", "A token lasts a day unless it was made to last otherwise, and until a newer one is made for its robot."}
	KindWrongBody   = Kind{"wrong-body", http.StatusForbidden, "The enrolment token is for another body", "The token is bound to a serial number, and the robot says another one, or none."}
	KindRequest     = Kind{"certificate-request-refused", http.StatusUnprocessableEntity, "The request for a certificate is refused", "The request was read, and must not be granted; errors says why: weak_key, wrong_subject, csr_not_proven, csr_unreadable."}
	KindCertificate = Kind{"certificate-refused", http.StatusForbidden, "The certificate is not taken", "The robot shows no certificate of this fleet, or one that has ended or was revoked. A new token is the way back."}
	KindTooOften    = Kind{"too-often", http.StatusTooManyRequests, "Too many wrong tokens", "Somebody at this address shows wrong tokens again and again, and has to wait."}
	KindInUse       = Kind{"in-use", http.StatusConflict, "It is still used", "Published stories need what the request would take away; detail names them."}
	KindOnline      = Kind{"robot-online", http.StatusConflict, "The robot is there", "What was asked for would cut off a robot that is connected, or have it write again what is emptied."}
	KindInternal    = Kind{"internal", http.StatusInternalServerError, "A fault of fleetd", "This is a defect of the program, not of the request. Its log has more."}
)

// Kinds lists every kind of problem, for documents and for tests.
func Kinds() []Kind {
	return []Kind{
		KindMalformed, KindInvalid, KindNotFound, KindConflict, KindCount, KindConfirm, KindUnpublished, KindStale,
		KindTooLarge, KindMedia, KindNotAllowed, KindSlow, KindBusy, KindDatabase, KindOverload, KindDisk, KindOutcome, KindBroker, KindEnding, KindNoKeys,
		KindToken, KindTokenUsed, KindTokenOld, KindWrongBody, KindRequest, KindCertificate, KindTooOften, KindInUse, KindOnline, KindInternal,
	}
}

// Problem makes a problem of this kind.
func (k Kind) Problem(detail, hint string, found ...Finding) *Problem {
	return &Problem{Type: k.Type(), Title: k.Title, Status: k.Status, Detail: detail, Hint: hint, Errors: found}
}

// Of reports whether p is of kind k.
func (p *Problem) Of(k Kind) bool { return p.Type == k.Type() }

// Error is the problem in one line.
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

// GetStatus is the HTTP status, for the library that writes the answer.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is what the answer is sent as.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// withCount adds how many a request would hit.
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

// asProblem turns what the library found by itself into a problem of ours.
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
			// The library keeps of what the reader says only a sentence: asked again, it names the place.
			var body any
			p.Errors = append(p.Errors, inBody("", schema.DecodeStrictInto([]byte(text), &body, maxDepth))...)
			continue
		}
		in, rest, _ := strings.Cut(e.Location, ".")
		f := Finding{In: in, Problem: schema.Fault(pointerOf(rest), "bad_value", e.Message, "")}
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
