package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"troupe/fleetd/auth"
	"troupe/fleetd/change"
)

func TestDatabaseErrorsBecomeProblems(t *testing.T) {
	s := &server{Deps: Deps{Log: slog.New(slog.DiscardHandler)}}
	for _, c := range []struct {
		err  error
		kind Kind
	}{
		{fmt.Errorf("act x: %w", change.ErrNotFound), KindNotFound},
		{fmt.Errorf("write: %w", change.ErrConflict), KindConflict},
		{fmt.Errorf("%w: 40001", change.ErrBusy), KindBusy},
		{context.Canceled, KindEnding},
		{errors.New("connection refused"), KindDatabase},
		{KindCount.Problem("no", ""), KindCount},
	} {
		var p *Problem
		if err := s.fail(c.err, "act x"); !errors.As(err, &p) || !p.Of(c.kind) {
			t.Errorf("%v becomes %v, want %s", c.err, err, c.kind.Name)
		}
	}
}

func TestPanicBecomesInternalError(t *testing.T) {
	var log strings.Builder
	h := Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") }), slog.New(slog.NewTextHandler(&log, nil)),
		anyHost, auth.Everybody{Principal: auth.Dev()})
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest("GET", "/api/v1/robots", nil))
	if answer.Code != 500 || !strings.Contains(answer.Body.String(), KindInternal.Type()) {
		t.Errorf("a panic is answered with %d %s", answer.Code, answer.Body)
	}
	if strings.Contains(answer.Body.String(), "broken") || !strings.Contains(log.String(), "broken") {
		t.Errorf("the text of the panic belongs into the log, not into the answer: %s; log: %s", answer.Body, log.String())
	}
}

func TestAnswerThatIsNotWholeEndsItsConnection(t *testing.T) {
	cut := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "the first half")
		panic(http.ErrAbortHandler)
	})
	s := httptest.NewServer(Guard(cut, slog.New(slog.DiscardHandler), anyHost, auth.Everybody{Principal: auth.Dev()}))
	defer s.Close()
	answer, err := http.Get(s.URL + "/api/v1/audit/export")
	if err != nil {
		return // the client sees it even earlier
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("the client takes %q for the whole answer", text)
	}
}

func TestPathBecomesJSONPointer(t *testing.T) {
	for path, want := range map[string]string{"": "", "verb": "/verb", "selector.labels[0].key": "/selector/labels/0/key"} {
		if got := pointerOf(path); got != want {
			t.Errorf("%q becomes %q, want %q", path, got, want)
		}
	}
}

func TestPreferWaitIsBounded(t *testing.T) {
	for prefer, want := range map[string]string{"": "0s", "respond-async, wait=5": "5s", "wait=9999": "1m0s", "Wait=3": "3s"} {
		if got, err := waitOf(prefer); err != nil || got.String() != want {
			t.Errorf("%q waits %v %v, want %s", prefer, got, err, want)
		}
	}
}
