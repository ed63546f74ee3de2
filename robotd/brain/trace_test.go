package brain

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/control"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/schema"
	"troupe/schema/golden"
	"troupe/schema/sign"
)

// TestTraces plays each script of testdata: a line is a time since the first
// boot and what happens then, the indented lines below it are what the robot does
// until the next. Ticks, heartbeats and the feeding of the body are left out.
func TestTraces(t *testing.T) {
	files, err := filepath.Glob("testdata/*.trace")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".trace"), func(t *testing.T) {
			text, _ := playTrace(t, file)
			golden.Compare(t, file, text)
		})
	}
}

// replay plays a script, and returns it with what the robot does.
func replay(t testing.TB, script string) string {
	return replaySending(t, script, func(effect.Publish) {})
}

// replaySending gives every message that the robot sends to sent, too.
func replaySending(t testing.TB, script string, sent func(effect.Publish)) string {
	p := &player{rig: newRig(t)}
	p.rig.watch, p.rig.sent = p.see, sent
	for line := range strings.Lines(script) {
		if strings.HasPrefix(line, " ") {
			continue
		}
		if text := strings.TrimSpace(line); text != "" && text[0] != '#' {
			p.play(text, line)
			continue
		}
		p.out.WriteString(line)
	}
	return p.out.String()
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			from := max(0, i-3)
			return fmt.Sprintf("got:\n%s\nwant:\n%s", strings.Join(g[from:min(i+4, len(g))], "\n"),
				strings.Join(w[min(from, len(w)):min(i+4, len(w))], "\n"))
		}
	}
	return "the script is longer than the run"
}

// player reads a script and writes down what comes of it.
type player struct {
	rig  *rig
	out  strings.Builder
	from time.Duration // of the present line

	eventSeq int64  // the newest event of the present boot
	moves    string // the last velocity that was written down
	seq      int64  // of the last frame
	signing  string // who signs the desired state
	stalls   bool   // the loop, until the next line
	routine  bool   // events that come with every act are written down
}

func (p *player) play(text, line string) {
	words := strings.Fields(text)
	at, err := time.ParseDuration(words[0])
	if err != nil || len(words) < 2 || at < p.rig.now {
		p.rig.t.Fatalf("%q: want a time that is not past, and a word", text)
	}
	if p.stalls {
		p.rig.now, p.stalls = at, false // what came meanwhile is taken in after this line
	} else {
		p.rig.until(at)
	}
	p.out.WriteString(line)
	p.from = at
	p.happen(text, words[1], words[2:])
	p.rig.until(at)
}

