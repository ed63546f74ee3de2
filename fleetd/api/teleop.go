package api

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/gorilla/websocket"

	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/fleetd/teleop"
)

// deviceWriteTimeout bounds writing to a person's device.
const deviceWriteTimeout = 2 * time.Second

func (s *server) teleop(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "drive", Method: http.MethodGet, Path: "/robots/{id}/teleop", Tag: "robots", Right: auth.Manual,
		Summary: "Drive a robot (WebSocket)",
		Description: "For the person who has control of the robot (control/acquire). The device sends a frame, as JSON text, 10 to " +
			"20 times a second, also while the stick is at rest:" +
			` {"lease", "seq", "t", "vx", "wz", "latency_ms"}: the id of the lease, a number that rises, the device's ` +
			`time in milliseconds, m/s forwards, rad/s to the left, and the latency that it measured.` +
			` It receives {"type"}: limits {"mps", "radps"} at the beginning; echo {"seq", "t", "robot_ms"} of each ` +
			`frame, from which it measures the latency; robot {"mono_ms", "figures"} ten times a second;` +
			` refused {"cause", "detail"}, at most once a second, while the robot does not follow the frames, such as in ` +
			`another mode than mnl;` +
			` stopped {"cause", "detail"} when fleetd stopped the robot, after which the stick must be released before ` +
			`it counts; ended {"cause", "detail"} at the end.` +
			" Without a frame for 250 ms fleetd stops the robot, and without one for 2 s it gives control back. A " +
			"latency above 800 ms stops the robot." +
			" A device whose connection broke has these 2 s to connect again with the same lease.",
		Example: "drive r1",
		More: func(o *huma.Operation) {
			o.Responses = map[string]*huma.Response{"101": {Description: "the connection is a WebSocket now"}}
		},
	}, func(_ context.Context, in *PathID) (*huma.StreamResponse, error) {
		d, err := s.robot(in.ID)
		if err != nil {
			return nil, err
		}
		if !in.principal.Sees(d.Labels) {
			return nil, robotNotFound(in.ID)
		}
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			r, w := humago.Unwrap(ctx)
			s.serveTeleop(w, r, in.ID, in.principal)
		}}, nil
	})
}

// serveTeleop serves one connection until it ends.
func (s *server) serveTeleop(w http.ResponseWriter, r *http.Request, robot string, p auth.Principal) {
	ws := upgrade(w, r, s.Log)
	if ws == nil {
		return
	}
	ws.SetReadLimit(teleop.MaxFrame)
	conn := &device{ws, s.Now}
	session, err := s.Teleop.Begin(robot, teleop.Person{
		Principal: p,
		Owns:      func(by string) bool { return p.Kind == auth.KindDev || by == p.ID },
		Forbidden: func() string { return s.forbiddenNow(r.Context(), p, auth.Manual, robot) },
	})
	if err != nil { // a page cannot read the answer to a request that is not upgraded
		_ = conn.Write(teleop.Message{Type: teleop.TypeEnded, Cause: teleop.Refused, Detail: err.Error()})
		conn.Close()
		return
	}
	session.Run(conn)
}

// upgrade makes the connection of a request from fleetd's own page, or from a program, a WebSocket. It returns nil
// after it has refused the request.
func upgrade(w http.ResponseWriter, r *http.Request, log *slog.Logger) *websocket.Conn {
	if !sameSite(r) {
		Write(w, KindNotAllowed.Problem("the request was made by a page of another site",
			"use fleetd's own page, the command line or the API directly"))
		return nil
	}
	if !websocket.IsWebSocketUpgrade(r) {
		Write(w, KindInvalid.Problem("this is a WebSocket: the request does not ask for an upgrade", "use a WebSocket client"))
		return nil
	}
	up := websocket.Upgrader{CheckOrigin: sameSite, ReadBufferSize: 1 << 10, WriteBufferSize: 1 << 10}
	ws, err := up.Upgrade(hijacker{w}, r, nil)
	if err != nil {
		log.Warn("upgrade to WebSocket failed", "path", r.URL.Path, "error", err) // Upgrade has answered
		return nil
	}
	return ws
}

// forbiddenNow returns why the principal of a long request about a robot has lost a right or the
// robot's site, or is not who it was; empty = none of these.
func (s *server) forbiddenNow(ctx context.Context, p auth.Principal, right auth.Rights, robot string) string {
	now, err := auth.Reauthenticate(ctx)
	switch {
	case err != nil:
		return err.Error()
	case now.ID != p.ID:
		return p.ID + " is signed out"
	case !now.May(right):
		return p.ID + " does not have the right to " + right.String() + " any more"
	}
	if no := s.outside(now, robot); no != nil {
		return no.Detail
	}
	return ""
}

// sameSite applies the rule for requests that change something: a WebSocket begins with a GET,
// which the rule lets pass.
func sameSite(r *http.Request) bool {
	as := r.Clone(r.Context())
	as.Method = http.MethodPost
	return http.NewCrossOriginProtection().Check(as) == nil
}

// hijacker finds the connection below the wrappers of middleware.
type hijacker struct{ http.ResponseWriter }

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(h.ResponseWriter).Hijack()
}

// device is the connection to a person's device.
type device struct {
	*websocket.Conn
	now func() time.Time
}

// Read reads one message.
func (d *device) Read() ([]byte, error) {
	_, text, err := d.ReadMessage()
	return text, err
}

// Write writes one message.
func (d *device) Write(m teleop.Message) error {
	if err := d.SetWriteDeadline(d.now().Add(deviceWriteTimeout)); err != nil {
		return err
	}
	if m.Type == teleop.TypeEnded {
		return errors.Join(d.WriteJSON(m), d.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure,
			string(m.Cause))))
	}
	return d.WriteJSON(m)
}

// Close closes the connection.
func (d *device) Close() { _ = d.Conn.Close() }
