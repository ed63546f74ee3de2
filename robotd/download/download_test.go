package download

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"troupe/schema"
)

// opera is a file of a few hundred kilobytes.
var opera = func() []byte {
	b := make([]byte, 300_001)
	for i := range b {
		b[i] = byte(i * i >> 7)
	}
	return b
}()

func fileOf(b []byte) File {
	sum := sha256.Sum256(b)
	return File{hex.EncodeToString(sum[:]), int64(len(b))}
}

// fleetd answers over TLS as it is told to, and counts how often it was asked.
type fleetd struct {
	*Fleetd
	asked atomic.Int64
	from  atomic.Value // the newest Range
}

func newFleetd(t *testing.T, answer http.HandlerFunc) *fleetd {
	t.Helper()
	d := &fleetd{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.asked.Add(1)
		d.from.Store(r.Header.Get("Range"))
		answer(w, r)
	}))
	s.StartTLS()
	t.Cleanup(s.Close)
	u, err := ParseFleetd(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	d.Fleetd = NewFleetd(u, s.Client().Transport.(*http.Transport).TLSClientConfig)
	return d
}

// gives is an honest fleetd that has just this file.
func gives(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != filesPath+"/"+fileOf(b).SHA256 {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}
}

func get(t *testing.T, d *Fleetd, f File, path string) (reason schema.Reason, detail string, told []int64) {
	t.Helper()
	err := d.Get(t.Context(), f, path, func(n int64) { told = append(told, n) })
	if err == nil {
		return "", "", told
	}
	var why *Failure
	if !errors.As(err, &why) {
		t.Fatalf("no failure: %v", err)
	}
	return why.Reason, why.Detail, told
}

func holds(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if want == nil && errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil && want != nil {
		t.Fatal(err)
	}
	if want == nil || !bytes.Equal(got, want) {
		t.Errorf("there are %d bytes at its place, want %d", len(got), len(want))
	}
}

func TestAFileArrivesWholeAndItsWayIsTold(t *testing.T) {
	d, path := newFleetd(t, gives(opera)), filepath.Join(t.TempDir(), "f")
	reason, detail, told := get(t, d.Fleetd, fileOf(opera), path)
	if reason != "" {
		t.Fatal(reason, detail)
	}
	holds(t, path, opera)
	if len(told) < 5 {
		t.Errorf("of %d bytes only this was told: %v", len(opera), told)
	}
	for i, n := range told {
		if n > int64(len(opera)) || i > 0 && n <= told[i-1] {
			t.Errorf("told %v", told)
		}
	}
	// What is there already is not asked for.
	if reason, detail, _ = get(t, d.Fleetd, fileOf(opera), path); reason != "" || d.asked.Load() != 1 {
		t.Errorf("again: %s %s, fleetd was asked %d times", reason, detail, d.asked.Load())
	}
}

func TestWhatCameOfABrokenAnswerIsGoneOnWith(t *testing.T) {
	broken := true
	d := newFleetd(t, func(w http.ResponseWriter, r *http.Request) {
		if broken {
			w.Header().Set("Content-Length", fmt.Sprint(len(opera)))
			_, _ = w.Write(opera[:200_000])
			panic(http.ErrAbortHandler)
		}
		gives(opera)(w, r)
	})
	path := filepath.Join(t.TempDir(), "f")
	reason, detail, _ := get(t, d.Fleetd, fileOf(opera), path)
	if reason != schema.ReasonUnavailable {
		t.Fatalf("the line broke: %q %s", reason, detail)
	}
	kept, err := os.ReadFile(path)
	if err != nil || len(kept) == 0 || !bytes.HasPrefix(opera, kept) {
		t.Fatalf("%d bytes were kept, %v", len(kept), err)
	}
	broken = false
	reason, detail, told := get(t, d.Fleetd, fileOf(opera), path)
	if reason != "" {
		t.Fatal(reason, detail)
	}
	if want := fmt.Sprintf("bytes=%d-", len(kept)); d.from.Load() != want || told[0] != int64(len(kept)) {
		t.Errorf("asked for %q, want %q; told %v", d.from.Load(), want, told[0])
	}
	holds(t, path, opera)
}

