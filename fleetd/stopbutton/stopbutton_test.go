package stopbutton

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestButtonIsSilentWithoutHeartbeats(t *testing.T) {
	start := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	heard := func(name string, seconds ...int) func(*Buttons) {
		return func(b *Buttons) {
			for _, s := range seconds {
				b.Heard(name, at(s))
			}
		}
	}
	connected := func(up bool, seconds int) func(*Buttons) { return func(b *Buttons) { b.SetConnected(up, at(seconds)) } }
	for _, c := range []struct {
		name   string
		steps  []func(*Buttons)
		listAt int
		want   string // each button with the second at which it became silent
	}{
		{"a listed one is waited for", []func(*Buttons){connected(true, 0)}, 9, "gate:-"},
		{"a listed one is missed that was never heard", []func(*Buttons){connected(true, 0)}, 10, "gate:10"},
		{"heartbeats arrive", []func(*Buttons){connected(true, 0), heard("gate", 2, 4, 6, 8, 10, 12)}, 21, "gate:-"},
		{"heartbeats end", []func(*Buttons){connected(true, 0), heard("gate", 2, 4)}, 14, "gate:14"},
		{"one that nobody listed is watched once it was heard", []func(*Buttons){connected(true, 0), heard("gate", 14), heard("hall", 2)}, 15,
			"gate:- hall:12"},
		{"it is heard again", []func(*Buttons){connected(true, 0), heard("gate", 2, 30)}, 31, "gate:-"},
		{"fleetd was never connected", nil, 100, "gate:-"},
		{"fleetd is away", []func(*Buttons){connected(true, 0), heard("gate", 2), connected(false, 5)}, 100, "gate:-"},
		{"fleetd was away", []func(*Buttons){connected(true, 0), heard("gate", 2), connected(false, 5), connected(true, 50)}, 59, "gate:-"},
		{"fleetd was away and the button, too",
			[]func(*Buttons){connected(true, 0), heard("gate", 2), connected(false, 5), connected(true, 50)}, 60, "gate:60"},
		{"it was silent before fleetd was away", []func(*Buttons){connected(true, 0), connected(false, 20), connected(true, 50)}, 51, "gate:10"},
		{"the same connection is reported again", []func(*Buttons){connected(true, 0), connected(true, 8)}, 12, "gate:10"},
	} {
		b := New([]string{"gate"})
		for _, do := range c.steps {
			do(b)
		}
		var got []string
		for _, one := range b.List(at(c.listAt)) {
			silent := "-"
			if !one.SilentAt.IsZero() {
				silent = fmt.Sprint(int(one.SilentAt.Sub(start).Seconds()))
			}
			got = append(got, one.Name+":"+silent)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

func TestClientsCannotMakeAnyNumberOfButtons(t *testing.T) {
	b := New([]string{"gate"})
	for i := range 2 * maxUnlisted {
		b.Heard(fmt.Sprint("b", i), time.Now())
	}
	b.Heard("gate", time.Now())
	if got := len(b.List(time.Now())); got != maxUnlisted+1 {
		t.Errorf("there are %d", got)
	}
}
