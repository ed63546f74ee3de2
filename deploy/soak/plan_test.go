package soak

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// An incident is one action of a person, or one fault.
type incident struct {
	at       time.Duration
	what     string
	who      string        // the link, or the sender
	verb     string        // of a command
	story    string        // that is assigned
	payload  string        // of the command or request
	duration time.Duration // of an outage
}

func (d incident) String() string {
	return fmt.Sprintf("%6.2fs %-13s %-6s %s %s %v", d.at.Seconds(), d.what, d.who, d.verb+d.story, d.payload, d.duration)
}

// faultTime is how long incidents happen; after it every fault ends.
const faultTime = 60 * time.Second

var commands = []struct{ verb, args string }{
	{"mode/set", `{"mode":"ato"}`}, {"mode/set", `{"mode":"ato"}`}, {"mode/set", `{"mode":"mnl"}`},
	{"mode/set", `{"mode":"mnl","restart":true}`},
	{"auto/pause", `{}`}, {"auto/continue", `{}`}, {"auto/stop", `{}`}, {"auto/skip", `{}`}, {"auto/start", `{}`},
	{"safety/enable", `{}`}, {"safety/enable", `{}`}, {"safety/reset", `{}`},
	{"interrupt/request", `{"handler":"service"}`}, {"sys/ping", `{}`},
}

// plan returns the incidents of a seed.
func plan(seed uint64) []incident {
	r := rand.New(rand.NewPCG(seed, 0x50a1))
	var all []incident
	for n := range 30 {
		d := incident{at: time.Duration(r.Int64N(int64(faultTime)))}
		o := commands[r.IntN(len(commands))]
		switch p := r.IntN(100); {
		case p < 35: // an operator with an MQTT client
			d.what, d.who, d.verb = "command", "op1", o.verb
			d.payload = fmt.Sprintf(`{"id":"c%d","args":%s}`, n, o.args)
			if chance := r.IntN(3); chance == 0 { // the message is sent twice
				all = append(all, incident{at: d.at + time.Duration(r.IntN(3000))*time.Millisecond, what: d.what, who: d.who, verb: d.verb,
					payload: d.payload})
			}
		case p < 55: // an operator with fleetd
			d.what, d.who, d.verb, d.payload = "fleet command", "fleetd", o.verb, o.args
		case p < 59:
			d.what, d.payload = "desired", []string{`"config":{"set":{"event_rate":19}}`, `"config":{"set":{"charged":0.9}}`,
				`"mode":{"mode":"ato","apply":"now"}`,
				`"mode":{"mode":"mnl","apply":"boot"}`, `"places":{"id":"hall","body":{"schema":1,"points":{"door":{"x_m":1,"y_m":0}}}}`, `"places":{}`,
				`"config":{"set":{"interrupts.rules":[{"rule":"r","on":"press","when":"since_s(\"mode_changed\") > 1.0","interrupter":"ai","handler":"attend"}]}}`}[r.IntN(7)]
		case p < 65:
			d.what, d.story = "assign", []string{"museum", "evening"}[r.IntN(2)]
		case p < 67:
			d.what, d.payload = "fleet stop", []string{`{"ids":["r1"]}`, `{"all":true}`}[r.IntN(2)]
		case p < 71:
			d.what = "release"
		case p < 74:
			d.what, d.verb = "stop", "safety/"+[]string{"stop", "soft-stop", "halt"}[r.IntN(3)]
		case p < 81:
			d.what, d.who = "cut", linkNames[r.IntN(len(linkNames))]
		case p < 87:
			d.what, d.who, d.duration = "outage", linkNames[r.IntN(len(linkNames))], time.Duration(500+r.IntN(9500))*time.Millisecond
		case p < 92:
			d.what, d.duration = "robot", time.Duration(r.IntN(8000))*time.Millisecond // of the restart
		case p < 95:
			d.what, d.duration = "fleetd", time.Duration(r.IntN(8000))*time.Millisecond
		case p < 97:
			d.what, d.duration = "broker", time.Duration(r.IntN(4000))*time.Millisecond
		default:
			d.what, d.who = "takeover", linkNames[r.IntN(len(linkNames))] // another client with the same name
		}
		all = append(all, d)
	}
	all = append(all, bodyIncidents(seed)...)
	slices.SortStableFunc(all, func(a, b incident) int { return cmp.Compare(a.at, b.at) })
	return all
}

// bodyInputs are what happens to the body, with what ends it. None of it needs a person
// afterwards, apart from the permission to move.
var bodyInputs = [][2]string{
	{`heat {"unit":"head","celsius":72}`, `heat {"unit":"head","celsius":30}`},
	{`heat {"unit":"battery","celsius":70}`, `heat {"unit":"battery","celsius":30}`},
	{`break {"unit":"speaker","what":"loose wire"}`, `repair {"unit":"speaker"}`},
	{`push {"on":true}`, `push {"on":false}`},
	{`fall {"on":true}`, `fall {"on":false}`},
	{`touch {"area":"head","on":true}`, `touch {"area":"head","on":false}`},
	{`press {"choice":"help"}`, `press {"choice":"done"}`},
	{`people {"count":2}`, `sound {"on":true,"noise_db":62}`},
}

// bodyIncidents draws from a sequence of its own, so that the other incidents of a seed stay
// as they are.
func bodyIncidents(seed uint64) (all []incident) {
	r := rand.New(rand.NewPCG(seed, 0xb0d7))
	for range r.IntN(4) {
		input, at := bodyInputs[r.IntN(len(bodyInputs))], time.Duration(r.Int64N(int64(faultTime-15*time.Second)))
		for n, played := range input {
			all = append(all, incident{what: "body", payload: played, at: at + time.Duration(n)*time.Duration(1+r.IntN(15_000))*time.Millisecond})
		}
	}
	return all
}

var linkNames = []string{"r1", "fleetd"}
