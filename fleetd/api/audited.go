package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
)

// Audited is middleware around Guard: each request that may change something leaves an entry
// in the audit. Those that succeed write it in the transaction of their change; Audited adds
// an entry for those that are refused or fail, and for those that did not write one. A
// request that only reads leaves one if the principal lacks the right to, or nobody is signed in. It
// leaves none if it is refused for another reason, such as a token that is not valid or a robot of
// another site. add does not block.
func Audited(next http.Handler, operations []operation.Operation, add func(audit.Note)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, mark := audit.WithMark(r.Context())
		a := &audited{operation: func() operation.Row { return operationOf(operations, r) }}
		r = r.WithContext(context.WithValue(ctx, requestKey{}, a))
		a.principal.From = auth.OriginOf(r, auth.Principal{}) // until it is authenticated
		if !changes(r.Method) || a.operation().ReadOnly {
			next.ServeHTTP(w, r)
			if a.forbidden != nil {
				a.read(r, nil)
				add(a.note(r, a.forbidden.Status, a.forbidden.Detail))
			}
			return
		}
		body := &head{ReadCloser: r.Body}
		r.Body = body
		answer := &answerHead{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(answer, r)
		if answer.status >= 400 {
			body.fill(r)
		}
		a.read(r, body.bytes)
		switch {
		case answer.status >= 400:
			add(a.note(r, answer.status, answer.problem()))
		case !mark.IsSet():
			add(a.note(r, answer.status, a.said.Why))
		}
	})
}

func changes(method string) bool {
	return !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, method)
}

// audited is what the audit says of a request besides its result.
type audited struct {
	principal auth.Principal // set by authenticate
	operation func() operation.Row
	userKnown bool     // the user who wants to sign in exists; people type passwords in the place of names
	forbidden *Problem // the principal lacks the right to a request; set by permit
	said      struct {
		By       string          `json:"by"`
		Why      string          `json:"why"`
		Note     string          `json:"note"` // of who acknowledges an alert
		Verb     string          `json:"verb"`
		Selector json.RawMessage `json:"selector"`
		User     string          `json:"user"` // who wants to sign in
		Name     string          `json:"name"`
		IDs      []string        `json:"ids"`
	}
}

type requestKey struct{}

// requestOf returns what the audit says of the request of a context; nil outside of Audited.
func requestOf(ctx context.Context) *audited {
	a, _ := ctx.Value(requestKey{}).(*audited)
	return a
}

// read reads who made a request and why, as far as the beginning of its body says.
func (a *audited) read(r *http.Request, body []byte) {
	_ = json.Unmarshal(wholeFields(body), &a.said) // not every body has these fields
	q := r.URL.Query()
	a.said.By, a.said.Why = orElse(a.said.By, q.Get("by")), orElse(orElse(a.said.Why, a.said.Note), q.Get("why"))
}

// wholeFields returns the object whose text begins like this, with the fields that are whole in it:
// Unmarshal reads nothing of a text that is cut off. Of what is no object it returns an empty one.
func wholeFields(beginning []byte) []byte {
	fields := map[string]json.RawMessage{}
	in := json.NewDecoder(bytes.NewReader(beginning))
	if first, err := in.Token(); err == nil && first == json.Delim('{') {
		for in.More() {
			name, _ := in.Token()
			key, ok := name.(string)
			var value json.RawMessage
			if !ok || in.Decode(&value) != nil {
				break
			}
			fields[key] = value
		}
	}
	out, _ := json.Marshal(fields) // cannot fail: what was decoded is JSON
	return out
}

