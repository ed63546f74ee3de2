package server

import "sync/atomic"

// event is a thing worth counting.
type event int

const (
	accepted event = iota
	capped
	notGreeted
	noConnect
	acceptError
	panicked
	stalled
	connectRefused
	connectFlapping
	passwordWrong
	passwordBusy
	certificateRefused
	kicked
	subscribeRefused
	forbidden
	tooBig
	retainedCommand
	wrongRetain
	overRate
	noSpace
	abuse
	noticeSent
	willSent
	willSilenced
	deliveryDropped
	events // how many there are
)

// eventNames are the keys of /status.
var eventNames = [events]string{
	accepted:           "connections_accepted",
	capped:             "connections_over_cap",
	notGreeted:         "connections_without_handshake",
	noConnect:          "connections_without_connect",
	acceptError:        "accept_errors",
	panicked:           "connections_panicked",
	stalled:            "connections_stalled",
	connectRefused:     "connects_refused",
	connectFlapping:    "connects_too_often",
	passwordWrong:      "passwords_wrong",
	passwordBusy:       "passwords_put_off",
	certificateRefused: "certificates_refused",
	kicked:             "clients_kicked",
	subscribeRefused:   "subscriptions_refused",
	forbidden:          "publishes_forbidden",
	tooBig:             "publishes_too_big",
	retainedCommand:    "commands_retained",
	wrongRetain:        "publishes_wrong_retain",
	overRate:           "publishes_over_rate",
	noSpace:            "publishes_without_room",
	abuse:              "clients_cut_for_abuse",
	noticeSent:         "notices_sent",
	willSent:           "wills_sent",
	willSilenced:       "wills_silenced",
	deliveryDropped:    "deliveries_dropped",
}

// counters only ever rise.
type counters [events]atomic.Int64

func (c *counters) add(e event) { c[e].Add(1) }

func (c *counters) get(e event) int64 { return c[e].Load() }

// snapshot reads all counters, each at its own instant.
func (c *counters) snapshot() map[string]int64 {
	out := make(map[string]int64, events)
	for e := range events {
		out[eventNames[e]] = c.get(e)
	}
	return out
}
