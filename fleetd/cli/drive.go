package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"troupe/fleetd/api"
	"troupe/fleetd/presence"
	"troupe/fleetd/selector"
	"troupe/fleetd/teleop"
	"troupe/fleetd/view"
	"troupe/schema"
)

const (
	// framesEvery is the interval of frames.
	framesEvery = 50 * time.Millisecond
	// keepFor is the duration of the lease, and renewEvery how often it is renewed.
	keepFor    = 30 * time.Second
	renewEvery = 10 * time.Second
)

func (sh *shell) driveCommand() *cobra.Command {
	var speed, turn float64
	var takeover bool
	var why string
	c := &cobra.Command{
		Use: "drive ROBOT", Short: "drive a robot with the keys of this terminal", Args: exactlyOne,
		Long: `Drive a robot, in mode mnl and ENABLED, with the keys of this terminal: w or up forwards, s or down backwards,
a or left and d or right turn, space stands still, q ends.

A key drives only while it is held: a terminal repeats a held key and says nothing of its
release, so the robot stops a moment after the last repetition. When fleetd has stopped the robot,
a key counts again after none was held for half a second. The command takes control of the
robot, keeps it while keys are pressed, and gives it back at the end: without a key for 90 s it
says that control ends. When this terminal, the network, fleetd or the broker
fails, the robot stops by itself.`,
		Example: "  fleetd drive r1 --speed 0.2\n  fleetd drive r1 --takeover --why 'it stands in the door'",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			verb := "control/acquire"
			if takeover {
				verb = "control/takeover"
			}
			if err := sh.mayDrive(cmd.Context(), args[0]); err != nil {
				return err
			}
			lease, err := sh.control(cmd.Context(), args[0], verb, why)
			if err != nil {
				return err
			}
			defer func() {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), 5*time.Second)
				defer cancel()
				_, _ = sh.control(ctx, args[0], "control/release", why) // the lease runs out anyway
			}()
			return sh.drive(cmd.Context(), args[0], lease, driveKeys{speed: speed, turn: turn}, why)
		}),
	}
	f := c.Flags()
	f.Float64Var(&speed, "speed", 0.2, "m/s; never more than the robot's drive can do")
	f.Float64Var(&turn, "turn", 0.6, "rad/s; never more than the robot's drive can do")
	f.BoolVar(&takeover, "takeover", false, "take control from the client that has it")
	f.StringVar(&why, "why", "", "the reason, for the audit")
	return c
}

// mayDrive refuses to drive a robot that would not follow, and says what leads out. Of one whose state
// fleetd does not know, the robot decides.
func (sh *shell) mayDrive(ctx context.Context, robot string) error {
	var d view.Detail
	if err := sh.do(ctx, "get-robot", given{"id": robot}, &d); err != nil {
		return err
	}
	if text := notDrivableText(d); text != "" {
		return &failure{code: exitConflict, err: fmt.Errorf("%s would not follow: %s", robot, text)}
	}
	return nil
}

// notDrivableText says why a robot does not follow a person who drives it, with the commands that
// lead out; empty = fleetd knows of nothing. The mode comes first: ENABLED in ato, it would perform.
func notDrivableText(d view.Detail) string {
	if d.Mode == "" || !presence.Status(d.Presence.Status).Reachable() {
		return ""
	}
	var why, steps []string
	if d.Mode != schema.ModeMnl {
		why, steps = append(why, "it is in "+longModeText(d.Robot)), append(steps, "fleetd mode set mnl "+d.ID)
	}
	if d.Safety != schema.SafetyEnabled {
		why = append(why, "it is "+safetyDetail(d.Robot))
		for _, l := range d.Latches {
			steps = append(steps, "fleetd stop release "+l.ID+" --why REASON")
		}
		if d.Safety == schema.SafetyHalt || d.Safety == schema.SafetyEStop {
			reset := "fleetd safety reset " + d.ID
			if d.State != nil && d.State.Safety.LocalReset {
				reset = "press the reset button on its body"
			}
			steps = append(steps, reset)
		}
		steps = append(steps, "fleetd safety enable "+d.ID)
	}
	if len(why) == 0 {
		return ""
	}
	return strings.Join(why, ", and ") + "; " + strings.Join(steps, ", then ")
}

