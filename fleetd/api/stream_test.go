package api

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/auth"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/bubble"
)

// instance is the state of a fleetd instance without faults.
func instance() Status { return Status{Name: "fleetd"} }

// take gives the view a message of a robot.
func take(t testing.TB, v *view.View, robot string, kind schema.TopicKind, doc any) {
	t.Helper()
	body, err := schema.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	if _, problems := v.Take(kind, robot, link.Message{Payload: body}, time.Now()); len(problems) > 0 {
		t.Fatal(problems)
	}
}

// page is a client of the stream, as the server's http.ResponseWriter.
type page struct {
	header http.Header
	end    func()

	mu   sync.Mutex
	sent strings.Builder
}

func (p *page) Header() http.Header { return p.header }
func (p *page) WriteHeader(int)     {}
func (p *page) Flush()              {}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent.Write(b)
}

func openPage(mux http.Handler, query string) *page {
	ctx, cancel := context.WithCancel(context.Background())
	p := &page{header: http.Header{}}
	var served sync.WaitGroup
	served.Go(func() {
		r := httptest.NewRequestWithContext(ctx, "GET", Prefix+"/stream"+query, nil)
		Guard(mux, slog.New(slog.DiscardHandler), anyHost, auth.Everybody{Principal: auth.Dev()}).ServeHTTP(p, r)
	})
	p.end = func() { cancel(); served.Wait() }
	return p
}

// events returns what was sent since the last call, by event.
func (p *page) events(t *testing.T) map[string][]string {
	t.Helper()
	synctest.Wait()
	p.mu.Lock()
	sent := p.sent.String()
	p.sent.Reset()
	p.mu.Unlock()
	out := map[string][]string{}
	for event := range strings.SplitSeq(strings.TrimSuffix(sent, "\n\n"), "\n\n") {
		if event == "" {
			continue
		}
		name, data, ok := strings.Cut(strings.TrimPrefix(event, "event: "), "\ndata: ")
		if !ok || strings.Contains(data, "\n") {
			t.Fatalf("this is no event: %q", event)
		}
		out[name] = append(out[name], data)
	}
	return out
}

func TestStreamSendsEachPageTheRowsThatChanged(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		v := view.New(view.Deps{Namespace: schema.DefaultNamespace, Name: "fleetd", Now: time.Now})
		v.Connected(true, time.Now())
		online := func(robot string, software string) {
			take(t, v, robot, schema.TopicPresence, schema.Presence{TS: schema.TimeOf(time.Now()), State: schema.PresenceOnline, Session: "s",
				Boot: software, Software: software})
		}
		for i := range 5 {
			online(fmt.Sprintf("r%d", i), "a")
		}
		mux := http.NewServeMux()
		routes(mux, Deps{Log: slog.New(slog.DiscardHandler), Now: time.Now, Status: instance, View: v})
		pages := make([]*page, 50)
		for i := range pages {
			query := ""
			if i == 0 {
				query = "?id=r1"
			}
			pages[i] = openPage(mux, query)
			defer pages[i].end()
		}
		for i, p := range pages {
			want := v.Robots()
			if i == 0 {
				want = want[1:2]
			}
			got := p.events(t)
			if len(got["fleetd"]) != 1 || len(got["robots"]) != 1 || len(got["changes"]) != 0 || got["robots"][0] != snapshot(t, want) {
				t.Fatalf("page %d begins with %v, want the robots %s", i, got, snapshot(t, want))
			}
			if kind := p.header.Get("Content-Type"); kind != "text/event-stream" {
				t.Errorf("the stream is %q", kind)
			}
		}

		time.Sleep(time.Second)
		take(t, v, "r3", schema.TopicState, schema.State{
			TS: schema.TimeOf(time.Now()), Session: "s", Boot: "a", StateSeq: 1, Safety: schema.StateSafety{State: schema.SafetyEStop,
				StoppedBy: "<gate & door>"},
			Mode: schema.StateMode{System: schema.SystemRunning, Active: schema.ModeMnl, Intended: schema.ModeMnl, Phase: schema.PhaseRunning},
			Auto: schema.StateAuto{Status: schema.AutoNotActive, PauseHolders: []schema.Pause{}},
		})
		time.Sleep(gatherChanges)
		for i, p := range pages {
			got := p.events(t)["changes"]
			if i == 0 {
				if len(got) != 0 {
					t.Errorf("a page of r1 alone was sent %v", got)
				}
				continue
			}
			if len(got) != 1 || got[0] != snapshot(t, v.Robots()[3:4]) {
				t.Fatalf("page %d was sent %v, want r3 alone: %s", i, got, snapshot(t, v.Robots()[3:4]))
			}
		}

		time.Sleep(statusInterval)
		for i := range 5 {
			take(t, v, fmt.Sprintf("r%d", i), schema.TopicHeartbeat, schema.Heartbeat{
				Session: "s", Boot: "a", Seq: 1, MonoMS: 1, Mode: schema.ModeMnl, Safety: schema.SafetyEStop, StateSeq: 1,
				Link: schema.HeartbeatLink{State: schema.LinkUp},
			})
		}
		time.Sleep(gatherChanges)
		if got := pages[1].events(t); len(got["changes"]) != 0 || len(got["fleetd"]) != 1 {
			t.Errorf("after a round of heartbeats a page was sent %v", got)
		}
	})
}

func TestStreamIsCompressedForThoseWhoAcceptIt(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		v := view.New(view.Deps{Namespace: schema.DefaultNamespace, Name: "fleetd", Now: time.Now})
		mux := http.NewServeMux()
		routes(mux, Deps{Log: slog.New(slog.DiscardHandler), Now: time.Now, Status: instance, View: v})
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(auth.With(ctx, auth.Dev()), "GET", Prefix+"/stream", nil)
		r.Header.Set("Accept-Encoding", "gzip, deflate")
		p := &page{header: http.Header{}}
		var served sync.WaitGroup
		served.Go(func() { mux.ServeHTTP(p, r) })
		synctest.Wait()
		zip, err := gzip.NewReader(strings.NewReader(p.sent.String()))
		if err != nil || p.header.Get("Content-Encoding") != "gzip" {
			t.Fatal(err, p.header)
		}
		begin := make([]byte, 64)
		if _, err := io.ReadFull(zip, begin); err != nil || !strings.HasPrefix(string(begin), "event: fleetd\ndata: {") {
			t.Errorf("before the stream ends it reads %q, %v", begin, err)
		}
		cancel()
		served.Wait()
	})
}

// snapshot is how encoding/json writes a Snapshot or Changes of the rows, without what the stream
// leaves out.
func snapshot(t *testing.T, rows []*view.Row) string {
	t.Helper()
	s := Snapshot{TS: schema.TimeOf(time.Now())}
	for _, r := range rows {
		one := r.Robot
		one.StateAt = 0
		if one.Presence.Status == "online" {
			one.Presence.Why = ""
		}
		s.Robots = append(s.Robots, one)
	}
	body, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