func (a *audited) note(r *http.Request, status int, why string) audit.Note {
	o := a.operation()
	n := audit.Note{
		Source: a.principal.Source(), Who: audit.Text(actingName(a.principal, a.said.By), 64), What: o.Audited(), Target: targetOf(o, r.URL.Path),
		Why: audit.Text(why, 512), Outcome: audit.Done,
	}
	if o.ID == "" {
		n.What, n.Target = audit.Action(r.Method), audit.Text(r.URL.Path, 256)
	}
	if a.said.Verb != "" {
		n.What += audit.Action(" " + audit.Text(a.said.Verb, 64))
	}
	switch {
	case o.ID == "sign-in" && !a.userKnown:
		n.Target = "user who does not exist"
	case a.said.User != "":
		n.Target = "user " + audit.Text(a.said.User, 64)
	}
	if n.Target == "" {
		n.Target = audit.Text(a.target(r.URL.Path), 256)
	}
	switch {
	case status >= 500:
		n.Outcome = audit.Failed
	case status >= 400:
		n.Outcome = audit.Refused
	}
	if status >= 400 {
		n.Detail = fmt.Sprintf("answered %d", status)
		if a.said.Why != "" {
			n.Detail += "; the reason given was: " + audit.Text(a.said.Why, 256)
		}
	}
	return n
}

// target is what a request wants to change whose path names nothing.
func (a *audited) target(path string) string {
	collection, _, _ := strings.Cut(strings.TrimPrefix(path, Prefix+"/"), "/")
	switch {
	case len(a.said.Selector) > 0:
		return string(a.said.Selector)
	case collection == "me":
		return "user " + a.principal.ID
	case collection == "users" || collection == "tokens":
		return strings.TrimSuffix(collection, "s") + " " + a.said.Name
	case len(a.said.IDs) > 0:
		return strings.TrimSuffix(collection, "s") + " " + strings.Join(a.said.IDs, ", ")
	}
	return collection
}

// head keeps the beginning of what is read.
type head struct {
	io.ReadCloser
	bytes []byte
}

// mostHead bounds what is kept of a body.
const mostHead = 8 << 10

func (h *head) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if room := mostHead - len(h.bytes); room > 0 {
		h.bytes = append(h.bytes, p[:min(n, room)]...)
	}
	return n, err
}

// fill reads a short body that the handler did not read: who it names matters most where it
// is refused.
func (h *head) fill(r *http.Request) {
	if n := r.ContentLength; len(h.bytes) == 0 && n > 0 && n <= mostHead && r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, h, n) // of a body that ends early, what arrived is used
	}
}

// answerHead keeps the status of an answer, and the beginning of a problem.
type answerHead struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (a *answerHead) WriteHeader(status int) {
	if status >= 200 { // others come before the answer
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answerHead) Write(p []byte) (int, error) {
	if a.status >= 400 && a.body.Len() < mostHead {
		a.body.Write(p[:min(len(p), mostHead-a.body.Len())])
	}
	return a.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (a *answerHead) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// problem is what the answer says is wrong.
func (a *answerHead) problem() string {
	var p Problem
	if json.Unmarshal(a.body.Bytes(), &p) != nil {
		return http.StatusText(a.status)
	}
	return orElse(p.Detail, p.Title)
}

// operationOf finds the operation of a request; the zero value if there is none.
func operationOf(all []operation.Operation, r *http.Request) (found operation.Row) {
	for _, o := range all {
		if o.Method == r.Method && matches(o.Route(), r.URL.Path) &&
			(found.ID == "" || strings.Count(o.Path, "{") < strings.Count(found.Path, "{")) {
			found = o.Row
		}
	}
	return found
}

func matches(pattern, path string) bool {
	p, q := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		if p[i] != q[i] && (!strings.HasPrefix(p[i], "{") || q[i] == "") {
			return false
		}
	}
	return true
}

// nouns are the resources of paths, as the audit names them.
var nouns = map[string]string{"robots": "robot", "stories": "story", "activities": "activity", "orphans": "documents of robot"}

// targetOf names what an operation on a path is done to: the resource that its first parameter
// names.
func targetOf(o operation.Row, path string) string {
	p, q := strings.Split(o.Route(), "/"), strings.Split(path, "/")
	for i := 1; i < min(len(p), len(q)); i++ {
		if p[i] == "{key}" { // it is a secret
			return p[i-1]
		}
		if strings.HasPrefix(p[i], "{") {
			return audit.Text(orElse(nouns[p[i-1]], strings.TrimSuffix(p[i-1], "s"))+" "+q[i], 256)
		}
	}
	return ""
}