func (p *player) happen(text, word string, args []string) {
	r := p.rig
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch word {
	case "config":
		for _, a := range args {
			p.configure(a)
		}
	case "body": // with-seconds: two heads and two faces; with-catalogues: it lists its sounds and faces
		switch arg(0) {
		case "with-seconds":
			r.body.addSeconds()
		case "with-catalogues":
			r.body.lists = true
		default:
			r.t.Fatalf("%q: no such body", text)
		}
	case "events": // routine: those that come with every act, too
		p.routine = arg(0) == "routine"
	case "boot", "restart":
		p.eventSeq = 0
		r.memory.Lost, r.memory.LatchesLost, r.memory.Refused = arg(0) == "lost", arg(0) == "latches-lost", ""
		if arg(0) == "refused" {
			r.memory.Refused = schema.ReasonNoSpace
		}
		r.boot()
	case "connect":
		r.give(event.Connected{Session: "s" + arg(0)})
	case "disconnect":
		r.give(event.Disconnected{Why: cmp.Or(strings.Join(args, " "), "the connection broke"), HalfOpen: arg(0) == "half-open"})
	case "message-dropped": // topic and reason, as the broker says
		r.give(event.MessageDropped{Kind: schema.TopicKind(arg(0)), Reason: schema.Reason(arg(1))})
	case "recorder": // records that it lost, and whether it fails
		dropped, _ := strconv.ParseInt(arg(0), 10, 64)
		r.give(event.Recorder{Dropped: dropped, Failing: arg(1) == "fails"})
	case "beats":
		if r.beats = arg(0) == "on"; r.beats {
			r.beat(0)
		}
	case "cmd", "retained":
		group, verb, _ := strings.Cut(arg(1), "/")
		_, payload, _ := strings.Cut(text, arg(1))
		r.give(event.Command{Client: arg(0), Group: group, Verb: verb, Payload: []byte(strings.TrimSpace(payload)), Retained: word == "retained"})
	case "withheld": // the loop was suspended in a step that permitted motion
		r.give(event.MotionWithheld{})
	case "stall": // the loop does not run until the next line
		p.stalls = true
	case "drive": // for how long with which speeds, ten frames a second
		p.drive(args)
	case "desired":
		p.desire(args)
	case "holds", "fleet-holds": // a document of stops: rev, fleet id, counter, and id:level of each stop
		p.holds(word, args)
	case "call", "retained-call":
		_, payload, _ := strings.Cut(text, arg(0))
		r.give(event.LiveStop{Client: arg(0), Payload: []byte(strings.TrimSpace(payload)), Retained: word == "retained-call"})
	case "desired-places", "desired-activities", "desired-config", "desired-mode":
		p.desireOther(strings.TrimPrefix(word, "desired-"), args)
	case "sign":
		p.signing = arg(0)
	case "empty-desired":
		r.give(event.DesiredStory{Emptied: true})
	case "press":
		r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.Press, Name: cmp.Or(arg(0), "help"), On: true}})
	case "at": // where the body is
		x, _ := strconv.ParseFloat(arg(0), 64)
		y, _ := strconv.ParseFloat(arg(1), 64)
		theta, _ := strconv.ParseFloat(arg(2), 64)
		r.give(event.Reported{Event: driver.Event{Kind: driver.Position, X: x, Y: y, Theta: theta}})
	case "battery":
		level, _ := strconv.ParseFloat(arg(0), 64)
		r.give(event.Reported{Event: driver.Event{Kind: driver.Battery, Unit: "battery", Level: level, Charging: arg(1) == "charging"}})
	case "input":
		r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.EStopInput, Name: arg(0), On: arg(1) == "pressed"}})
	case "break":
		r.body.fault[arg(0)] = strings.Join(args[1:], " ")
		r.body.set(arg(0), driver.Error, 0)
	case "mute": // no unit answers a command
		r.body.mute = arg(0) != "off"
	case "asks": // unit, stop and why
		r.give(event.Reported{Event: driver.Event{Kind: driver.Asks, Unit: arg(0), Name: arg(1), Detail: strings.Join(args[2:], " ")}})
	case "heat":
		level, _ := strconv.ParseFloat(arg(1), 64)
		r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.Heat, Name: arg(0), Level: level}})
	case "push", "lift", "fall":
		r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.Signal(word), On: arg(0) == "on"}})
	case "hang":
		r.body.hung = true
	case "repair":
		delete(r.body.fault, arg(0))
		r.body.set(arg(0), r.body.state[arg(0)], 0)
	case "fails": // the command that a unit works on
		newest := uint64(0)
		for key, unit := range r.body.busy {
			if unit == arg(0) {
				newest = max(newest, key)
			}
		}
		r.give(event.Reported{Event: driver.Event{Kind: driver.Failed, Key: newest, Reason: schema.Reason(arg(1)), Detail: "as the script says"}})
	case "disk":
		r.diskDead, r.diskStuck = arg(0) == "dead", arg(0) == "stuck"
		r.diskFull = arg(0) == "full" || r.diskDead
		if r.diskHangs = arg(0) == "hangs"; !r.diskHangs {
			r.answer()
		}
	case "calibration": // takes so long
		r.calibTime, _ = time.ParseDuration(arg(0))
	case "waits": // a unit that has to be enabled for its calibration
		r.give(event.Reported{Event: driver.Event{Kind: driver.Waits, Unit: arg(0), Reason: schema.ReasonNeedsEnable}})
	case "calibrating": // it has come so far
		level, _ := strconv.ParseFloat(arg(0), 64)
		r.give(event.Reported{Event: driver.Event{Kind: driver.Calibrating, Level: level}})
	case "ring": // holds so many events
		r.ring, _ = strconv.Atoi(arg(0))
		r.events = r.events[max(0, len(r.events)-r.ring):]
	case "blobs":
		r.noBlobs = arg(0) == "none"
	case "map":
		r.calibBad = arg(0) == "unreadable"
	case "presence":
		r.give(event.PresenceSeen{Presence: schema.Presence{State: schema.PresenceState(arg(0)), Session: arg(1), Boot: arg(2)}})
	case "fleetd":
		r.give(event.FleetdPresence{Presence: schema.Presence{State: schema.PresenceState(arg(0)), Session: arg(1)}})
	case "contested":
		r.give(event.DuplicateIdentity{Why: "as the script says"})
	case "mode-fails": // in its next call of a kind: ATO step took 412 ms
		r.faults = map[string]string{arg(1) + " of " + arg(0): strings.Join(args[2:], " ")}
	case "mode-hung": // before the robot boots
		r.memory.Values[mode.HungKey] = arg(0)
	case "people": // how many, and where the nearest one is
		count, _ := strconv.ParseFloat(arg(0), 64)
		bearing, _ := strconv.ParseFloat(arg(1), 64)
		r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.People, Level: count, Bearing: bearing}})
	case "touch":
		r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.Touch, Name: arg(0), On: arg(1) == "on"}})
	case "choose": // what a screen offers
		for key, unit := range r.body.busy {
			if unit == "screen" {
				delete(r.body.busy, key)
				r.give(event.Reported{Event: driver.Event{Kind: driver.Done, Key: key, Name: arg(0)}})
				break
			}
		}
	case "answers": // of the server at an address: a reason, or a body
		if r.answers == nil {
			r.answers = map[string]httpAnswer{}
		}
		a := httpAnswer{body: strings.Join(args[1:], " ")}
		if why := schema.Reason(arg(1)); why.Describe().Text != string(why) {
			a = httpAnswer{refused: why}
		}
		r.answers[arg(0)] = a
	case "hears": // an intent, and with which confidence
		u := schema.Utterance{Name: arg(0)}
		if level, err := strconv.ParseFloat(arg(1), 64); err == nil {
			u.Confidence = &level
		}
		r.give(event.Reported{Event: driver.Event{Kind: driver.Heard, Heard: &u}})
	case "senses": // a signal, its name or level, and whether it is off
		ev := driver.Event{Kind: driver.Sensed, Signal: driver.Signal(arg(0)), On: true}
		for _, a := range args[1:] {
			if level, err := strconv.ParseFloat(a, 64); err == nil {
				ev.Level = level
			} else if a == "off" {
				ev.On = false
			} else {
				ev.Name = a
			}
		}
		r.give(event.Reported{Event: ev})
	case "shutdown":
		r.give(event.Shutdown{Why: "asked to"})
	case "run":
	default:
		r.t.Fatalf("%q: no such word", text)
	}
}

