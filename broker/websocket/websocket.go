// Package websocket carries MQTT over WebSocket as a net.Conn: subprotocol mqtt, binary
// messages whose boundaries have no meaning.
//
// It only opens and accepts connections; deadlines, limits and authentication are up to
// its users.
package websocket

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	subprotocol = "mqtt"
	maxRequest  = 8 << 10 // bytes of the HTTP upgrade request
	maxMessage  = 2 << 20 // bytes; more than any MQTT packet
	bufferSize  = 4 << 10 // bytes, each way
)

// Path is the URL path at which MQTT is served.
const Path = "/mqtt"

// Accept reads the upgrade request on a new connection and upgrades it. A refusal is
// answered in HTTP before it is returned.
//
// A request with an Origin comes from a page in a browser and is accepted only if origins
// contains it: the browser lets any page connect to any host, including this machine, on
// behalf of its user.
func Accept(c net.Conn, origins []string) (net.Conn, error) {
	in := bufio.NewReaderSize(&io.LimitedReader{R: c, N: maxRequest}, bufferSize)
	r, err := http.ReadRequest(in)
	if err != nil {
		return nil, fmt.Errorf("read WebSocket upgrade request: %w", err)
	}
	w := &responseWriter{conn: c, in: in, header: http.Header{}}
	up := websocket.Upgrader{
		ReadBufferSize: bufferSize, WriteBufferSize: bufferSize, Subprotocols: []string{subprotocol},
		CheckOrigin: func(r *http.Request) bool { return originAllowed(r.Header["Origin"], origins) },
	}
	switch {
	case r.URL.Path != Path && r.URL.Path != "/":
		http.Error(w, "MQTT is served at "+Path, http.StatusNotFound)
		err = fmt.Errorf("request for path %.100q", r.URL.Path)
	case websocket.IsWebSocketUpgrade(r) && !slices.Contains(websocket.Subprotocols(r), subprotocol):
		http.Error(w, "only the subprotocol mqtt is supported", http.StatusBadRequest)
		err = errors.New("client does not offer the subprotocol mqtt")
	default:
		var ws *websocket.Conn
		if ws, err = up.Upgrade(w, r, nil); err == nil {
			return newStream(ws), nil
		}
	}
	return nil, errors.Join(fmt.Errorf("upgrade to WebSocket: %w", err), w.send(r))
}

func originAllowed(origin, origins []string) bool {
	return len(origin) == 0 || len(origin) == 1 && slices.ContainsFunc(origins, func(o string) bool { return strings.EqualFold(o, origin[0]) })
}

// Dial opens a ws or wss URL over a connection that dial makes.
func Dial(ctx context.Context, url string, dial func(ctx context.Context, network, addr string) (net.Conn, error),
	config *tls.Config) (net.Conn, error) {
	d := websocket.Dialer{
		NetDialContext: dial, TLSClientConfig: config, Subprotocols: []string{subprotocol},
		ReadBufferSize: bufferSize, WriteBufferSize: bufferSize,
	}
	ws, resp, err := d.DialContext(ctx, url, nil)
	switch {
	case err != nil && resp != nil:
		return nil, fmt.Errorf("upgrade to WebSocket: status %s: %w", resp.Status, err)
	case err != nil:
		return nil, err
	case ws.Subprotocol() != subprotocol:
		ws.Close()
		return nil, errors.New("upgrade to WebSocket: server did not accept the subprotocol mqtt")
	}
	return newStream(ws), nil
}

// stream is a WebSocket connection as a net.Conn.
type stream struct {
	*websocket.Conn
	message io.Reader // being read, or nil
	writeMu sync.Mutex
}

func newStream(ws *websocket.Conn) *stream {
	ws.SetReadLimit(maxMessage)
	return &stream{Conn: ws}
}

func (s *stream) Read(b []byte) (int, error) {
	for {
		if s.message == nil {
			kind, r, err := s.NextReader()
			var end *websocket.CloseError
			switch {
			case errors.As(err, &end):
				return 0, io.EOF
			case err != nil:
				return 0, err
			case kind != websocket.BinaryMessage:
				return 0, errors.New("text message received: MQTT needs binary messages")
			}
			s.message = r
		}
		n, err := s.message.Read(b)
		if errors.Is(err, io.EOF) {
			s.message, err = nil, nil
		}
		if n > 0 || err != nil || len(b) == 0 {
			return n, err
		}
	}
}

func (s *stream) Write(b []byte) (int, error) {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if err := s.WriteMessage(websocket.BinaryMessage, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (s *stream) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

// responseWriter is the http.ResponseWriter of the upgrade request. It hands over the connection,
// or collects the refusal.
type responseWriter struct {
	conn   net.Conn
	in     *bufio.Reader
	header http.Header
	status int
	body   strings.Builder
}

func (a *responseWriter) Header() http.Header         { return a.header }
func (a *responseWriter) WriteHeader(status int)      { a.status = status }
func (a *responseWriter) Write(b []byte) (int, error) { return a.body.Write(b) }

func (a *responseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return a.conn, bufio.NewReadWriter(a.in, bufio.NewWriterSize(a.conn, bufferSize)), nil
}

// send writes the refusal, if there is one.
func (a *responseWriter) send(r *http.Request) error {
	if a.status == 0 {
		return nil
	}
	resp := http.Response{
		StatusCode: a.status, ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: a.header, Close: true,
		Body: io.NopCloser(strings.NewReader(a.body.String())), ContentLength: int64(a.body.Len()),
	}
	return resp.Write(a.conn)
}
