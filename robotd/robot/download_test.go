package robot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/robotd/download"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/score"
)

// files is a fleetd instance that serves large files over pipes, so that it works in fake
// time. It sends at most most bytes of a file, and then hangs or breaks the connection.
type files struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}

	mu     sync.Mutex
	bodies map[string][]byte // by digest
	most   int               // bytes of one answer; 0 = all
	breaks bool              // after most, instead of hanging
	asked  []string          // Range of each request
	put    http.HandlerFunc  // for what robots send
}

func newFiles(t *testing.T) *files {
	f := &files{conns: make(chan net.Conn), done: make(chan struct{}), bodies: map[string][]byte{}}
	s := &http.Server{Handler: f}
	go func() { _ = s.Serve(f) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *files) Accept() (net.Conn, error) {
	select {
	case c := <-f.conns:
		return c, nil
	case <-f.done:
		return nil, net.ErrClosed
	}
}

func (f *files) Close() error   { f.once.Do(func() { close(f.done) }); return nil }
func (f *files) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (f *files) dial(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case f.conns <- there:
		return here, nil
	case <-f.done:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *files) with(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

func (f *files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		f.put(w, r)
		return
	}
	f.mu.Lock()
	body, known := f.bodies[path.Base(r.URL.Path)]
	most, breaks := f.most, f.breaks
	f.asked = append(f.asked, r.Header.Get("Range"))
	f.mu.Unlock()
	if !known {
		http.NotFound(w, r)
		return
	}
	if most == 0 {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
		return
	}
	from := 0
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err == nil {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(body)-1, len(body)))
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(body)-from))
	if from > 0 {
		w.WriteHeader(http.StatusPartialContent)
	}
	_, _ = w.Write(body[from:min(from+most, len(body))])
	w.(http.Flusher).Flush()
	if !breaks {
		<-r.Context().Done()
	}
	panic(http.ErrAbortHandler)
}

// play waits until the act with the sound has been performed, and none failed.
func (s *stand) play() schema.State {
	s.Helper()
	s.must("mode/set", `{"mode":"ato"}`)
	return s.state("the sound was played", func(d schema.State) bool {
		return len(d.Queue.Completed) > 0 && d.Queue.Completed[0] == "ring" && len(d.Queue.Failed) == 0
	})
}

const megabyte = 1 << 20

func TestFilesThatArrivedForOtherContentsStay(t *testing.T) {
	quiet := slog.New(slog.DiscardHandler)
	disk, a, _, err := openStore(t.TempDir(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = disk.close() })
	for _, arrived := range []string{"a", "b"} { // of a story and of activities, which wait for another file each
		f, err := os.Create(a.incoming.path(arrived))
		if err := errors.Join(err, f.Truncate(score.MaxAssetBytes-megabyte), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	d := newDownloads(t.Context(), Config{}, a, newLoop(nil, time.Now(), nil), quiet)
	d.fleetd = func() (*download.Fleetd, error) { return nil, errors.New("offline") }
	d.fetch(download.File{SHA256: "c", Size: megabyte})
	d.work.Wait()
	for _, arrived := range []string{"a", "b"} {
		if _, err := os.Stat(a.incoming.path(arrived)); err != nil {
			t.Errorf("the next download removed a file that has arrived: %v", err)
		}
	}
}

func TestHangingDownloadDelaysNothingAndIsResumed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.op.Subscribe("troupe/v1/robots/r1/heartbeat")
		fleetd := newFiles(t)
		s.boot(func(c *Config) { c.DialFleetd = fleetd.dial })
		s.mode(schema.ModeMnl)
		s.must("safety/enable", "")

		fleetd.with(func() { fleetd.most = 600_000 })
		gong := s.ring(1, megabyte)
		fleetd.with(func() { fleetd.bodies[gong.SHA256] = soundOf(1, megabyte) })
		reported(s, "story", func(r schema.ReportedStory) bool {
			return r.Phase == schema.DeployFetching && r.Progress != nil && *r.Progress > 0
		})
		reported(s, "story", func(r schema.ReportedStory) bool {
			return r.Phase == schema.DeployFailed && r.Reason == schema.ReasonTimeout && r.Retry == schema.RetryLater
		})
		fleetd.with(func() { fleetd.most = 1 }) // from here on nothing to speak of
		var last = time.Now()
		for began := time.Now(); time.Since(began) < time.Minute; {
			s.op.Expect("troupe/v1/robots/r1/heartbeat")
			if time.Since(last) > 4*time.Second {
				t.Fatalf("%v without a heartbeat", time.Since(last))
			}
			last = time.Now()
		}
		asked := time.Now()
		s.must("safety/stop", "")
		if took := time.Since(asked); took > time.Second {
			t.Errorf("a stop took %v while a file is on its way", took)
		}
		fleetd.with(func() { fleetd.most = 0 })
		time.Sleep(time.Minute) // longer than the pause that it has come to
		reported(s, "story", func(r schema.ReportedStory) bool { return r.Phase == schema.DeployActive && r.DesiredRev == 1 })
		fleetd.with(func() {
			if last := fleetd.asked[len(fleetd.asked)-1]; !strings.HasPrefix(last, "bytes=6") {
				t.Errorf("the last question was for %q, and 600,000 bytes were there", last)
			}
		})
		if b, err := os.ReadFile(filepath.Join(s.dir, assetsDir, gong.SHA256)); err != nil || !bytes.Equal(b, soundOf(1, megabyte)) {
			t.Errorf("the body reads %d bytes, %v", len(b), err)
		}
		before := s.play().Boot
		s.shutDown()

		// It is there after a restart, without a fleetd instance.
		if err := fleetd.Close(); err != nil {
			t.Fatal(err)
		}
		s.boot(func(c *Config) { c.DialFleetd = fleetd.dial })
		s.state("it has started again", func(d schema.State) bool {
			return d.Boot != before && d.Mode.Active == schema.ModeMnl && d.Mode.Phase == schema.PhaseRunning
		})
		s.play()
		s.shutDown()
	})
}

