package trace_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"troupe/fleetd/trace"
	"troupe/fleetd/trace/tracetest"
	"troupe/schema/testlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func tracer(t *testing.T) *trace.Tracer {
	t.Helper()
	log := slog.New(slog.NewTextHandler(testlog.Writer(t, "fleetd"), nil))
	one, err := trace.New(t.Context(), trace.Config{Log: log, Instance: "fleetd", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	return one
}

// makeSpans makes one trace with so many children.
func makeSpans(t *trace.Tracer, n int) {
	ctx, root := t.Start(context.Background(), trace.Internal, "root")
	for range n {
		_, child := trace.Start(ctx, trace.Internal, "child")
		child.End()
	}
	root.End()
}

func TestVariablesOfTheEnvironmentAreUsed(t *testing.T) {
	c := tracetest.Start(t)
	for name, value := range map[string]string{
		"OTEL_SERVICE_NAME": "museum", "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20key", "OTEL_TRACES_SAMPLER": "always_off",
	} {
		t.Setenv(name, value)
	}
	silent := tracer(t)
	makeSpans(silent, 1)
	silent.Close()
	if all := c.Spans(); len(all) > 0 {
		t.Errorf("with the sampler always_off %v were sent", all)
	}
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	one := tracer(t)
	makeSpans(one, 1)
	one.Close()
	if all := c.Named("root"); len(all) != 1 || all[0].Attrs["service.name"] != "museum" || c.Header().Get("Authorization") != "Bearer key" {
		t.Errorf("received %v with the header %q", all, c.Header())
	}
	if got := one.Counts(); got != (trace.Counts{Sent: 2}) {
		t.Errorf("counted %+v", got)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if _, err := trace.New(t.Context(), trace.Config{}); err == nil || !strings.Contains(err.Error(), "http/protobuf") {
		t.Errorf("the protocol grpc: %v", err)
	}
}

// Nothing waits for a collector: the test would not end otherwise.
func TestSpansThatNoCollectorTakesAreDroppedAndCounted(t *testing.T) {
	stop := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}))
	defer hangs.Close()
	defer close(stop)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	_ = l.Close()
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "10")
	for what, url := range map[string]string{"does not listen": closed, "does not answer": hangs.URL} {
		t.Run(what, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
			one := tracer(t)
			makeSpans(one, 99)
			if got := one.Counts(); got.Dropped < 50 {
				t.Errorf("with room for 10 of 100 spans %d were dropped", got.Dropped)
			}
			one.Close()
			for range 10_000_000 { // what Close gave up ends a moment later
				if runtime.Gosched(); one.Counts().Dropped == 100 {
					break
				}
			}
			if got := one.Counts(); got != (trace.Counts{Dropped: 100}) {
				t.Errorf("in the end: %+v", got)
			}
		})
	}
}

func TestNothingIsRecordedWithoutATracer(t *testing.T) {
	c := tracetest.Start(t)
	var none *trace.Tracer
	makeSpans(none, 1)
	none.Close()
	if all := c.Spans(); len(all) > 0 {
		t.Errorf("received %v", all)
	}
}
