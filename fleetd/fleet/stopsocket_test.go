package fleet_test

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"troupe/fleetd/api"
	"troupe/fleetd/latch"
)

// stopSocket opens the WebSocket for a stop, or returns the answer that refuses it.
func (w *world) stopSocket(header http.Header, query string) (*websocket.Conn, *http.Response) {
	w.Helper()
	d := websocket.Dialer{NetDial: func(string, string) (net.Conn, error) { return w.dialAddress() }}
	c, answer, err := d.Dial("ws://localhost"+api.StopSocketPath+query, header)
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
			c, refused := w.stopSocket(nil, "")
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
		elsewhere := http.Header{"Origin": {"http://elsewhere.example"}}
		if _, refused := w.stopSocket(elsewhere, ""); refused == nil || refused.StatusCode != 403 {
			w.Errorf("a page of another site is answered %v", refused)
		}
		silent, _ := w.stopSocket(nil, "")
		began := time.Now()
		if _, _, err := silent.ReadMessage(); err == nil || time.Since(began) > 15*time.Second {
			w.Errorf("a socket without a message ends after %v: %v", time.Since(began), err)
		}
	}, withAddress)
}

func TestStopThatArrivesInBothWaysIsLatchedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		stop := map[string]any{"selector": map[string]any{"ids": []string{"r1"}}, "by": "ann"}
		post := func(key string) (b api.Batch) {
			w.must("POST", "/stops", stop, &b, "Idempotency-Key", key)
			return b
		}
		first := post("k1")
		c, refused := w.stopSocket(nil, "?key=k1")
		if c == nil {
			w.Fatalf("the socket is refused: %v", refused)
		}
		var a api.StopSocketAnswer
		var second api.Batch
		if err := errors.Join(c.WriteJSON(stop), c.ReadJSON(&a), json.Unmarshal(a.Body, &second)); err != nil {
			w.Fatal(err)
		}
		if a.Status != 202 || first.Dup || !second.Dup || first.Latch == "" || second.Latch != first.Latch {
			w.Errorf("a stop %s is repeated as %d %s, dup %v", first.Latch, a.Status, second.Latch, second.Dup)
		}
		w.until("the robot receives both", func() bool { return count(r.Received(), "safety/stop") == 2 })
		var list struct{ Stops []latch.LatchedStop }
		if w.must("GET", "/stops", nil, &list); len(list.Stops) != 1 || list.Stops[0].ID != first.Latch {
			w.Errorf("latched are %v", list.Stops)
		}
		if next := post("k2"); next.Dup || next.Latch == first.Latch {
			w.Errorf("another stop is %s, dup %v", next.Latch, next.Dup)
		}
		for range 2 {
			if long := post(strings.Repeat("k", 100)); long.Dup || long.Latch == "" {
				w.Errorf("a stop with a key that is too long is %s, dup %v", long.Latch, long.Dup)
			}
		}
		w.sleep(2 * time.Minute)
		if late := post("k1"); late.Dup || late.Latch == first.Latch {
			w.Errorf("the key is used much later: %s, dup %v", late.Latch, late.Dup)
		}
	}, withAddress)
}