func TestADeskThatKnowsNoPartsSendsAll(t *testing.T) {
	d := newFleetd(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(opera) })
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, opera[:1000], 0o600); err != nil {
		t.Fatal(err)
	}
	if reason, detail, _ := get(t, d.Fleetd, fileOf(opera), path); reason != "" {
		t.Fatal(reason, detail)
	}
	holds(t, path, opera)
}

// A part that was damaged on the disk makes the whole wrong: it goes, and the next
// attempt begins anew.
func TestADamagedPartIsFoundAtTheEnd(t *testing.T) {
	d := newFleetd(t, gives(opera))
	for what, lies := range map[string][]byte{
		"a wrong beginning": bytes.Repeat([]byte("x"), 5000), "a whole that is wrong": bytes.Repeat([]byte("x"), len(opera)), "too much": append(bytes.Clone(opera), "more"...),
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, lies, 0o600); err != nil {
			t.Fatal(err)
		}
		if reason, _, _ := get(t, d.Fleetd, fileOf(opera), path); reason != "" {
			if reason != schema.ReasonBadDigest || len(lies) >= len(opera) {
				t.Errorf("%s: %s", what, reason)
			}
			holds(t, path, nil)
			if reason, detail, _ := get(t, d.Fleetd, fileOf(opera), path); reason != "" {
				t.Errorf("%s, again: %s %s", what, reason, detail)
			}
		}
		holds(t, path, opera)
	}
}

