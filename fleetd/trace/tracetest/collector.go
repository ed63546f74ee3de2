// Package tracetest has an OpenTelemetry collector for tests.
package tracetest

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector takes spans over OTLP/HTTP.
type Collector struct {
	mu     sync.Mutex
	bodies [][]byte
	header http.Header
	spans  []Span
}

// Span is a span that was received.
type Span struct {
	Name, Trace, ID, Parent string
	Attrs                   map[string]string // lists are joined with commas
	Failed                  bool
	Start, End              time.Time
}

// Start starts a collector and names it in the environment, where fleetd looks for it.
func Start(t *testing.T) *Collector {
	t.Helper()
	c := &Collector{}
	server := httptest.NewServer(c)
	server.Config.SetKeepAlivesEnabled(false) // an idle connection would outlive the fake time of a test
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	return c
}

// ServeHTTP implements http.Handler.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var got collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &got) != nil {
		http.Error(w, "not traces", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies, c.header = append(c.bodies, body), r.Header
	for _, of := range got.ResourceSpans {
		resource := attrs(of.Resource.Attributes)
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				one := Span{
					Name: s.Name, Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId),
					Attrs: attrs(s.Attributes), Failed: s.Status.GetCode() == otlp.Status_STATUS_CODE_ERROR,
					Start: time.Unix(0, int64(s.StartTimeUnixNano)), End: time.Unix(0, int64(s.EndTimeUnixNano)),
				}
				one.Attrs["service.name"] = resource["service.name"]
				c.spans = append(c.spans, one)
			}
		}
	}
}

func attrs(all []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range all {
		out[a.Key] = text(a.Value)
	}
	return out
}

func text(v *common.AnyValue) string {
	if list := v.GetArrayValue(); list != nil {
		var all []string
		for _, one := range list.Values {
			all = append(all, text(one))
		}
		return strings.Join(all, ",")
	}
	if s, is := v.Value.(*common.AnyValue_StringValue); is {
		return s.StringValue
	}
	_, number, _ := strings.Cut(v.String(), ":")
	return number
}

// Spans returns what was received until now.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Span(nil), c.spans...)
}

// Named returns the spans with a name.
func (c *Collector) Named(name string) (found []Span) {
	for _, s := range c.Spans() {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

// Bodies is all that was sent.
func (c *Collector) Bodies() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all strings.Builder
	for _, b := range c.bodies {
		all.Write(b)
	}
	return all.String()
}

// Header is that of the newest request; nil before the first one.
func (c *Collector) Header() http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.header
}
