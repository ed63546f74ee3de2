package server

import (
	"net/http"

	"troupe/schema/build"
	"troupe/schema/metric"
)

// Metrics are the broker's metrics. Robots are no label, because there may be ten thousand of them.
var Metrics = metric.Table{Prefix: "troupe_broker_", Rows: []metric.Row{
	{Name: "connections_accepted_total", Type: metric.Counter, Help: "Connections that were accepted."},
	{Name: "connections_refused_total", Type: metric.Counter, Labels: []string{"reason"},
		Help: "Connections that were refused before or at CONNECT. too_many: the limit of all connections, " +
			"or of those that have not sent CONNECT, or the broker closes; too_fast: the limit of connections a second; too_often: " +
			"a robot that connects again and again; no_slot: the limit of clients, or of connections of one name. Those with reason password, " +
			"passwords_busy or certificate count under not_allowed, too."},
	{Name: "connections_cut_total", Type: metric.Counter, Labels: []string{"reason"},
		Help: "Connections that the broker ended. kicked: the client lost its right (it was revoked or removed from " +
			"the users file, or its certificate expired); write_deadline: it did not read in time; inflight_full: it did not acknowledge; " +
			"pending_full: a command did not fit into the queue of a robot; abuse: too many refused messages; panic: an error in the broker."},
	{Name: "files_refused_total", Type: metric.Counter,
		Help: "Changed files of users or certificates that were refused; their previous contents remain in effect."},
	{Name: "accept_errors_total", Type: metric.Counter, Help: "Failed attempts to accept a connection, such as for lack of file descriptors."},
	{Name: "subscriptions_refused_total", Type: metric.Counter, Help: "Filters that were not granted."},
	{Name: "publishes_refused_total", Type: metric.Counter, Labels: []string{"reason"},
		Help: "Messages that were acknowledged but not passed on as sent. A retained stop is counted here although it is passed on."},
	{Name: "notices_sent_total", Type: metric.Counter,
		Help: "Notices to clients about refused or undelivered messages and about their connection."},
	{Name: "wills_total", Type: metric.Counter, Labels: []string{"fate"}, Help: "Wills of connections that ended without DISCONNECT."},
	{Name: "deliveries_dropped_total", Type: metric.Counter, Labels: []string{"reason"},
		Help: "Messages that a subscriber did not get because its queue was full or its connection ended first."},
	{Name: "commands_undelivered_total", Type: metric.Counter,
		Help: "Commands and stops of clients other than fleetd to robots that were not connected."},
	{Name: "stops_delivered_later_total", Type: metric.Counter,
		Help: "Live stops delivered to a robot or fleetd that connected after they were sent."},
	{Name: "stops_kept_no_longer_total", Type: metric.Counter, Help: "Live stops that were dropped before their 30 s, because too many came."},
	{Name: "deliveries_postponed_total", Type: metric.Counter,
		Help: "Documents delivered later, in their then present state, to a subscriber whose queue had been full."},
	{Name: "subscriptions", Type: metric.Gauge, Help: "Subscribed filters."},
	{Name: "retained_messages", Type: metric.Gauge, Help: "Retained messages, including ten of the broker's own below $SYS."},
	{Name: "retained_bytes", Type: metric.Gauge, Unit: "bytes", Help: "Payload bytes of all retained documents."},
	{Name: "inflight_messages", Type: metric.Gauge, Help: "Deliveries that the subscribers have not acknowledged."},
	{Name: "messages_received_total", Type: metric.Counter, Help: "PUBLISH packets read."},
	{Name: "messages_sent_total", Type: metric.Counter, Help: "PUBLISH packets written."},
	{Name: "bytes_received_total", Type: metric.Counter, Help: "Bytes of packets read."},
	{Name: "bytes_sent_total", Type: metric.Counter, Help: "Bytes of packets written."},
	{Name: "connections", Type: metric.Gauge, Labels: []string{"kind"},
		Help: "Authenticated connections by role; blobs are the connections on which robots fetch files, and those of robotd doctor."},
	{Name: "certificate_end_timestamp_seconds", Type: metric.Gauge, Unit: "seconds", Labels: []string{"certificate"},
		Help: "When the broker's certificate, or the first of the CAs of its clients, ends, in Unix time."},
	{Name: "crl_update_timestamp_seconds", Type: metric.Gauge, Unit: "seconds",
		Help: "When the list of revoked certificates has to be replaced by a newer one, in Unix time."},
	{Name: "build_info", Type: metric.Gauge, Labels: []string{"version"}, Help: "Version of this build; always 1."},
}}

// inflight counts the unacknowledged deliveries. The library's own counter does not
// subtract what the library drops.
func (s *Server) inflight() (n int64) {
	for _, cl := range s.mochi.Clients.GetAll() {
		n += int64(cl.State.Inflight.Len())
	}
	return n
}

// collect reads the server's counters at a scrape.
func (s *Server) collect(out *metric.Samples) {
	for e, as := range counterNames {
		var labels []string
		if as.label != "" {
			labels = []string{as.value}
		}
		out.Set(as.family, float64(s.counters.get(event(e))), labels...)
	}
	info := s.mochi.Info.Clone()
	for name, n := range map[string]int64{
		"subscriptions": info.Subscriptions, "retained_messages": info.Retained, "retained_bytes": s.guard.retained.bytes.Load(),
		"inflight_messages": s.inflight(), "messages_received_total": info.MessagesReceived, "messages_sent_total": info.MessagesSent,
		"bytes_received_total": info.BytesReceived, "bytes_sent_total": info.BytesSent,
	} {
		out.Set(name, float64(n))
	}
	for kind, n := range s.guard.sessions.kinds() {
		out.Set("connections", float64(n), kind)
	}
	for what, end := range s.files.current.Load().expiries() {
		if what == "crl" {
			out.Set("crl_update_timestamp_seconds", float64(end.Unix()))
			continue
		}
		out.Set("certificate_end_timestamp_seconds", float64(end.Unix()), what)
	}
	out.Set("build_info", 1, build.Version())
}

// metricsHandler answers /metrics.
func metricsHandler(s *Server) http.Handler { return metric.Handler(Metrics.Collector(s.collect)) }