func (p *player) holds(word string, args []string) {
	doc := event.StopDocument{From: event.RobotStops, Rev: 1, FleetID: "fleetd", Stops: []schema.StopLatch{}}
	if word == "fleet-holds" {
		doc.From = event.FleetStops
	}
	var counter int64
	for _, a := range args {
		key, value, named := strings.Cut(a, "=")
		switch {
		case key == "rev":
			doc.Rev, _ = strconv.ParseInt(value, 10, 64)
		case key == "counter":
			counter, _ = strconv.ParseInt(value, 10, 64)
		case key == "fleet_id":
			doc.FleetID = value
		case a == "{{{":
			doc = event.StopDocument{From: doc.From, Problem: "it cannot be read"}
		case !named:
			id, level, _ := strings.Cut(a, ":")
			doc.Stops = append(doc.Stops, schema.StopLatch{ID: id, Level: schema.StopLevel(cmp.Or(level, "stop")), By: "anna",
				Why: "children on the stage", Since: epoch})
		}
	}
	d := schema.DesiredStop{Rev: doc.Rev, FleetID: doc.FleetID, Stops: doc.Stops, Counter: cmp.Or(counter, doc.Rev)}
	kind := map[event.StopSource]sign.Kind{event.RobotStops: sign.Stop, event.FleetStops: sign.FleetStop}[doc.From]
	d.Sig = p.seal(kind, d)
	doc.Counter, doc.Sig, doc.Digest = d.Counter, d.Sig, digestOf(p.rig.t, d)
	p.rig.give(doc)
}

