package server

import (
	"net/http"

	"github.com/mochi-mqtt/server/v2/system"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"troupe/schema/build"
)

// metricPrefix is in front of every family.
const metricPrefix = "troupe_broker_"

// families are what the counters are told as on /metrics. Robots are no label:
// there may be ten thousand of them.
var families = map[string]string{
	"connections_accepted_total":  "Connections that were accepted.",
	"connections_refused_total":   "Connections that were refused before or at CONNECT.",
	"connections_cut_total":       "Connections that the broker ended, by why it had to.",
	"files_refused_total":         "Times that a file of users or certificates was read and not taken: what it said before holds.",
	"accept_errors_total":         "Failed attempts to accept a connection, such as for want of file descriptors.",
	"subscriptions_refused_total": "Filters that were not granted.",
	"publishes_refused_total":     "Messages that were acknowledged and not passed on as they were sent. A retained stop is counted here and passed on.",
	"notices_sent_total":          "Notices to clients about what was not taken of them.",
	"wills_total":                 "Wills of connections that ended without a goodbye.",
	"deliveries_dropped_total":    "Messages that one subscriber did not get: his queue was full, or his connection ended with them in it.",
	"deliveries_made_good_total":  "Documents sent again, as they are by then, to a subscriber whose queue had been full.",
}

// readings are taken when they are asked for, from the library where it counts.
var readings = []struct {
	name, help string
	kind       prometheus.ValueType
	read       func(*Server, *system.Info) int64
}{
	{"subscriptions", "Filters that are subscribed to.", prometheus.GaugeValue, func(_ *Server, i *system.Info) int64 { return i.Subscriptions }},
	{"retained_messages", "Retained messages, with some twenty of the broker's own below $SYS.", prometheus.GaugeValue, func(_ *Server, i *system.Info) int64 { return i.Retained }},
	{"retained_bytes", "Bytes of all retained documents.", prometheus.GaugeValue, func(s *Server, _ *system.Info) int64 { return s.guard.kept.bytes.Load() }},
	{"inflight_messages", "Deliveries that their receivers have not acknowledged.", prometheus.GaugeValue, func(s *Server, _ *system.Info) int64 { return s.inflight() }},
	{"messages_received_total", "PUBLISH packets read.", prometheus.CounterValue, func(_ *Server, i *system.Info) int64 { return i.MessagesReceived }},
	{"messages_sent_total", "PUBLISH packets written.", prometheus.CounterValue, func(_ *Server, i *system.Info) int64 { return i.MessagesSent }},
	{"bytes_received_total", "Bytes of packets read.", prometheus.CounterValue, func(_ *Server, i *system.Info) int64 { return i.BytesReceived }},
	{"bytes_sent_total", "Bytes of packets written.", prometheus.CounterValue, func(_ *Server, i *system.Info) int64 { return i.BytesSent }},
}

// inflight is counted anew: the library's own count is not lowered by what it
// drops.
func (s *Server) inflight() (n int64) {
	for _, cl := range s.mochi.Clients.GetAll() {
		n += int64(cl.State.Inflight.Len())
	}
	return n
}

// exporter reads the server's counters whenever Prometheus asks.
type exporter struct{ s *Server }

// Describe says nothing: what there is to tell is found out by telling it.
func (exporter) Describe(chan<- *prometheus.Desc) {}

func (x exporter) Collect(out chan<- prometheus.Metric) {
	tell := func(name, help string, kind prometheus.ValueType, v int64, labels prometheus.Labels) {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(metricPrefix+name, help, nil, labels), kind, float64(v))
	}
	for e, as := range tellAs {
		var labels prometheus.Labels
		if as.label != "" {
			labels = prometheus.Labels{as.label: as.value}
		}
		tell(as.family, families[as.family], prometheus.CounterValue, x.s.counters.get(event(e)), labels)
	}
	info := x.s.mochi.Info.Clone()
	for _, r := range readings {
		tell(r.name, r.help, r.kind, r.read(x.s, info), nil)
	}
	for kind, n := range x.s.guard.live.kinds() {
		tell("connections", "Connections that said who they are, by role; blobs are robots' second ones.", prometheus.GaugeValue, n, prometheus.Labels{"kind": kind})
	}
	tell("build_info", "Which build this is; always 1.", prometheus.GaugeValue, 1, prometheus.Labels{"revision": build.Revision()})
}

// metricsHandler answers /metrics.
func metricsHandler(s *Server) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(exporter{s}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}