func TestPartialDownloadSurvivesRestartIfStillWanted(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		fleetd := newFiles(t)
		way := func(c *Config) { c.DialFleetd = fleetd.dial }
		s.boot(way)
		s.mode(schema.ModeMnl)
		fleetd.with(func() { fleetd.most = 500_000 })
		gong := s.ring(1, megabyte)
		fleetd.with(func() { fleetd.bodies[gong.SHA256] = soundOf(1, megabyte) })
		reported(s, "story", func(r schema.ReportedStory) bool { return r.Progress != nil && *r.Progress > 0 })
		s.shutDown()
		part := filepath.Join(s.dir, assetsDir, incomingDir, gong.SHA256)
		if info, err := os.Stat(part); err != nil || info.Size() == 0 {
			t.Fatalf("nothing of it is left: %v", err)
		}
		fleetd.with(func() { fleetd.most, fleetd.asked = 0, nil })
		s.boot(way)
		reported(s, "story", func(r schema.ReportedStory) bool { return r.Phase == schema.DeployActive && r.DesiredRev == 1 })
		fleetd.with(func() {
			if len(fleetd.asked) != 1 || !strings.HasPrefix(fleetd.asked[0], "bytes=") {
				t.Errorf("it was asked for %q", fleetd.asked)
			}
		})
		if _, err := os.Stat(part); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the part is still there: %v", err)
		}

		// After wrong bytes the robot asks once more at once, then again and again; the previous story
		// continues, and an alert tells of it until other bytes arrive.
		bad := s.ring(2, megabyte)
		fleetd.with(func() { fleetd.bodies[bad.SHA256], fleetd.asked = soundOf(3, megabyte), nil })
		reported(s, "story", func(r schema.ReportedStory) bool {
			return r.DesiredRev == 2 && r.Phase == schema.DeployFailed && r.Reason == schema.ReasonBadDigest && r.Retry == schema.RetryLater &&
				r.Active != nil && r.Active.Rev == 1
		})
		fleetd.with(func() {
			if len(fleetd.asked) != 2 {
				t.Errorf("it was asked for %q", fleetd.asked)
			}
		})
		damaged := func(d schema.State) bool {
			return slices.ContainsFunc(d.Alerts, func(a schema.Alert) bool { return a.Type == "content_damaged" && a.Source == "delivery" })
		}
		s.state("an alert of what arrives damaged", damaged)
		fleetd.with(func() { fleetd.bodies[bad.SHA256] = soundOf(2, megabyte) })
		reported(s, "story", func(r schema.ReportedStory) bool { return r.DesiredRev == 2 && r.Phase == schema.DeployActive })
		s.state("no alert any more", func(d schema.State) bool { return !damaged(d) })
		// The robot asks again later if fleetd does not have the file.
		late := s.ring(4, megabyte)
		reported(s, "story", func(r schema.ReportedStory) bool {
			return r.DesiredRev == 4 && r.Phase == schema.DeployFailed && r.Reason == schema.ReasonUnavailable && strings.Contains(r.Detail, "404")
		})
		s.mode(schema.ModeMnl)
		s.play() // the story of revision 1
		fleetd.with(func() { fleetd.bodies[late.SHA256] = soundOf(4, megabyte) })
		before := ""
		reported(s, "story", func(r schema.ReportedStory) bool {
			before = r.Session
			return r.Phase == schema.DeployActive && r.DesiredRev == 4
		})
		s.shutDown()

		if err := os.WriteFile(filepath.Join(s.dir, assetsDir, incomingDir, bad.SHA256), []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
		// What was damaged on the disk is fetched again.
		if err := os.WriteFile(filepath.Join(s.dir, assetsDir, late.SHA256), soundOf(5, megabyte), 0o600); err != nil {
			t.Fatal(err)
		}
		fleetd.with(func() { fleetd.asked = nil })
		s.boot(way)
		reported(s, "story", func(r schema.ReportedStory) bool {
			return r.Session != before && r.Phase == schema.DeployActive && r.DesiredRev == 4
		})
		fleetd.with(func() {
			if len(fleetd.asked) != 1 {
				t.Errorf("it was asked for %q", fleetd.asked)
			}
		})
		if b, err := os.ReadFile(filepath.Join(s.dir, assetsDir, late.SHA256)); err != nil || !bytes.Equal(b, soundOf(4, megabyte)) {
			t.Errorf("the body reads %d bytes, which are not those that were fetched, %v", len(b), err)
		}
		if left, err := os.ReadDir(filepath.Join(s.dir, assetsDir, incomingDir)); err != nil || len(left) > 0 {
			t.Errorf("on its way is still %v, %v", left, err)
		}
		s.shutDown()
	})
}

