package fleet

import (
	"cmp"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"troupe/fleetd/auth"
	"troupe/fleetd/metrics"
	"troupe/fleetd/trace"
	"troupe/schema/logs"
)

// requestIDHeader names a request in the logs of the client, the proxy and fleetd.
const requestIDHeader = "X-Request-Id"

// maxRequestID is how long an id may be that a client or a proxy has chosen.
const maxRequestID = 64

// observed gives each request an id, which the answer and the lines of the log have, and measures the request.
func (f *Fleet) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, answer := time.Now(), &answerStatus{ResponseWriter: w}
		id := r.Header.Get(requestIDHeader)
		if !validRequestID(id) {
			id = uuid.NewString()
		}
		w.Header().Set(requestIDHeader, id)
		r = r.WithContext(logs.With(r.Context(), slog.String("request", id)))
		next.ServeHTTP(answer, r)
		status, took := cmp.Or(answer.status, http.StatusOK), time.Since(began)
		f.log.DebugContext(r.Context(), "request served", "method", r.Method, "path", r.URL.Path, "status", status, "took", took, "remote",
			r.RemoteAddr)
		if r.Header.Get("Upgrade") == "" && !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
			// these are open as long as somebody looks
			f.metrics.RequestServed(r.Method, status, took)
		}
	})
}

// traced begins the trace of a request, or continues that of its caller. WebSockets and streams have none: they are open as long
// as somebody looks.
func (f *Fleet) traced(next http.Handler) http.Handler {
	if f.tracer == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" || strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
			next.ServeHTTP(w, r)
			return
		}
		_, pattern := f.web.mux.Handler(r)               // METHOD /route, or /route
		route := pattern[strings.Index(pattern, " ")+1:] // never the path, which may name people
		method := metrics.MethodOf(r.Method)
		r, span := f.tracer.Serve(r, method+" "+route, trace.String("http.request.method", method), trace.String("http.route", route))
		answer := &answerStatus{ResponseWriter: w}
		next.ServeHTTP(answer, r)
		status := cmp.Or(answer.status, http.StatusOK)
		span.Set(trace.Int("http.response.status_code", status), trace.String("troupe.request", w.Header().Get(requestIDHeader)))
		if status >= http.StatusInternalServerError {
			span.Fail()
		}
		span.End()
	})
}

// traceCaller adds to the span of a request with which rights it is made, and not by whom.
func traceCaller(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if span := trace.Current(r.Context()); span.Exists() {
			p := auth.Of(r.Context())
			span.Set(trace.Strings("troupe.roles", p.Roles), trace.String("troupe.signed_in_by", p.Kind))
		}
		next.ServeHTTP(w, r)
	})
}

// validRequestID reports whether an id of a client can stand in the log.
func validRequestID(id string) bool {
	return id != "" && len(id) <= maxRequestID && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:") == ""
}

// answerStatus notes the status of an answer.
type answerStatus struct {
	http.ResponseWriter
	status int
}

func (w *answerStatus) WriteHeader(status int) {
	if w.status < http.StatusOK { // others come before the answer
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap gives http.ResponseController what the server's writer can do.
func (w *answerStatus) Unwrap() http.ResponseWriter { return w.ResponseWriter }