func TestAHostileDeskIsNotBelieved(t *testing.T) {
	elsewhere := newFleetd(t, gives(opera))
	head := func(w http.ResponseWriter, length int) { w.Header().Set("Content-Length", fmt.Sprint(length)) }
	for what, row := range map[string]struct {
		answer http.HandlerFunc
		reason schema.Reason
		says   string
		kept   bool // what came of it is of use
	}{
		"other bytes": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte("x"), len(opera))) }, schema.ReasonBadDigest, "other bytes", false},
		"one byte more": {func(w http.ResponseWriter, _ *http.Request) {
			head(w, len(opera)+1)
			_, _ = w.Write(append(bytes.Clone(opera), 0))
		}, schema.ReasonBadDigest, "300002", false},
		"one byte less": {func(w http.ResponseWriter, _ *http.Request) { head(w, len(opera)-1); _, _ = w.Write(opera[1:]) }, schema.ReasonBadDigest, "300000", false},
		"nothing":       {func(w http.ResponseWriter, _ *http.Request) { head(w, 0) }, schema.ReasonBadDigest, "0 bytes", false},
		"without a length, too little": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(opera[:100_000])
			w.(http.Flusher).Flush()
		}, schema.ReasonBadDigest, "100000 bytes came", false},
		"without a length, for ever": {func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(opera); err != nil {
					return
				}
			}
		}, schema.ReasonBadDigest, "more than 300001", false},
		"another part": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 5-%d/%d", len(opera)-1, len(opera)))
			w.WriteHeader(http.StatusPartialContent)
		}, schema.ReasonUnavailable, "206", false},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.url.JoinPath(r.URL.Path).String(), http.StatusFound)
		}, schema.ReasonUnavailable, "elsewhere", false},
		"not found": {http.NotFound, schema.ReasonUnavailable, "404", false},
		"a fault":   {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "oh", http.StatusInternalServerError) }, schema.ReasonUnavailable, "500", false},
		"a refusal with its reason": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"type":"/problems/certificate-refused","detail":"robot r7 was revoked"}`)
		}, schema.ReasonUnavailable, "robot r7 was revoked", false},
		"a line that breaks": {func(w http.ResponseWriter, _ *http.Request) {
			head(w, len(opera))
			_, _ = w.Write(opera[:100_000])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, schema.ReasonUnavailable, "broke after", true},
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			reason, detail, _ := get(t, newFleetd(t, row.answer).Fleetd, fileOf(opera), path)
			if reason != row.reason || !strings.Contains(detail, row.says) {
				t.Errorf("%q %q, want %q about %q", reason, detail, row.reason, row.says)
			}
			if left, _ := os.ReadFile(path); row.kept != (len(left) > 0) {
				t.Errorf("%d bytes were left", len(left))
			}
		})
	}
	if n := elsewhere.asked.Load(); n != 0 {
		t.Errorf("the robot went where it was sent, %d times", n)
	}
}

func TestAPartIsTakenOnlyAsItWasAskedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, opera[:1000], 0o600); err != nil {
		t.Fatal(err)
	}
	d := newFleetd(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(opera)-1, len(opera)))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(opera)
	})
	if reason, detail, _ := get(t, d.Fleetd, fileOf(opera), path); reason != schema.ReasonBadDigest {
		t.Errorf("%q %s", reason, detail)
	}
	holds(t, path, nil)
}

func TestADeskThatIsAwayIsUnavailable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u, err := ParseFleetd("https://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if reason, detail, _ := get(t, NewFleetd(u, nil), fileOf(opera), filepath.Join(t.TempDir(), "f")); reason != schema.ReasonUnavailable || !strings.Contains(detail, u.String()) {
		t.Errorf("%q %s", reason, detail)
	}
}

// In a bubble time passes at once, but not over a real network: a pipe stands for
// the line.
func TestADeskThatFallsSilentIsGivenUp(t *testing.T) {
	for what, said := range map[string]string{
		"before the answer": "",
		"in the middle":     fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(opera), opera[:50_000]),
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			synctest.Test(t, func(t *testing.T) {
				u, err := ParseFleetd("http://127.0.0.1:1")
				if err != nil {
					t.Fatal(err)
				}
				d := NewFleetd(u, nil)
				d.Through(func(context.Context) (net.Conn, error) {
					here, there := net.Pipe()
					go func() {
						_, _ = there.Read(make([]byte, 4096))
						_, _ = io.WriteString(there, said)
						_, _ = io.Copy(io.Discard, there) // until it hangs up
						_ = there.Close()
					}()
					return here, nil
				})
				began := time.Now()
				reason, detail, _ := get(t, d, fileOf(opera), path)
				if reason != schema.ReasonTimeout && reason != schema.ReasonUnavailable {
					t.Errorf("%q %s", reason, detail)
				}
				if took := time.Since(began); took > time.Minute {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

func TestWhoGivesUpIsLetGoAtOnceAndWhatCameStays(t *testing.T) {
	sent := make(chan struct{})
	d := newFleetd(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(opera)))
		_, _ = w.Write(opera[:100_000])
		w.(http.Flusher).Flush()
		close(sent)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-sent; cancel() }()
	path := filepath.Join(t.TempDir(), "f")
	if err := d.Get(ctx, fileOf(opera), path, func(int64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(opera, left) {
		t.Errorf("%d bytes are left, %v", len(left), err)
	}
}

func TestADiskWithoutRoomKeepsNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Fatal("this test needs /dev/full")
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	d := newFleetd(t, gives(opera))
	// The device is no file that could be read or cut, so only the writing is tried.
	p := &part{File: fileOf(opera), path: path, sum: sha256.New()}
	var err error
	if p.on, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	err = p.give(t.Context(), d.fill(t.Context(), p, func(int64) {}))
	var why *Failure
	if !errors.As(err, &why) || why.Reason != schema.ReasonNoSpace {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
}

func TestAFolderThatIsGoneIsNamed(t *testing.T) {
	if reason, detail, _ := get(t, newFleetd(t, gives(opera)).Fleetd, fileOf(opera), filepath.Join(t.TempDir(), "none", "f")); reason != schema.ReasonInternal || !strings.Contains(detail, "none") {
		t.Errorf("%q %s", reason, detail)
	}
}

func TestWhichDesksAreAsked(t *testing.T) {
	for address, well := range map[string]bool{
		"https://fleetd.example:8443": true, "http://127.0.0.1:8080": true, "http://localhost:8080": true, "http://[::1]:8080": true,
		"http://fleetd.example": false, "http://10.0.0.1:8080": false, "fleetd.example": false, "ftp://127.0.0.1": false, "": false,
		"https://me:secret@fleetd.example": false, "https://fleetd.example/?a=b": false,
	} {
		if _, err := ParseFleetd(address); (err == nil) != well {
			t.Errorf("%q: %v", address, err)
		}
	}
}
