package api

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/library"
	"troupe/fleetd/store/storetest"
	"troupe/schema/bubble"
)

func TestHeavyRequestsWaitForTheirTurn(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := &heavyWork{make(chan struct{}, 1), make(chan struct{}, 2)}
		ctx := t.Context()
		end, err := h.begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		turn := make(chan error)
		go func() {
			end, err := h.begin(ctx)
			if err == nil {
				end()
			}
			turn <- err
		}()
		synctest.Wait()
		var full *Problem
		if _, err := h.begin(ctx); !errors.As(err, &full) || full.Status != 503 || full.GetHeaders().Get("Retry-After") == "" {
			t.Errorf("with one that runs and one that waits: %v", err)
		}
		time.Sleep(heavyWait / 2)
		end()
		if err := <-turn; err != nil || time.Since(began) != heavyWait/2 {
			t.Errorf("the one that waited: %v after %v", err, time.Since(began))
		}
		if end, err = h.begin(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := h.begin(ctx); err == nil || time.Since(began) != heavyWait*3/2 {
			t.Errorf("without an end it waited %v: %v", time.Since(began), err)
		}
		end()
		if len(h.running)+len(h.waiting) != 0 {
			t.Errorf("%d run and %d wait", len(h.running), len(h.waiting))
		}
	})
}

func TestImportIsBounded(t *testing.T) {
	aliases := "act: x\nname: &n \"" + strings.Repeat("A", 20_000) + "\"\nsteps: [" + strings.Repeat("{say: *n},", 40_000) + "]\n"
	var unknown strings.Builder
	for i := range 900 {
		fmt.Fprintf(&unknown, "f%d: 1\n", i)
	}
	var over strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&over, "g%d: 1\n", i)
	}
	pack := func(n int, text string) []byte {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		for i := range n {
			w, err := z.Create(fmt.Sprintf("a%d.yaml", i))
			if err == nil {
				_, err = fmt.Fprintf(w, "act: a%d\n%s", i, text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	empty := &change.Library{Deps: change.Deps{
		Now: time.Now, Store: storetest.Opened(storetest.Open(t, storetest.SQLite(t))),
		Catalogue: func() library.Catalogue { return library.Catalogue{} },
	}}
	for name, c := range map[string]struct {
		format string
		body   []byte
		says   string // by the last problem
	}{
		"aliases":              {"yaml", []byte(aliases), "over the 65536"},
		"an archive of them":   {"zip", pack(1, aliases), "over the 65536"},
		"many wrong fields":    {"zip", pack(20, unknown.String()), "more are not listed"},
		"too many fields":      {"zip", pack(1, over.String()), "a group has 1000 fields at most"},
		"many documents":       {"yaml", bytes.Repeat([]byte("act: x\n---\n"), 3000), "there are over 1000 acts"},
		"many files":           {"zip", pack(2001, ""), "the archive has over 2000 files"},
		"many bytes":           {"yaml", bytes.Repeat([]byte("# a comment\n"), 1<<20), "the texts have over 8388608 bytes"},
		"an archive of a list": {"csv", []byte("act,type,start_ms\n" + strings.Repeat("a,wait,x\n", 1999)), "999 more are not listed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{heavy: newHeavyWork(), Deps: Deps{Library: empty, Log: slog.New(slog.DiscardHandler)}}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			done, err := s.importFile(t.Context(), auth.Principal{}, c.body, c.format, nil, false, true, audit.Attribution{})
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			problems := done.Body.Problems
			if len(problems) == 0 || len(problems) > maxImportProblems+20 || !strings.Contains(problems[len(problems)-1].Detail, c.says) {
				t.Errorf("%d problems, the last is %v, want %q", len(problems), problems[max(0, len(problems)-1):], c.says)
			}
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 700 {
				t.Errorf("%d bytes allocated %d MiB", len(c.body), used)
			}
		})
	}
}
