package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"troupe/schema"
)

// writeStoryWithSound writes a sound of one megabyte, which lasts a second, and a
// story that plays it. It returns their folder and the sound's bytes.
func (w *world) writeStoryWithSound() (folder string, sound []byte) {
	w.t.Helper()
	const size = 1 << 20
	var b bytes.Buffer
	b.WriteString("RIFF....WAVEfmt ")
	for _, v := range []any{uint32(16), uint16(1), uint16(2), uint32(192_000), uint32(768_000), uint16(4), uint16(16), []byte("data"),
		uint32(size)} {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			w.t.Fatal(err)
		}
	}
	for n := range size {
		b.WriteByte(byte(n * n >> 9))
	}
	folder = filepath.Join(w.folder, "content")
	for name, text := range map[string][]byte{
		"sounds/opera.wav": b.Bytes(),
		"sing.yaml":        []byte("act: sing\nactions:\n  - {type: sound, start_ms: 0, timeout_ms: 5000, sound: opera}\n"),
		"gala.yaml":        []byte("story: gala\nname: {en: Gala}\nrepeat: loop\nacts:\n  - {act: sing}\n"),
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	return folder, b.Bytes()
}

// assetPath returns where a robot stores a file of its story.
func (w *world) assetPath(rid string, sound []byte, folder ...string) string {
	sum := sha256.Sum256(sound)
	return filepath.Join(append(append([]string{w.folder, rid, "assets"}, folder...), hex.EncodeToString(sum[:]))...)
}

// awaitSoundPlayed waits until the robot has played the sound and no act has
// failed.
func (w *world) awaitSoundPlayed(rid string) {
	w.t.Helper()
	w.awaitState(rid, "done with the sound", func(s schema.State) bool {
		return s.Auto.Story != nil && s.Auto.Story.ID == "gala" && len(s.Queue.Completed) > 0 && s.Queue.Completed[0] == "sing" &&
			len(s.Queue.Failed) == 0
	})
}

// A stallingProxy forwards connections to an address, but returns only the first
// bytes of each reply until resume is called.
type stallingProxy struct {
	net.Listener
	resumed    chan struct{}
	goroutines sync.WaitGroup
}

func newStallingProxy(t testing.TB, address string, limit int64) *stallingProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("start the proxy: %v", err)
	}
	d := &stallingProxy{Listener: l, resumed: make(chan struct{})}
	d.goroutines.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			d.goroutines.Go(func() { d.relay(near, address, limit) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		d.resume()
		d.goroutines.Wait()
	})
	return d
}

func (d *stallingProxy) resume() {
	select {
	case <-d.resumed:
	default:
		close(d.resumed)
	}
}

func (d *stallingProxy) relay(near net.Conn, address string, limit int64) {
	defer near.Close()
	far, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer far.Close()
	var ended sync.WaitGroup
	defer ended.Wait()
	ended.Go(func() {
		_, _ = io.Copy(far, near) // any error ends the connection
		_ = far.Close()
	})
	_, _ = io.CopyN(near, far, limit)
	<-d.resumed
	_, _ = io.Copy(near, far)
	_ = near.Close()
}

func TestLargeSoundReachesRobotThatIsKilledWhileFetching(t *testing.T) {
	runIn(t, anyFleetd, func(w *world) {
		w.startFleetd()
		folder, sound := w.writeStoryWithSound()
		proxy := newStallingProxy(w.t, strings.TrimPrefix(w.http, "http://"), 400<<10)
		mark := w.observer.mark()
		start := func() { w.runRobot("r1", "", "--fleetd", "http://"+proxy.Addr().String()) }
		start()
		w.awaitAdopted("r1")

		if out := w.mustRunCLI("asset", "put", filepath.Join(folder, "sounds", "opera.wav")); !strings.Contains(out,
			"asset opera uploaded (audio/wav, 1048620 bytes") {
			w.t.Errorf("put prints\n%s", out)
		}
		w.mustRunCLI("story", "publish", "-f", folder)
		w.mustRunCLI("story", "assign", "gala", "r1")
		w.awaitReportedStory("r1", "fetching the sound", func(r schema.ReportedStory) bool {
			return r.Phase == schema.DeployFetching && r.Progress != nil && *r.Progress > 10
		})
		w.robots["r1"].kill()
		part, err := os.Stat(w.assetPath("r1", sound, "incoming"))
		if err != nil || part.Size() == 0 || part.Size() >= int64(len(sound)) {
			w.t.Fatalf("the partial file is %v, %v", part, err)
		}
		proxy.resume()
		restarted := w.observer.mark()
		start()
		w.awaitConverged("gala", 1, "r1")
		if got, err := os.ReadFile(w.assetPath("r1", sound)); err != nil || !bytes.Equal(got, sound) {
			w.t.Errorf("the robot has %d bytes of %d, %v", len(got), len(sound), err)
		}
		awaitDocumentAfter(w, restarted, robotTopic("r1", "state"), "r1 to be in mnl", func(s schema.State) bool {
			return s.Mode.Active == schema.ModeMnl && s.Mode.Phase == schema.PhaseRunning && s.Mode.Calibrated
		})
		w.mustRunCLI("mode", "set", "ato", "r1", "--wait")
		w.awaitSoundPlayed("r1")
		w.mustRequest("op1", "r1", "act/perform", "sing") // a requested act may use the story's sounds
		for _, m := range w.observer.since(mark, schema.DefaultNamespace.Root()+"blobs/+") {
			if len(m.Payload) > 256<<10 {
				w.t.Errorf("a message of %d bytes went through the broker", len(m.Payload))
			}
		}
		if s := w.runCLI("asset", "delete", "opera"); s.code != 5 || !strings.Contains(s.err, "story gala revision 1 of robots r1") {
			w.t.Errorf("deleting what r1 plays: status %d\n%s", s.code, s.err)
		}
	})
}

func TestLargeSoundIsFetchedOverTLSWithTheRobotsCertificate(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	s.enrol("r1")
	s.runEnrolledRobot("r1")
	s.awaitPresenceStatus("r1", "online")
	folder, sound := s.writeStoryWithSound()
	s.mustRunCLI("story", "publish", "-f", folder)
	if out := s.mustRunCLI("story", "assign", "gala", "r1", "--wait"); !strings.Contains(out, "fulfilled") {
		t.Errorf("assign prints\n%s", out)
	}
	if got, err := os.ReadFile(s.assetPath("r1", sound)); err != nil || !bytes.Equal(got, sound) {
		t.Errorf("the robot has %d bytes of %d, %v", len(got), len(sound), err)
	}
}
