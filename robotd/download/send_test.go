package download

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"troupe/schema"
)

func TestSendEndsWithWhatFleetdSays(t *testing.T) {
	for what, c := range map[string]struct {
		answer http.HandlerFunc
		reason schema.Reason // empty = fleetd has the file
		says   string
	}{
		"taken": {func(w http.ResponseWriter, r *http.Request) {
			got, err := io.ReadAll(r.Body)
			if r.Method != http.MethodPut || r.URL.Path != schema.RecordsPath+"key-1" || r.ContentLength != int64(len(content)) || err != nil ||
				!bytes.Equal(got, content) {
				http.Error(w, "wrong", http.StatusBadRequest)
				return
			}
			w.WriteHeader(http.StatusNoContent)
		}, "", ""},
		"refused before it was read": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"detail":"the key has expired","hint":"ask for the record again"}`)
		}, schema.ReasonUnavailable, "the key has expired; ask for the record again"},
		"another server": {http.NotFound, schema.ReasonUnavailable, "404"},
		"broken": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadFull(r.Body, make([]byte, 1000))
			panic(http.ErrAbortHandler)
		}, schema.ReasonUnavailable, "send a flight record to fleetd"},
	} {
		t.Run(what, func(t *testing.T) {
			err := newFakeFleetd(t, c.answer).Send(t.Context(), "key-1", bytes.NewReader(content), int64(len(content)))
			var why *Failure
			switch {
			case c.reason == "" && err != nil:
				t.Error(err)
			case c.reason != "" && (!errors.As(err, &why) || why.Reason != c.reason || !strings.Contains(why.Detail, c.says)):
				t.Errorf("%v, want %s about %q", err, c.reason, c.says)
			}
		})
	}
}

func TestCancelledSendReturns(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	d := newFakeFleetd(t, func(http.ResponseWriter, *http.Request) { close(begun); <-end })
	defer close(end)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if err := d.Send(ctx, "key-1", bytes.NewReader(content), int64(len(content))); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
