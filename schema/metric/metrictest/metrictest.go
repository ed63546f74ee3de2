// Package metrictest checks the tables of metrics and what programs serve of them.
package metrictest

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"troupe/schema/metric"
)

// Scrape asks a handler for its metrics as Prometheus does, and returns the text.
func Scrape(t testing.TB, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("scrape: %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// Values reads served metrics: the value of each sample by its name and labels, such as x_robots{presence="online"}. A histogram
// has the number of its observations, as x_seconds_count{...}.
func Values(t testing.TB, text string) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for name, family := range parse(t, text) {
		for _, m := range family.Metric {
			key, value := name, m.GetGauge().GetValue()+m.GetCounter().GetValue()+m.GetUntyped().GetValue()
			if h := m.GetHistogram(); h != nil {
				key, value = name+"_count", float64(h.GetSampleCount())
			}
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+`="`+l.GetValue()+`"`)
			}
			if len(labels) > 0 {
				key += "{" + strings.Join(labels, ",") + "}"
			}
			values[key] = value
		}
	}
	return values
}

// Of returns the values of a collector alone.
func Of(t testing.TB, c prometheus.Collector) map[string]float64 {
	t.Helper()
	return Values(t, Scrape(t, metric.Handler(c)))
}

// Check fails for names, units and help texts of a table that are not as Prometheus wants them, and for served metrics
// with the table's prefix that are in no row.
func Check(t testing.TB, table metric.Table, served string) {
	t.Helper()
	problems, err := promlint.New(strings.NewReader(served)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	known := map[string]bool{}
	for _, r := range table.Rows {
		if known[r.Name] {
			t.Errorf("%s is listed twice", r.Name)
		}
		known[r.Name] = true
		name := strings.TrimSuffix(r.Name, "_total")
		if r.Unit != "" && !strings.HasSuffix(name, "_"+r.Unit) {
			t.Errorf("%s is in %s and does not end in it", r.Name, r.Unit)
		}
		if (r.Type == metric.Counter) != strings.HasSuffix(r.Name, "_total") {
			t.Errorf("%s: a counter ends in _total, and nothing else does", r.Name)
		}
		if !strings.HasSuffix(r.Help, ".") {
			t.Errorf("%s: the help text is no sentence: %q", r.Name, r.Help)
		}
		if (r.Type == metric.Histogram) != (len(r.Buckets) > 0) || !slices.IsSorted(r.Buckets) {
			t.Errorf("%s: a histogram has buckets in their order, and nothing else has", r.Name)
		}
	}
	for name := range parse(t, served) {
		if short, own := strings.CutPrefix(name, table.Prefix); own && !known[short] {
			t.Errorf("%s is served and in no row", name)
		}
	}
}

func parse(t testing.TB, text string) map[string]*dto.MetricFamily {
	t.Helper()
	p := expfmt.NewTextParser(model.UTF8Validation)
	all, err := p.TextToMetricFamilies(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return all
}
