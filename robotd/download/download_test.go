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
	"time"

	"troupe/schema"
	"troupe/schema/bubble"
)

// content is a file of a few hundred kilobytes.
var content = func() []byte {
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

// fakeFleetd answers over TLS with a given handler and counts the requests.
type fakeFleetd struct {
	*Fleetd
	asked atomic.Int64
	from  atomic.Value // the Range header of the newest request
}

func newFakeFleetd(t *testing.T, answer http.HandlerFunc) *fakeFleetd {
	t.Helper()
	d := &fakeFleetd{}
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

// serves returns a handler that serves only this file.
func serves(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != filesPath+"/"+fileOf(b).SHA256 {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}
}

func get(t *testing.T, d *Fleetd, f File, path string) (reason schema.Reason, detail string, progress []int64) {
	t.Helper()
	err := d.Get(t.Context(), f, path, func(n int64) { progress = append(progress, n) })
	if err == nil {
		return "", "", progress
	}
	var why *Failure
	if !errors.As(err, &why) {
		t.Fatalf("the error is not a *Failure: %v", err)
	}
	return why.Reason, why.Detail, progress
}

func wantFile(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if want == nil && errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil && want != nil {
		t.Fatal(err)
	}
	if want == nil || !bytes.Equal(got, want) {
		t.Errorf("the file has %d bytes, want %d", len(got), len(want))
	}
}

func TestGetFetchesFileAndReportsProgress(t *testing.T) {
	d, path := newFakeFleetd(t, serves(content)), filepath.Join(t.TempDir(), "f")
	reason, detail, progress := get(t, d.Fleetd, fileOf(content), path)
	if reason != "" {
		t.Fatal(reason, detail)
	}
	wantFile(t, path, content)
	if len(progress) < 5 {
		t.Errorf("progress of %d bytes: %v", len(content), progress)
	}
	for i, n := range progress {
		if n > int64(len(content)) || i > 0 && n <= progress[i-1] {
			t.Errorf("progress %v", progress)
		}
	}
	// A complete file is not requested again.
	if reason, detail, _ = get(t, d.Fleetd, fileOf(content), path); reason != "" || d.asked.Load() != 1 {
		t.Errorf("second Get: %s %s, fleetd got %d requests", reason, detail, d.asked.Load())
	}
}

func TestGetContinuesInterruptedDownload(t *testing.T) {
	broken := true
	d := newFakeFleetd(t, func(w http.ResponseWriter, r *http.Request) {
		if broken {
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			_, _ = w.Write(content[:200_000])
			panic(http.ErrAbortHandler)
		}
		serves(content)(w, r)
	})
	path := filepath.Join(t.TempDir(), "f")
	reason, detail, _ := get(t, d.Fleetd, fileOf(content), path)
	if reason != schema.ReasonUnavailable {
		t.Fatalf("the connection broke: %q %s", reason, detail)
	}
	kept, err := os.ReadFile(path)
	if err != nil || len(kept) == 0 || !bytes.HasPrefix(content, kept) {
		t.Fatalf("%d bytes are on the disk, %v", len(kept), err)
	}
	broken = false
	reason, detail, progress := get(t, d.Fleetd, fileOf(content), path)
	if reason != "" {
		t.Fatal(reason, detail)
	}
	if want := fmt.Sprintf("bytes=%d-", len(kept)); d.from.Load() != want || progress[0] != int64(len(kept)) {
		t.Errorf("requested %q, want %q; progress %v", d.from.Load(), want, progress[0])
	}
	wantFile(t, path, content)
}

func TestServerWithoutRangesSendsWholeFile(t *testing.T) {
	d := newFakeFleetd(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, content[:1000], 0o600); err != nil {
		t.Fatal(err)
	}
	if reason, detail, _ := get(t, d.Fleetd, fileOf(content), path); reason != "" {
		t.Fatal(reason, detail)
	}
	wantFile(t, path, content)
}

// A damaged part makes the digest of the whole file wrong; the file is removed, and the
// next attempt starts from the beginning.
func TestDamagedPartIsDetectedAndRemoved(t *testing.T) {
	d := newFakeFleetd(t, serves(content))
	for what, lies := range map[string][]byte{
		"a wrong beginning": bytes.Repeat([]byte("x"), 5000), "wrong but complete": bytes.Repeat([]byte("x"), len(content)),
		"too much": append(bytes.Clone(content), "more"...),
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, lies, 0o600); err != nil {
			t.Fatal(err)
		}
		if reason, _, _ := get(t, d.Fleetd, fileOf(content), path); reason != "" {
			if reason != schema.ReasonBadDigest || len(lies) >= len(content) {
				t.Errorf("%s: %s", what, reason)
			}
			wantFile(t, path, nil)
			if reason, detail, _ := get(t, d.Fleetd, fileOf(content), path); reason != "" {
				t.Errorf("%s, again: %s %s", what, reason, detail)
			}
		}
		wantFile(t, path, content)
	}
}

func TestWrongAnswersAreRejected(t *testing.T) {
	elsewhere := newFakeFleetd(t, serves(content))
	head := func(w http.ResponseWriter, length int) { w.Header().Set("Content-Length", fmt.Sprint(length)) }
	for what, row := range map[string]struct {
		answer http.HandlerFunc
		reason schema.Reason
		says   string
		kept   bool // the part stays on the disk
	}{
		"other bytes": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte("x"), len(content))) },
			schema.ReasonBadDigest, "does not have the digest", false},
		"one byte more": {func(w http.ResponseWriter, _ *http.Request) {
			head(w, len(content)+1)
			_, _ = w.Write(append(bytes.Clone(content), 0))
		}, schema.ReasonUnavailable, "300002", false},
		"one byte less": {func(w http.ResponseWriter, _ *http.Request) { head(w, len(content)-1); _, _ = w.Write(content[1:]) },
			schema.ReasonUnavailable, "300000", false},
		"nothing": {func(w http.ResponseWriter, _ *http.Request) { head(w, 0) }, schema.ReasonUnavailable, "0 bytes", false},
		"without a length, too little": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(content[:100_000])
			w.(http.Flusher).Flush()
		}, schema.ReasonUnavailable, "received 100000 bytes", false},
		"a page of the right length": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(bytes.Repeat([]byte("x"), len(content)))
		}, schema.ReasonUnavailable, "web page", false},
		"without a length, for ever": {func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(content); err != nil {
					return
				}
			}
		}, schema.ReasonUnavailable, "more than 300001", false},
		"another part": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 5-%d/%d", len(content)-1, len(content)))
			w.WriteHeader(http.StatusPartialContent)
		}, schema.ReasonUnavailable, "206", false},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.url.JoinPath(r.URL.Path).String(), http.StatusFound)
		}, schema.ReasonUnavailable, "elsewhere", false},
		"not found": {http.NotFound, schema.ReasonUnavailable, "404", false},
		"a fault": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "oh", http.StatusInternalServerError) },
			schema.ReasonUnavailable, "500", false},
		"a refusal with its reason": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"type":"/problems/certificate-refused","detail":"robot r7 was revoked"}`)
		}, schema.ReasonUnavailable, "robot r7 was revoked", false},
		"broken connection": {func(w http.ResponseWriter, _ *http.Request) {
			head(w, len(content))
			_, _ = w.Write(content[:100_000])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, schema.ReasonUnavailable, "broke after", true},
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			reason, detail, _ := get(t, newFakeFleetd(t, row.answer).Fleetd, fileOf(content), path)
			if reason != row.reason || !strings.Contains(detail, row.says) {
				t.Errorf("%q %q, want %q about %q", reason, detail, row.reason, row.says)
			}
			if left, _ := os.ReadFile(path); row.kept != (len(left) > 0) {
				t.Errorf("%d bytes are on the disk", len(left))
			}
		})
	}
	if n := elsewhere.asked.Load(); n != 0 {
		t.Errorf("the robot followed %d redirects", n)
	}
}

func TestWrongContentRangeIsRejected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, content[:1000], 0o600); err != nil {
		t.Fatal(err)
	}
	d := newFakeFleetd(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(content)-1, len(content)))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(content)
	})
	if reason, detail, _ := get(t, d.Fleetd, fileOf(content), path); reason != schema.ReasonUnavailable {
		t.Errorf("%q %s", reason, detail)
	}
	wantFile(t, path, nil)
}

func TestUnreachableServerIsReportedAsUnavailable(t *testing.T) {
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
	if reason, detail, _ := get(t, NewFleetd(u, nil), fileOf(content), filepath.Join(t.TempDir(), "f")); reason != schema.ReasonUnavailable ||
		!strings.Contains(detail, u.String()) {
		t.Errorf("%q %s", reason, detail)
	}
}

// The test uses a pipe, because a synctest bubble does not work over a real network.
func TestSilentServerTimesOut(t *testing.T) {
	for what, said := range map[string]string{
		"before the answer": "",
		"in the middle":     fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(content), content[:50_000]),
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			bubble.Test(t, func(t *testing.T) {
				u, err := ParseFleetd("http://127.0.0.1:1")
				if err != nil {
					t.Fatal(err)
				}
				d := NewFleetd(u, nil)
				d.UseDialer(func(context.Context) (net.Conn, error) {
					here, there := net.Pipe()
					go func() {
						_, _ = there.Read(make([]byte, 4096))
						_, _ = io.WriteString(there, said)
						_, _ = io.Copy(io.Discard, there) // until the client closes
						_ = there.Close()
					}()
					return here, nil
				})
				began := time.Now()
				reason, detail, _ := get(t, d, fileOf(content), path)
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

func TestCancelledGetReturnsAndKeepsPart(t *testing.T) {
	sent := make(chan struct{})
	d := newFakeFleetd(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:100_000])
		w.(http.Flusher).Flush()
		close(sent)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-sent; cancel() }()
	path := filepath.Join(t.TempDir(), "f")
	if err := d.Get(ctx, fileOf(content), path, func(int64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(content, left) {
		t.Errorf("%d bytes are left, %v", len(left), err)
	}
}

func TestPartIsRemovedOnFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Fatal("this test needs /dev/full")
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	d := newFakeFleetd(t, serves(content))
	// The device cannot be read or truncated, so the test only writes.
	p := &part{File: fileOf(content), path: path, sum: sha256.New()}
	var err error
	if p.file, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	err = p.finish(t.Context(), d.fetchRest(t.Context(), p, func(int64) {}))
	var why *Failure
	if !errors.As(err, &why) || why.Reason != schema.ReasonNoSpace {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file was not removed: %v", err)
	}
}

func TestMissingFolderIsNamedInError(t *testing.T) {
	if reason, detail, _ := get(t, newFakeFleetd(t, serves(content)).Fleetd, fileOf(content),
		filepath.Join(t.TempDir(), "none", "f")); reason != schema.ReasonInternal || !strings.Contains(detail, "none") {
		t.Errorf("%q %s", reason, detail)
	}
}

func TestParseFleetd(t *testing.T) {
	for address, valid := range map[string]bool{
		"https://fleetd.example:8443": true, "http://127.0.0.1:8080": true, "http://localhost:8080": true, "http://[::1]:8080": true,
		"http://fleetd.example": false, "http://10.0.0.1:8080": false, "fleetd.example": false, "ftp://127.0.0.1": false, "": false,
		"https://me:secret@fleetd.example": false, "https://fleetd.example/?a=b": false,
	} {
		if _, err := ParseFleetd(address); (err == nil) != valid {
			t.Errorf("%q: %v", address, err)
		}
	}
}
