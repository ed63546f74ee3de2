package stage

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"troupe/fleetd/api"
	"troupe/fleetd/drive"
	"troupe/fleetd/teleop"
)

// device is a person's device: it sends a frame every 50 ms, as long as it holds.
type device struct {
	p     *driveTest
	conn  *websocket.Conn
	lease string

	vx     atomic.Int64 // mm/s
	wz     atomic.Int64 // mrad/s
	holds  atomic.Bool  // sends frames
	sent   atomic.Int64 // when the newest frame with a velocity was sent
	over   chan struct{}
	slowMS atomic.Int64 // the latency that it claims

	mu       sync.Mutex
	messages []teleop.Message
}

// connect connects a device.
func (p *driveTest) connect(lease string) *device {
	p.Helper()
	dialer := websocket.Dialer{NetDialContext: p.web.dial}
	conn, answer, err := dialer.Dial("ws://localhost"+api.Prefix+"/robots/r1/teleop", http.Header{"Cookie": {p.cookie}})
	if err != nil {
		p.Fatalf("connect: %v %+v", err, answer)
	}
	d := &device{p: p, conn: conn, lease: lease, over: make(chan struct{})}
	go func() {
		defer close(d.over)
		for {
			var m teleop.Message
			if d.conn.ReadJSON(&m) != nil {
				return
			}
			d.mu.Lock()
			d.messages = append(d.messages, m)
			d.mu.Unlock()
		}
	}()
	d.holds.Store(true)
	go d.run()
	p.Cleanup(func() { _ = conn.Close(); <-d.over })
	return d
}

func (d *device) run() {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for seq := int64(1); ; seq++ {
		select {
		case <-d.over:
			return
		case <-tick.C:
		}
		if !d.holds.Load() {
			continue
		}
		vx, wz := float64(d.vx.Load())/1000, float64(d.wz.Load())/1000
		if d.conn.WriteJSON(teleop.Frame{Lease: d.lease, Seq: seq, T: 1, VX: vx, WZ: wz, LatencyMS: float64(d.slowMS.Load())}) != nil {
			return
		}
		if vx != 0 {
			d.sent.Store(time.Now().UnixNano())
		}
	}
}

// received returns the messages of a type.
func (d *device) received(of teleop.Type) (all []teleop.Message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.messages {
		if m.Type == of {
			all = append(all, m)
		}
	}
	return all
}

// takeControl takes control for ann and connects her device.
func (p *driveTest) takeControl() *device {
	p.Helper()
	return p.connect(p.mustOrder("ann", "control/acquire", map[string]any{"ttl_ms": 60000}).Lease.ID)
}

// drives deflects the stick until the robot has that speed.
func (d *device) drives(mps float64) {
	d.p.Helper()
	d.turns(mps, 0)
}

// turns deflects the stick aside too.
func (d *device) turns(mps, radps float64) {
	d.p.Helper()
	d.p.pass(300 * time.Millisecond) // the robot is heard, and frames of a released stick arrive
	d.vx.Store(int64(mps * 1000))
	d.wz.Store(int64(radps * 1000))
	d.p.pass(1510 * time.Millisecond) // between two frames
	if v := d.p.body.speed(); v.vx != mps || v.wz != radps {
		d.p.Fatalf("the robot has %v m/s and %v rad/s, %v and %v were asked for: %+v", v.vx, v.wz, mps, radps, d.received(teleop.TypeEnded))
	}
}

// pass lets time pass, and everything happen that happens until then.
func (p *driveTest) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// mustStandWithin checks that the robot stood within the time after the last frame, and
// stands.
func (p *driveTest) mustStandWithin(most time.Duration, last time.Time) {
	p.Helper()
	p.pass(3 * time.Second)
	moved := p.body.lastMoved().Sub(last)
	p.Logf("the body last reported a speed %v after the last frame", moved)
	if v := p.body.speed(); v.vx != 0 || v.wz != 0 || moved > most {
		p.Errorf("the body reported a speed %v after the last frame, want at most %v; it has %v m/s now", moved, most, v.vx)
	}
}

// lastFrame is when the newest frame with a velocity was sent.
func (d *device) lastFrame() time.Time { return time.Unix(0, d.sent.Load()) }

// mustHaveStopped checks that the device was told why fleetd stopped the robot.
func (d *device) mustHaveStopped(cause drive.Cause) {
	d.p.Helper()
	all := append(d.received(teleop.TypeStopped), d.received(teleop.TypeEnded)...)
	if !slices.ContainsFunc(all, func(m teleop.Message) bool { return m.Cause == cause }) {
		d.p.Errorf("the device was not told %s: %+v", cause, all)
	}
}
