// Package metric makes Prometheus collectors of tables. A program lists its metrics once, as rows: what it serves, what the
// linter checks and what the documentation says follow from them.
package metric

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Type is the type of a metric.
type Type string

const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Row is one metric family.
type Row struct {
	Name    string // without the prefix of the program
	Type    Type
	Unit    string // base unit, as in the name; empty: a number of things, or 1 and 0 for yes and no
	Help    string
	Labels  []string
	Buckets []float64 // of a histogram
}

// Table is the metrics of a program.
type Table struct {
	Prefix string // of every name
	Rows   []Row
}

// Latencies are the buckets of what somebody waits for, in seconds.
var Latencies = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// row returns the row of that name. A name that is in no row is a defect, which a test of each table finds.
func (t Table) row(name string) (Row, error) {
	if i := slices.IndexFunc(t.Rows, func(r Row) bool { return r.Name == name }); i >= 0 {
		return t.Rows[i], nil
	}
	return Row{}, fmt.Errorf("there is no metric %s%s", t.Prefix, name)
}

// Histogram makes the histogram of a row. It is a collector of its own.
func (t Table) Histogram(name string) *prometheus.HistogramVec {
	row, err := t.row(name)
	if err != nil {
		panic(err)
	}
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: t.Prefix + name, Help: row.Help, Buckets: row.Buckets}, row.Labels)
}

// Collector makes a collector that calls collect for each scrape.
func (t Table) Collector(collect func(*Samples)) prometheus.Collector { return collector{t, collect} }

type collector struct {
	table   Table
	collect func(*Samples)
}

// Describe sends nothing: which samples there are is known at the scrape.
func (c collector) Describe(chan<- *prometheus.Desc) {}

func (c collector) Collect(out chan<- prometheus.Metric) {
	c.collect(&Samples{table: c.table, out: out, descs: map[string]*prometheus.Desc{}})
}

// Samples takes the values of one scrape.
type Samples struct {
	table Table
	out   chan<- prometheus.Metric
	descs map[string]*prometheus.Desc
}

// Set adds a sample, with the values of the labels in the order of the row.
func (s *Samples) Set(name string, value float64, labels ...string) {
	row, err := s.table.row(name)
	kind := prometheus.GaugeValue
	if row.Type == Counter {
		kind = prometheus.CounterValue
	}
	desc := s.descs[name]
	if desc == nil {
		desc = prometheus.NewDesc(s.table.Prefix+name, row.Help, row.Labels, nil)
		s.descs[name] = desc
	}
	var m prometheus.Metric
	if err == nil {
		m, err = prometheus.NewConstMetric(desc, kind, value, labels...)
	}
	if err != nil {
		m = prometheus.NewInvalidMetric(desc, err)
	}
	s.out <- m
}

// Flag adds a sample that is 1 for yes and 0 for no.
func (s *Samples) Flag(name string, yes bool, labels ...string) {
	value := 0.0
	if yes {
		value = 1
	}
	s.Set(name, value, labels...)
}

// Handler answers scrapes with these collectors, and with what Go and the system know of the process.
func Handler(all ...prometheus.Collector) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(all...)
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// Markdown is the table for the documentation.
func (t Table) Markdown() string {
	var b strings.Builder
	b.WriteString("| metric | type | unit | labels | meaning |\n|---|---|---|---|---|\n")
	for _, r := range t.Rows {
		labels := ""
		if len(r.Labels) > 0 {
			labels = "`" + strings.Join(r.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s%s` | %s | %s | %s | %s |\n", t.Prefix, r.Name, r.Type, r.Unit, labels, strings.ReplaceAll(r.Help, "|", `\|`))
	}
	return b.String()
}