// control sends a command about control and returns the id of the lease.
func (sh *shell) control(ctx context.Context, robot, verb, why string) (lease string, err error) {
	args := json.RawMessage("{}")
	if verb != "control/release" {
		args = json.RawMessage(fmt.Sprintf(`{"ttl_ms":%d}`, keepFor.Milliseconds()))
	}
	var b api.Batch
	order := api.CommandRequest{Verb: verb, Args: args, Selector: selector.Selector{IDs: []string{robot}}, By: sh.by, Why: why}
	if err := sh.call(ctx, apiRequest{method: http.MethodPost, path: "commands", body: order, prefer: "wait=5"}, &b); err != nil {
		return "", err
	}
	if len(b.Commands) != 1 || b.Commands[0].Answer == nil {
		return "", &failure{code: exitTimeout, err: fmt.Errorf("%s did not answer %s; see fleetd robot get %s", robot, verb, robot)}
	}
	a := b.Commands[0].Answer
	switch {
	case a.Status != schema.StatusSucceeded:
		return "", &failure{code: exitConflict, err: fmt.Errorf("%s refuses %s: %s", robot, verb, orElse(a.Detail, string(a.Reason)))}
	case a.Lease != nil:
		lease = a.Lease.ID
	}
	return lease, nil
}

// drive sends frames until a person ends it, or the session ends.
func (sh *shell) drive(ctx context.Context, robot, lease string, keys driveKeys, why string) error {
	conn, err := sh.dialTeleop(ctx, robot)
	if err != nil {
		return err
	}
	defer conn.Close()
	restore, err := sh.rawTerminal()
	if err != nil {
		return err
	}
	defer restore()
	line := unsanitized(sh.Err) // for carriage returns, which a raw terminal needs, and numbers
	fmt.Fprintf(sh.Err, "driving %s: w a s d or arrows, space stands still, q ends", robot)
	fmt.Fprint(line, "\r\n")

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pressed, messages := make(chan key, 16), make(chan teleop.Message, 16)
	go readKeys(ctx, sh.In, pressed)
	go readMessages(ctx, conn, messages)
	frames, renew := time.NewTicker(framesEvery), time.NewTicker(renewEvery)
	defer frames.Stop()
	defer renew.Stop()
	echo := echoes{began: time.Now()}
	keys.pressedAt = time.Now()
	var refused teleop.Message // the newest refusal
	var refusedAt time.Time
	for seq := int64(1); ; {
		select {
		case <-ctx.Done():
			return nil
		case k, ok := <-pressed:
			if !ok || k == keyQuit {
				return nil
			}
			keys.press(k, time.Now())
		case now := <-renew.C:
			if !keys.present(now) {
				fmt.Fprint(line, "\r\n")
				fmt.Fprintf(sh.Err, "no key for %v: control of %s ends soon; press a key, such as space, to keep it", presentFor, robot)
				fmt.Fprint(line, "\r\n")
				continue
			}
			go func() { _, _ = sh.control(ctx, robot, "control/renew", why) }() // without it the session ends, and says so
		case m, ok := <-messages:
			switch {
			case !ok:
				return errors.New("the connection to fleetd is lost; the robot stops by itself")
			case m.Type == teleop.TypeEnded:
				if !keys.present(time.Now()) {
					m.Detail += fmt.Sprintf("; it was not renewed, since no key was pressed for %v", presentFor)
				}
				return &failure{code: exitConflict, err: fmt.Errorf("%s: %s", m.Cause, m.Detail)}
			case m.Type == teleop.TypeStopped:
				keys.stopped(time.Now())
				fmt.Fprint(line, "\r\n")
				fmt.Fprintf(sh.Err, "fleetd stopped the robot: %s; release the key for half a second before you drive on", m.Detail)
				fmt.Fprint(line, "\r\n")
			case m.Type == teleop.TypeRefused:
				if m.Detail != refused.Detail || time.Since(refusedAt) > 3*time.Second { // it comes once a second while it lasts
					fmt.Fprint(line, "\r\n")
					fmt.Fprintf(sh.Err, "%s does not follow: %s", robot, inCommands(m.Detail, robot))
					fmt.Fprint(line, "\r\n")
				}
				refused, refusedAt = m, time.Now()
			case m.Type == teleop.TypeEcho:
				echo.arrived(m, time.Now())
			case m.Type == teleop.TypeRobot:
				fmt.Fprintf(line, "\r%s  latency %3d ms  ", speedText(m.Figures), echo.total.Milliseconds())
			}
		case now := <-frames.C:
			vx, wz := keys.velocity(now)
			f := teleop.Frame{Lease: lease, Seq: seq, T: echo.at(now), VX: vx, WZ: wz, LatencyMS: echo.latency(now)}
			_ = conn.SetWriteDeadline(now.Add(time.Second)) // a write error says more
			if err := conn.WriteJSON(f); err != nil {
				return fmt.Errorf("the connection to fleetd is lost; the robot stops by itself: %w", err)
			}
			seq++
		}
	}
}

