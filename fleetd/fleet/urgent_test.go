package fleet_test

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"troupe/fleetd/fleet"
)

// A recorder records what fleetd writes on each of its connections to the broker.
type recorder struct {
	mu   sync.Mutex
	sent []*bytes.Buffer
	cut  string // the client whose connections lose what goes over them, as a half-open one does
}

// recording has fleetd's connections recorded.
func (r *recorder) recording(c *fleet.Config) {
	dial := c.Dial
	c.Dial = func(ctx context.Context) (net.Conn, error) {
		conn, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		all := &bytes.Buffer{}
		r.mu.Lock()
		r.sent = append(r.sent, all)
		r.mu.Unlock()
		return recordedConn{conn, r, all}, nil
	}
}

// halfOpen cuts the connections of a client.
func (r *recorder) halfOpen(client string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = client
}

// recordedConn records what is written.
type recordedConn struct {
	net.Conn
	by  *recorder
	all *bytes.Buffer
}

func (c recordedConn) Write(p []byte) (int, error) {
	c.by.mu.Lock()
	c.all.Write(p)
	c.by.mu.Unlock()
	if c.isCut() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (c recordedConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.isCut() {
			return n, err
		}
	}
}

func (c recordedConn) isCut() bool {
	c.by.mu.Lock()
	defer c.by.mu.Unlock()
	return c.by.cut != "" && bytes.Contains(c.all.Bytes(), []byte(c.by.cut))
}

// on says how often text was written on connections whose CONNECT packet has that client id, and on all others.
func (r *recorder) on(client, text string) (there, elsewhere int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.sent {
		n := bytes.Count(c.Bytes(), []byte(text))
		if bytes.Contains(c.Bytes(), []byte(client)) {
			there += n
		} else {
			elsewhere += n
		}
	}
	return there, elsewhere
}

func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.sent {
		if connect := c.Bytes(); len(connect) > 1 { // the CONNECT packet stays; it is shorter than 128 bytes
			c.Truncate(min(c.Len(), 2+int(connect[1])))
		}
	}
}

// A command to each robot of a large fleet delays no heartbeat and no live stop.
func TestHeartbeatsAndLiveStopsGoBesideCommands(t *testing.T) {
	var r recorder
	inWorld(t, func(w *world) {
		w.robot("r1")
		w.sleep(2 * time.Second)
		r.forget()
		w.sleep(3 * time.Second)
		w.stopped()
		w.state(w.command(order("sys/ping", "r1")), "SUCCEEDED")
		for _, topic := range []string{"fleet/heartbeat/fleetd", "fleet/cmd/fleetd/stop"} {
			if beside, among := r.on("fleetd.drive", topic); beside == 0 || among > 0 {
				t.Errorf("%s was sent %d times on the connection of frames, %d times on another", topic, beside, among)
			}
		}
		if beside, among := r.on("fleetd.drive", "cmd/fleetd/sys/ping"); beside > 0 || among == 0 {
			t.Errorf("a command was sent %d times on the connection of frames, %d times on another", beside, among)
		}
	}, r.recording)
}

func TestHeartbeatsAndLiveStopsTakeTheOtherWayWhenTheirsIsHalfOpen(t *testing.T) {
	var r recorder
	inWorld(t, func(w *world) {
		robot := w.robot("r1")
		w.sleep(2 * time.Second)
		r.halfOpen("fleetd.drive")
		w.sleep(4 * time.Second)
		r.forget()
		w.sleep(2 * time.Second)
		if _, among := r.on("fleetd.drive", "fleet/heartbeat/fleetd"); among < 2 {
			t.Errorf("%d heartbeats were sent among commands in 2 s, want at least 2", among)
		}
		w.stopped()
		if n := robot.LiveStops(); n != 1 {
			t.Errorf("the robot got %d live stops", n)
		}
	}, r.recording)
}
