package api

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"time"

	"troupe/fleetd/auth"
)

// StopSocketPath is the path at which a page sends a stop over a WebSocket. A browser keeps a request back while its
// pages have six open to a host without TLS, as the streams of six windows are; a WebSocket does not count among them.
const StopSocketPath = StopPath + "/socket"

// maxStopSockets bounds the sockets that wait for their message.
const maxStopSockets = 64

// StopSocketAnswer is the only message that fleetd sends on the socket: the answer of POST /stops.
type StopSocketAnswer struct {
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"` // a Batch or a Problem
}

// ServeStopSocket adds the WebSocket to mux. Its only message is the body of POST /stops. whole is the handler of the
// address and serves it as that request, so that it passes the same checks and reaches the audit.
func ServeStopSocket(mux *http.ServeMux, whole http.Handler, now func() time.Time, log *slog.Logger) {
	open := make(chan struct{}, maxStopSockets)
	mux.HandleFunc("GET "+StopSocketPath, func(w http.ResponseWriter, r *http.Request) {
		if p := forbidden(auth.Of(r.Context()), auth.Stop, "Stop robots"); p != nil {
			refuse(w, p)
			return
		}
		select {
		case open <- struct{}{}:
			defer func() { <-open }()
		default:
			Write(w, KindOverload.Problem("too many stops are being sent", "send it as POST "+StopPath+", or use fleetd stop"))
			return
		}
		ws := upgrade(w, r, log)
		if ws == nil {
			return
		}
		defer ws.Close()
		ws.SetReadLimit(mostHead)
		_ = ws.SetReadDeadline(now().Add(stopBodyTimeout)) // a read error says more
		_, body, err := ws.ReadMessage()
		if err != nil {
			return // nothing was sent: the page still has its stop, and says so
		}
		answer := recorded{header: http.Header{}, status: http.StatusOK}
		whole.ServeHTTP(&answer, stopOf(r, body))
		_ = ws.SetWriteDeadline(now().Add(deviceWriteTimeout)) // a write error says more
		if err := ws.WriteJSON(StopSocketAnswer{answer.status, answer.body.Bytes()}); err != nil {
			log.Warn("answer to a stop not sent", "status", answer.status, "error", err)
		}
	})
}

// stopOf makes the request for a stop that a message means.
func stopOf(upgrade *http.Request, body []byte) *http.Request {
	r := upgrade.Clone(upgrade.Context())
	if key := r.URL.Query().Get("key"); key != "" {
		r.Header.Set("Idempotency-Key", key) // a page cannot set headers of a WebSocket
	}
	r.Method, r.URL.Path, r.URL.RawPath, r.URL.RawQuery = http.MethodPost, StopPath, "", ""
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	for _, name := range []string{"Connection", "Upgrade", "Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Extensions",
		"Sec-Websocket-Protocol"} {
		r.Header.Del(name)
	}
	r.Header.Set("Content-Type", "application/json")
	return r
}

// recorded is an answer that is kept.
type recorded struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *recorded) Header() http.Header         { return a.header }
func (a *recorded) WriteHeader(status int)      { a.status = status }
func (a *recorded) Write(p []byte) (int, error) { return a.body.Write(p) }