func speedText(figures map[string]any) string {
	vx, _ := figures["vx_mps"].(float64)
	wz, _ := figures["wz_radps"].(float64)
	return fmt.Sprintf("%5.2f m/s  %5.2f rad/s", vx, wz)
}

// dialTeleop opens the WebSocket of a robot.
func (sh *shell) dialTeleop(ctx context.Context, robot string) (*websocket.Conn, error) {
	if sh.noServer != nil {
		return nil, sh.noServer
	}
	base, err := url.Parse(sh.server)
	if err != nil || base.Host == "" {
		return nil, usage("--server %s: write http://host:port", sh.server)
	}
	target := base.JoinPath(api.Prefix, "robots", url.PathEscape(robot), "teleop")
	target.Scheme = strings.Replace(target.Scheme, "http", "ws", 1)
	trust, err := sh.tlsConfig()
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	if token := sh.token; token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	d := websocket.Dialer{Proxy: http.ProxyFromEnvironment, TLSClientConfig: trust, HandshakeTimeout: answerTimeout}
	conn, answer, err := d.DialContext(ctx, target.String(), header)
	if err == nil {
		return conn, nil
	}
	if answer != nil {
		return nil, sh.refused(answer, apiRequest{}, nil)
	}
	return nil, sh.unreachable(err, "")
}

// rawTerminal makes the terminal deliver each key at once, until restore is called.
func (sh *shell) rawTerminal() (restore func(), err error) {
	f, ok := sh.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func() {}, nil
	}
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return nil, fmt.Errorf("read keys from the terminal: %w", err)
	}
	return func() {
		_ = term.Restore(int(f.Fd()), before) // the program ends
		fmt.Fprintln(sh.Err)
	}, nil
}

// readKeys reads keys until there are no more.
func readKeys(ctx context.Context, in io.Reader, keys chan<- key) {
	defer close(keys)
	buffer := make([]byte, 4096) // all that a terminal holds: it must not end within an arrow, whose first byte alone is Escape
	for {
		n, err := in.Read(buffer)
		if err != nil {
			return
		}
		for _, k := range keysOf(buffer[:n]) {
			select {
			case keys <- k:
			case <-ctx.Done():
				return
			}
		}
	}
}

func readMessages(ctx context.Context, conn *websocket.Conn, messages chan<- teleop.Message) {
	defer close(messages)
	for {
		var m teleop.Message
		if conn.ReadJSON(&m) != nil {
			return
		}
		select {
		case messages <- m:
		case <-ctx.Done():
			return
		}
	}
}

// echoes measures how old frames are when fleetd's echo of them comes.
type echoes struct {
	began   time.Time
	newest  float64       // t of the newest echo
	trip    time.Duration // of the newest echo
	total   time.Duration // with the way to the robot
	waiting float64       // t of the oldest frame after the newest echo; 0 = none
}

// at is the time of a frame.
func (e *echoes) at(now time.Time) float64 {
	t := max(float64(now.Sub(e.began).Microseconds())/1000, 0.001)
	if e.waiting == 0 {
		e.waiting = t
	}
	return t
}

func (e *echoes) arrived(m teleop.Message, now time.Time) {
	ms := float64(now.Sub(e.began).Microseconds())/1000 - m.T
	e.newest, e.trip, e.waiting = m.T, time.Duration(ms*float64(time.Millisecond)), 0
	e.total = e.trip + time.Duration(m.RobotMS)*time.Millisecond
}

// latency is the newest round trip in milliseconds, or how long an echo is missing.
func (e *echoes) latency(now time.Time) float64 {
	ms := float64(e.trip.Microseconds()) / 1000
	if e.waiting != 0 {
		ms = max(ms, float64(now.Sub(e.began).Microseconds())/1000-e.waiting)
	}
	return ms
}