func TestPreviousStoryNeedsNoFleetd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		fleetd := newFiles(t)
		s.boot(func(c *Config) { c.DialFleetd = fleetd.dial })
		s.mode(schema.ModeMnl)
		for rev := int64(1); rev <= 2; rev++ {
			gong := s.ring(rev, megabyte)
			fleetd.with(func() { fleetd.bodies[gong.SHA256] = soundOf(rev, megabyte) })
			reported(s, "story", func(r schema.ReportedStory) bool { return r.Phase == schema.DeployActive && r.DesiredRev == rev })
		}
		fleetd.with(func() { fleetd.asked = nil })
		s.ringAgain(3, 1, megabyte)
		reported(s, "story", func(r schema.ReportedStory) bool {
			return r.Phase == schema.DeployActive && r.DesiredRev == 3 && r.Active.Rev == 1
		})
		fleetd.with(func() {
			if len(fleetd.asked) > 0 {
				t.Errorf("it was asked for %q, and the file is on the disk", fleetd.asked)
			}
		})
		s.shutDown()
	})
}

func TestOldestUnwantedPartialDownloadsAreRemoved(t *testing.T) {
	i := incoming{t.TempDir()}
	for n, name := range []string{"oldest", "older", "newest", "wanted"} {
		if err := os.WriteFile(i.path(name), make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+n), 0)
		if name == "wanted" {
			at = time.Unix(1, 0)
		}
		if err := os.Chtimes(i.path(name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := i.tidy(200, func(name string) bool { return name == "wanted" }); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(i.dir)
	if err != nil || len(left) != 3 {
		t.Fatalf("left are %v, %v", left, err)
	}
	if _, err := os.Stat(i.path("oldest")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the oldest is still there: %v", err)
	}
}

func TestFleetdAddressComesFromTheIdentityUnlessSet(t *testing.T) {
	for given, want := range map[string]string{"": DefaultFleetd, "https://fleetd.example:8443": "https://fleetd.example:8443"} {
		c := Config{ID: "r1", Data: t.TempDir(), Fleetd: given}
		if err := c.applyIdentity(); err != nil || c.Fleetd != want {
			t.Errorf("%q: %q, %v", given, c.Fleetd, err)
		}
	}
	if _, err := load(t, "", "--id", "r1", "--data", t.TempDir(), "--fleetd", "http://fleetd.example"); err == nil ||
		!strings.Contains(err.Error(), "unencrypted") {
		t.Errorf("an unencrypted fleetd address: %v", err)
	}
}
