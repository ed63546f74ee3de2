package fleet

import (
	"cmp"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"troupe/schema/logs"
)

// requestIDHeader names a request in the logs of whoever makes, forwards and serves it.
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
		f.log.DebugContext(r.Context(), "request served", "method", r.Method, "path", r.URL.Path, "status", status, "took", took, "remote", r.RemoteAddr)
		if r.Header.Get("Upgrade") == "" && !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") { // these are open as long as somebody looks
			f.metrics.RequestServed(r.Method, status, took)
		}
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
