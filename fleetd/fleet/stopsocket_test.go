package fleet_test

import (
	"encoding/json"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"troupe/fleetd/api"
)

// stopSocket opens the WebSocket for a stop, or returns the answer that refuses it.
func (w *world) stopSocket(header http.Header) (*websocket.Conn, *http.Response) {
	w.Helper()
	d := websocket.Dialer{NetDial: func(string, string) (net.Conn, error) { return w.dialAddress() }}
	c, answer, err := d.Dial("ws://localhost"+api.StopSocketPath, header)
	if err != nil {
		return nil, answer
	}
	w.Cleanup(func() { c.Close() })
	return c, nil
}

func TestStopOverAWebSocketIsTheSameStop(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		send := func(body string) (a api.StopSocketAnswer) {
			c, refused := w.stopSocket(nil)
			if c == nil {
				w.Fatalf("the socket is refused: %v", refused)
			}
			if err := c.WriteMessage(websocket.TextMessage, []byte(body)); err != nil {
				w.Fatal(err)
			}
			if err := c.ReadJSON(&a); err != nil {
				w.Fatal(err)
			}
			return a
		}
		a := send(`{"selector":{"ids":["r1"]},"by":"ann"}`)
		var b api.Batch
		if err := json.Unmarshal(a.Body, &b); err != nil || a.Status != 202 || b.Latch == "" {
			w.Errorf("a stop is answered %d %s, %v", a.Status, a.Body, err)
		}
		w.until("the robot receives the stop", func() bool { return count(r.Received(), "safety/stop") == 1 })
		var p api.Problem
		if a := send(`{"selector":{}}`); a.Status != 422 || json.Unmarshal(a.Body, &p) != nil || !p.Of(api.KindInvalid) {
			w.Errorf("a stop of nobody is answered %d %s", a.Status, a.Body)
		}
		if _, refused := w.stopSocket(http.Header{"Origin": {"http://elsewhere.example"}}); refused == nil || refused.StatusCode != 403 {
			w.Errorf("a page of another site is answered %v", refused)
		}
		silent, _ := w.stopSocket(nil)
		began := time.Now()
		if _, _, err := silent.ReadMessage(); err == nil || time.Since(began) > 15*time.Second {
			w.Errorf("a socket without a message ends after %v: %v", time.Since(began), err)
		}
	}, withAddress)
}
