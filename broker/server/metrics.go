package server

import (
	"net/http"

	"github.com/mochi-mqtt/server/v2/system"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"troupe/schema/build"
)

// metricPrefix is the prefix of every metric family.
const metricPrefix = "troupe_broker_"

// familyHelp are the help texts of the counters on /metrics. Robots are no label, because
// there may be ten thousand of them.
var familyHelp = map[string]string{
	"connections_accepted_total": "Connections that were accepted.",
	"connections_refused_total": "Connections that were refused before or at CONNECT. too_many: the limit of all connections, " +
		"or of those that have not sent CONNECT, or the broker closes; too_fast: the limit of connections a second; too_often: " +
		"a robot that connects again and again; no_slot: the limit of clients, or of connections of one name. Those with reason password, " +
		"passwords_busy or certificate count under not_allowed, too.",
	"connections_cut_total": "Connections that the broker ended. kicked: the client lost its right (it was revoked or removed from " +
		"the users file, or its certificate expired); write_deadline: it did not read in time; inflight_full: it did not acknowledge; " +
		"pending_full: a command did not fit into the queue of a robot; abuse: too many refused messages; panic: an error in the broker.",
	"files_refused_total":         "Changed files of users or certificates that were refused; their previous contents remain in effect.",
	"accept_errors_total":         "Failed attempts to accept a connection, such as for lack of file descriptors.",
	"subscriptions_refused_total": "Filters that were not granted.",
	"publishes_refused_total": "Messages that were acknowledged but not passed on as sent. " +
		"A retained stop is counted here although it is passed on.",
	"notices_sent_total":          "Notices to clients about refused or undelivered messages and about their connection.",
	"wills_total":                 "Wills of connections that ended without DISCONNECT.",
	"deliveries_dropped_total":    "Messages that a subscriber did not get because its queue was full or its connection ended first.",
	"commands_undelivered_total":  "Commands and stops of clients other than fleetd to robots that were not connected.",
	"stops_delivered_later_total": "Live stops delivered to a robot or fleetd that connected after they were sent.",
	"stops_kept_no_longer_total":  "Live stops that were dropped before their 30 s, because too many came.",
	"deliveries_postponed_total":  "Documents delivered later, in their then present state, to a subscriber whose queue had been full.",
}

// readings are metrics that are read when they are scraped.
var readings = []struct {
	name, help string
	kind       prometheus.ValueType
	read       func(*Server, *system.Info) int64
}{
	{"subscriptions", "Subscribed filters.", prometheus.GaugeValue, func(_ *Server, i *system.Info) int64 { return i.Subscriptions }},
	{"retained_messages", "Retained messages, including about twenty of the broker's own below $SYS.", prometheus.GaugeValue,
		func(_ *Server, i *system.Info) int64 { return i.Retained }},
	{"retained_bytes", "Payload bytes of all retained documents.", prometheus.GaugeValue,
		func(s *Server, _ *system.Info) int64 { return s.guard.retained.bytes.Load() }},
	{"inflight_messages", "Deliveries that the subscribers have not acknowledged.", prometheus.GaugeValue,
		func(s *Server, _ *system.Info) int64 { return s.inflight() }},
	{"messages_received_total", "PUBLISH packets read.", prometheus.CounterValue,
		func(_ *Server, i *system.Info) int64 { return i.MessagesReceived }},
	{"messages_sent_total", "PUBLISH packets written.", prometheus.CounterValue,
		func(_ *Server, i *system.Info) int64 { return i.MessagesSent }},
	{"bytes_received_total", "Bytes of packets read.", prometheus.CounterValue,
		func(_ *Server, i *system.Info) int64 { return i.BytesReceived }},
	{"bytes_sent_total", "Bytes of packets written.", prometheus.CounterValue, func(_ *Server, i *system.Info) int64 { return i.BytesSent }},
}

// inflight counts the unacknowledged deliveries. The library's own counter does not
// subtract what the library drops.
func (s *Server) inflight() (n int64) {
	for _, cl := range s.mochi.Clients.GetAll() {
		n += int64(cl.State.Inflight.Len())
	}
	return n
}

// exporter is a Prometheus collector that reads the server's counters when scraped.
type exporter struct{ s *Server }

// Describe sends nothing, which makes the collector an unchecked one.
func (exporter) Describe(chan<- *prometheus.Desc) {}

func (x exporter) Collect(out chan<- prometheus.Metric) {
	emit := func(name, help string, kind prometheus.ValueType, v int64, labels prometheus.Labels) {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(metricPrefix+name, help, nil, labels), kind, float64(v))
	}
	for e, as := range counterNames {
		var labels prometheus.Labels
		if as.label != "" {
			labels = prometheus.Labels{as.label: as.value}
		}
		emit(as.family, familyHelp[as.family], prometheus.CounterValue, x.s.counters.get(event(e)), labels)
	}
	info := x.s.mochi.Info.Clone()
	for _, r := range readings {
		emit(r.name, r.help, r.kind, r.read(x.s, info), nil)
	}
	for kind, n := range x.s.guard.sessions.kinds() {
		emit("connections", "Authenticated connections by role; blobs are the connections on which robots fetch files, "+
			"and those of robotd doctor.", prometheus.GaugeValue, n, prometheus.Labels{"kind": kind})
	}
	emit("build_info", "Version of this build; always 1.", prometheus.GaugeValue, 1, prometheus.Labels{"version": build.Version()})
}

// metricsHandler answers /metrics.
func metricsHandler(s *Server) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(exporter{s}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}
