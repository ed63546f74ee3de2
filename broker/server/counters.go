package server

import "sync/atomic"

// event is something that is counted.
type event int

const (
	accepted event = iota
	capped
	tooFast
	noHandshake
	noConnect
	fileRefused
	acceptError
	panicked
	stalled
	unacknowledged
	queueFull
	connectRefused
	connectFlapping
	passwordWrong
	passwordBusy
	certificateRefused
	otherRole
	noSlot
	kicked
	subscribeRefused
	forbidden
	tooBig
	retainedCommand
	wrongRetain
	overRate
	bytesOverRate
	framesOverRate
	noSpace
	noReceiver
	abuse
	noticeSent
	willSent
	willSuppressed
	deliveryDropped
	lostStalled
	lostUnacknowledged
	lostGone
	postponedSent
	keptStopSent
	keptStopDropped
	events // number of events
)

// counterName names the counter of an event: its key in /status, and on /metrics its family
// and at most one label.
type counterName struct{ status, family, label, value string }

var counterNames = [events]counterName{
	accepted:           {"connections_accepted", "connections_accepted_total", "", ""},
	capped:             {"connections_over_cap", "connections_refused_total", "reason", "too_many"},
	tooFast:            {"connections_too_fast", "connections_refused_total", "reason", "too_fast"},
	noConnect:          {"connections_without_connect", "connections_refused_total", "reason", "no_connect"},
	connectRefused:     {"connects_refused", "connections_refused_total", "reason", "not_allowed"},
	connectFlapping:    {"connects_too_often", "connections_refused_total", "reason", "too_often"},
	passwordWrong:      {"passwords_wrong", "connections_refused_total", "reason", "password"},
	noHandshake:        {"connections_without_handshake", "connections_refused_total", "reason", "no_handshake"},
	passwordBusy:       {"passwords_busy", "connections_refused_total", "reason", "passwords_busy"},
	certificateRefused: {"certificates_refused", "connections_refused_total", "reason", "certificate"},
	otherRole:          {"connects_under_anothers_name", "connections_refused_total", "reason", "name_taken"},
	noSlot:             {"connects_without_slot", "connections_refused_total", "reason", "no_slot"},
	kicked:             {"clients_kicked", "connections_cut_total", "reason", "kicked"},
	fileRefused:        {"files_refused", "files_refused_total", "", ""},
	acceptError:        {"accept_errors", "accept_errors_total", "", ""},
	panicked:           {"connections_panicked", "connections_cut_total", "reason", "panic"},
	stalled:            {"connections_stalled", "connections_cut_total", "reason", "write_deadline"},
	unacknowledged:     {"connections_unacknowledged", "connections_cut_total", "reason", "inflight_full"},
	queueFull:          {"connections_queue_full", "connections_cut_total", "reason", "pending_full"},
	abuse:              {"clients_cut_for_abuse", "connections_cut_total", "reason", "abuse"},
	subscribeRefused:   {"subscriptions_refused", "subscriptions_refused_total", "", ""},
	forbidden:          {"publishes_forbidden", "publishes_refused_total", "reason", "forbidden"},
	tooBig:             {"publishes_too_big", "publishes_refused_total", "reason", "too_big"},
	retainedCommand:    {"commands_retained", "publishes_refused_total", "reason", "retained_command"},
	wrongRetain:        {"publishes_wrong_retain", "publishes_refused_total", "reason", "wrong_retain"},
	overRate:           {"publishes_over_rate", "publishes_refused_total", "reason", "over_rate"},
	bytesOverRate:      {"publishes_over_byte_rate", "publishes_refused_total", "reason", "over_byte_rate"},
	framesOverRate:     {"frames_over_rate", "publishes_refused_total", "reason", "frames_over_rate"},
	noSpace:            {"publishes_without_room", "publishes_refused_total", "reason", "no_space"},
	noReceiver:         {"commands_undelivered", "commands_undelivered_total", "", ""},
	noticeSent:         {"notices_sent", "notices_sent_total", "", ""},
	willSent:           {"wills_sent", "wills_total", "fate", "sent"},
	willSuppressed:     {"wills_suppressed", "wills_total", "fate", "suppressed"},
	deliveryDropped:    {"deliveries_dropped", "deliveries_dropped_total", "reason", "pending_full"},
	lostStalled:        {"deliveries_lost_stalled", "deliveries_dropped_total", "reason", "write_deadline"},
	lostUnacknowledged: {"deliveries_lost_unacknowledged", "deliveries_dropped_total", "reason", "inflight_full"},
	lostGone:           {"deliveries_lost_gone", "deliveries_dropped_total", "reason", "disconnected"},
	postponedSent:      {"deliveries_postponed", "deliveries_postponed_total", "", ""},
	keptStopSent:       {"stops_delivered_later", "stops_delivered_later_total", "", ""},
	keptStopDropped:    {"stops_kept_no_longer", "stops_kept_no_longer_total", "", ""},
}

// counters only increase.
type counters [events]atomic.Int64

func (c *counters) add(e event) { c[e].Add(1) }

func (c *counters) get(e event) int64 { return c[e].Load() }

// snapshot reads all counters, but not at one instant.
func (c *counters) snapshot() map[string]int64 {
	out := make(map[string]int64, events)
	for e := range events {
		out[counterNames[e].status] = c.get(e)
	}
	return out
}