// drive sends frames as the one does who has control: CLIENT DURATION VX WZ.
func (p *player) drive(args []string) {
	d, _ := time.ParseDuration(args[1])
	vx, _ := strconv.ParseFloat(args[2], 64)
	wz, _ := strconv.ParseFloat(args[3], 64)
	r := p.rig
	for end := r.now + d; r.now < end; r.until(r.now + 100*time.Millisecond) {
		p.seq++
		r.give(event.Frame{Client: args[0], Frame: schema.VelocityFrame{
			Lease: r.s.manual.Control().Lease.ID, Seq: p.seq, VXMPS: vx, WZRadPS: wz, TTLMS: 400, SeenMonoMS: (r.now - r.old).Milliseconds(),
		}})
	}
}

func (p *player) configure(setting string) {
	key, value, _ := strings.Cut(setting, "=")
	c := &p.rig.cfg
	switch key {
	case "boot":
		c.Mode.Boot = schema.ModeID(value)
	case "link_loss.ato":
		for i := range c.Mode.Modes {
			if c.Mode.Modes[i].ID == schema.ModeAto {
				c.Mode.Modes[i].LinkLoss = schema.LinkLoss(value)
			}
		}
	case "installed": // beside those of every robot
		i := slices.IndexFunc(modes, func(m mode.Installed) bool { return string(m.ID) == value })
		c.Mode.Modes = append(c.Mode.Modes, modes[i].Settings)
	case "on_link_return":
		c.ContinueOnReturn = value == "continue"
	case "control":
		c.Control.Required = control.Required(value)
	case "rank": // of the client before the dot
		client, rank, _ := strings.Cut(value, ".")
		c.Ranks = map[string]control.Rank{}
		c.Ranks[client], _ = control.RankOf(rank)
	case "signing":
		c.Signing = sign.Policy(value)
	case "pinned":
		c.LocalOnly = append(c.LocalOnly, value)
	case "trust":
		c.Trust = sign.Ring{sign.PublicKey(sign.SignsDesired, fleetdKey)}
		if value == "releases" {
			c.Trust = append(c.Trust, sign.PublicKey(sign.SignsReleases, releaserKey))
		}
	case "languages":
		c.Languages = strings.Split(value, ",")
	default:
		row, ok := schema.ConfigKeyOf(key)
		wrong, err := row.Check(jsontext.Value(value)), c.Set(key, jsontext.Value(value))
		if !ok || wrong != "" || err != nil {
			p.rig.t.Fatalf("no such setting: %s; %s; %v", setting, wrong, err)
		}
	}
}

func (p *player) desire(args []string) {
	w := schema.DesiredStory{Rev: 1, FleetID: "fleetd", Apply: schema.ApplyNextAct, Counter: 1, TS: epoch}
	if name := args[0]; name != "none" {
		pin, ok := stories[name]
		if !ok {
			p.rig.t.Fatalf("no such story: %s", name)
		}
		w.Story = &pin
	}
	for _, a := range args[1:] {
		switch key, value, _ := strings.Cut(a, "="); key {
		case "rev":
			w.Rev, _ = strconv.ParseInt(value, 10, 64)
			w.Counter = w.Rev
		case "counter":
			w.Counter, _ = strconv.ParseInt(value, 10, 64)
		case "apply":
			w.Apply = schema.Apply(value)
		case "fleet_id":
			w.FleetID = value
		}
	}
	w.Released = p.release(sign.Story, w.Story)
	w.Sig = p.seal(sign.Story, w)
	p.rig.give(event.DesiredStory{Document: w, Digest: digestOf(p.rig.t, w)})
}
