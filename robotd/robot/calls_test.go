package robot

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/interrupts"
)

// desk is a server that answers calls by their path.
func desk(t *testing.T) *httptest.Server {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"act":"stolen"}`) }))
	t.Cleanup(elsewhere.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /act", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if string(body) != `{"robot":"r1"}` || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("the question is %s", body)
		}
		io.WriteString(w, "{\"act\":\"greet\"}\n")
	})
	mux.HandleFunc("POST /nothing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("POST /broken", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	mux.HandleFunc("POST /large", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, strings.Repeat(" ", interrupts.MaxAnswer)+"{}")
	})
	mux.HandleFunc("POST /moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/act", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("POST /elsewhere", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("POST /round", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/round", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("POST /silent", func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestCallsAreBounded(t *testing.T) {
	server := desk(t)
	l := newLoop(nil, time.Now(), nil)
	c := newCalls(t.Context(), l)
	defer c.close()
	for _, x := range []struct {
		url, body string
		why       schema.Reason
		detail    string
	}{
		{server.URL + "/act", `{"act":"greet"}`, "", ""},
		{server.URL + "/nothing", "", "", ""},
		{server.URL + "/moved", `{"act":"greet"}`, "", ""},
		{server.URL + "/elsewhere", "", schema.ReasonUnavailable, "another server"},
		{server.URL + "/round", "", schema.ReasonUnavailable, "another server"},
		{server.URL + "/broken", "", schema.ReasonUnavailable, "500"},
		{server.URL + "/large", "", schema.ReasonTooBig, "16384 bytes"},
		{server.URL + "/silent", "", schema.ReasonTimeout, "no answer within 500ms"},
		{"http://127.0.0.1:1/", "", schema.ReasonUnavailable, "refused"},
	} {
		timeout := 5 * time.Second
		if x.why == schema.ReasonTimeout {
			timeout = 500 * time.Millisecond
		}
		c.begin(effect.Call{ID: "ask-1", URL: x.url, Timeout: timeout, Body: []byte(`{"robot":"r1"}`)})
		ev := (<-l.events).(event.Called)
		c.end("ask-1")
		if ev.ID != "ask-1" || string(ev.Body) != x.body || ev.Reason != x.why || !strings.Contains(ev.Detail, x.detail) {
			t.Errorf("%s: %+v %q", x.url, ev, ev.Body)
		}
	}
}

// A call whose interrupt has ended says nothing any more, and leaves no goroutine.
func TestEndedCallSaysNothing(t *testing.T) {
	server := desk(t)
	l := newLoop(nil, time.Now(), nil)
	c := newCalls(t.Context(), l)
	for range 20 {
		c.begin(effect.Call{ID: "ask-1", URL: server.URL + "/silent", Timeout: time.Minute})
		c.end("ask-1")
	}
	c.begin(effect.Call{ID: "ask-2", URL: server.URL + "/silent", Timeout: time.Minute})
	c.close() // waits for all of them
	if n := len(l.events); n > 0 {
		t.Errorf("%d answers came", n)
	}
}
