package soak

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A deed is one thing that somebody does, or that goes wrong.
type deed struct {
	at   time.Duration
	what string
	who  string        // whose wire, or which sender
	verb string        // of a command
	body string        // its payload
	held time.Duration // how long something is away
}

func (d deed) String() string {
	return fmt.Sprintf("%6.2fs %-9s %-6s %s %s %v", d.at.Seconds(), d.what, d.who, d.verb, d.body, d.held)
}

// stormy is how long deeds go on; after it every fault ends.
const stormy = 60 * time.Second

var orders = []struct{ verb, args string }{
	{"mode/set", `{"mode":"ato"}`}, {"mode/set", `{"mode":"ato"}`}, {"mode/set", `{"mode":"mnl"}`}, {"mode/set", `{"mode":"mnl","restart":true}`},
	{"auto/pause", `{}`}, {"auto/continue", `{}`}, {"auto/stop", `{}`}, {"auto/start", `{}`},
	{"safety/enable", `{}`}, {"safety/enable", `{}`}, {"safety/reset", `{}`},
	{"interrupt/request", `{"handler":"service"}`}, {"sys/ping", `{}`},
}

// plan makes what happens under a seed.
func plan(seed uint64) []deed {
	r := rand.New(rand.NewPCG(seed, 0x50a1))
	var all []deed
	for n := range 30 {
		d := deed{at: time.Duration(r.Int64N(int64(stormy)))}
		o := orders[r.IntN(len(orders))]
		switch p := r.IntN(100); {
		case p < 35: // a person at a terminal
			d.what, d.who, d.verb = "command", "op1", o.verb
			d.body = fmt.Sprintf(`{"id":"c%d","args":%s}`, n, o.args)
			if again := r.IntN(3); again == 0 {
				all = append(all, deed{at: d.at + time.Duration(r.IntN(3000))*time.Millisecond, what: d.what, who: d.who, verb: d.verb, body: d.body})
			}
		case p < 55: // a person at fleetd
			d.what, d.who, d.verb, d.body = "order", "fleetd", o.verb, o.args
		case p < 59:
			d.what, d.body = "desired", []string{`"config":{"set":{"event_rate":19}}`, `"config":{"set":{"charged":0.9}}`, `"mode":{"mode":"ato","apply":"now"}`,
				`"mode":{"mode":"mnl","apply":"boot"}`, `"places":{"id":"hall","body":{"schema":1,"points":{"door":{"x_m":1,"y_m":0}}}}`, `"places":{}`}[r.IntN(6)]
		case p < 65:
			d.what, d.verb = "assign", []string{"museum", "evening"}[r.IntN(2)]
		case p < 67:
			d.what, d.body = "hold", []string{`{"ids":["r1"]}`, `{"all":true}`}[r.IntN(2)]
		case p < 71:
			d.what = "release"
		case p < 74:
			d.what, d.verb = "stop", "safety/"+[]string{"stop", "soft-stop", "halt"}[r.IntN(3)]
		case p < 81:
			d.what, d.who = "cut", wires[r.IntN(len(wires))]
		case p < 87:
			d.what, d.who, d.held = "part", wires[r.IntN(len(wires))], time.Duration(500+r.IntN(9500))*time.Millisecond
		case p < 92:
			d.what, d.held = "robot", time.Duration(r.IntN(8000))*time.Millisecond // gone so long
		case p < 95:
			d.what, d.held = "fleetd", time.Duration(r.IntN(8000))*time.Millisecond
		case p < 97:
			d.what, d.held = "broker", time.Duration(r.IntN(4000))*time.Millisecond
		default:
			d.what, d.who = "thief", wires[r.IntN(len(wires))] // somebody with the same name
		}
		all = append(all, d)
	}
	slices.SortStableFunc(all, func(a, b deed) int { return cmp.Compare(a.at, b.at) })
	return all
}

var wires = []string{"r1", "fleetd"}
