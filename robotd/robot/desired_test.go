package robot

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// desired retains a desired document.
func (s *stand) desired(kind string, d any) {
	s.Helper()
	text, err := schema.Encode(d)
	if err != nil {
		s.Fatal(err)
	}
	s.fleetd.Retain("troupe/v1/robots/r1/desired/"+kind, string(text))
}

// reported waits for a reported document that holds.
func reported[T any](s *stand, kind string, holds func(T) bool) {
	s.Helper()
	s.op.ExpectThat("troupe/v1/robots/r1/reported/"+kind, func(m brokertest.Message) bool {
		d, problems := schema.Decode[T](m.Payload)
		return len(problems) == 0 && holds(d)
	})
}

// slowBlobs dials the broker; the connection for blobs is extremely slow while slow is set.
type slowBlobs struct {
	dial func(context.Context) (net.Conn, error)
	slow atomic.Bool
	seen atomic.Int64 // connections for blobs
}

func (d *slowBlobs) Dial(ctx context.Context) (net.Conn, error) {
	c, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	return &slowConn{Conn: c, of: d}, nil
}

type slowConn struct {
	net.Conn
	of    *slowBlobs
	blobs atomic.Bool
}

func (c *slowConn) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("r1.blob")) && !c.blobs.Swap(true) {
		c.of.seen.Add(1)
	}
	return c.Conn.Write(b)
}

func (c *slowConn) Read(b []byte) (int, error) {
	if c.blobs.Load() && c.of.slow.Load() {
		time.Sleep(100 * time.Millisecond)
		b = b[:min(len(b), 256)]
	}
	return c.Conn.Read(b)
}

// ring is a story with a sound of that size.
func (s *stand) ring(rev int64, size int) (file score.Asset) {
	s.Helper()
	return s.ringAgain(rev, rev, size)
}

// ringAgain publishes a desired document for that revision of the story, with its own rev.
func (s *stand) ringAgain(number, rev int64, size int) (file score.Asset) {
	s.Helper()
	sound := soundOf(rev, size)
	sum := sha256.Sum256(sound)
	file = score.Asset{Name: "gong", Kind: score.AssetSound, SHA256: hex.EncodeToString(sum[:]), Size: int64(size)}
	act := score.Act{ID: "ring", Actions: []score.Action{{TimeoutMS: ptr[int64](2000), Do: score.Sound{Sound: "gong"}}}}
	story := score.Story{ID: "ring", Name: score.Text{"en": "Ring"}, Repeat: score.Repeat{Loop: true}, Acts: []score.Step{{Act: "ring"}}}
	data, digest, err := score.EncodePublishedStory(story, map[string]score.Act{"ring": act}, rev, file)
	if err != nil {
		s.Fatal(err)
	}
	s.fleetd.Retain("troupe/v1/blobs/"+digest, string(data))
	if file.IsBlob() {
		s.fleetd.Retain("troupe/v1/blobs/"+file.SHA256, string(sound))
	}
	s.desired("story", &schema.DesiredStory{Rev: number, FleetID: "fleetd", Apply: schema.ApplyNow, TS: 1,
		Story: &schema.ContentPin{ID: "ring", Rev: rev, SHA256: digest, Size: int64(len(data))}})
	return file
}

func soundOf(rev int64, size int) []byte { return bytes.Repeat([]byte{byte(rev)}, size) }

func TestSlowBlobDelaysNeitherHeartbeatNorStop(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.op.Subscribe("troupe/v1/robots/r1/heartbeat")
		way := &slowBlobs{dial: s.broker.Dial}
		s.boot(func(c *Config) { c.Dial = way.Dial })
		s.mode(schema.ModeMnl)
		s.must("safety/enable", "")
		if n := way.seen.Load(); n != 0 {
			t.Errorf("%d connections for blobs, and nothing is wanted", n)
		}
		way.slow.Store(true)
		gong := s.ring(1, 200<<10)
		reported(s, "story", func(r schema.ReportedStory) bool {
			return r.Phase == schema.DeployFetching && r.Progress != nil && r.Fetching == gong.SHA256
		})
		// Three minutes in which the blob hardly advances.
		var beats int
		last := time.Now()
		for began := time.Now(); time.Since(began) < 3*time.Minute; {
			s.op.Expect("troupe/v1/robots/r1/heartbeat")
			if beats++; time.Since(last) > 4*time.Second {
				t.Fatalf("%v without a heartbeat", time.Since(last))
			}
			last = time.Now()
		}
		asked := time.Now()
		s.must("safety/stop", "")
		if took := time.Since(asked); took > time.Second {
			t.Errorf("a stop took %v while a blob is on its way", took)
		}
		way.slow.Store(false)
		reported(s, "story", func(r schema.ReportedStory) bool {
			return r.Phase == schema.DeployActive && r.DesiredRev == 1 && r.SelfCheck == schema.SelfCheckPassed
		})
		if _, err := os.Stat(filepath.Join(s.dir, assetsDir, gong.SHA256)); err != nil {
			t.Errorf("the sound cannot be read by the body: %v", err)
		}
		s.must("mode/set", `{"mode":"ato"}`)
		s.state("the sound was played", func(d schema.State) bool {
			return len(d.Queue.Completed) > 0 && d.Queue.Completed[0] == "ring" && len(d.Queue.Failed) == 0
		})
		before := way.seen.Load()
		time.Sleep(10 * time.Minute)
		if n := way.seen.Load(); n != before {
			t.Errorf("%d connections for blobs were opened with nothing wanted", n-before)
		}
		s.shutDown()
	})
}

func TestConfigurationAppliesAfterRestartWithoutNetwork(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.boot(func(c *Config) { c.LocalOnly = []string{"heartbeat_ms"} })
		s.mode(schema.ModeMnl)
		d, problems := schema.Decode[schema.DesiredConfig]([]byte(`{"rev":1,"fleet_id":"fleetd","ts":"2026-01-01T00:00:00.000Z","values":
			{"labels":{"site":"museum"},"languages":["de"],"link_loss.ato":"continue","heartbeat_ms":1000,"probation_ms":"10s"}}`))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		s.desired("config", &d)
		reported(s, "config", func(r schema.ReportedConfig) bool {
			return r.DesiredRev == 1 && r.Phase == schema.DeployActive && len(r.Applied) == 2 && len(r.Rejected) == 2 && len(r.RestartNeeded) == 1 &&
				r.RestartNeeded[0] == "languages"
		})
		s.desired("mode", &schema.DesiredMode{Rev: 1, FleetID: "fleetd", Mode: schema.ModeStr, Apply: schema.ApplyModeNow, TS: 1})
		reported(s, "mode", func(r schema.ReportedMode) bool { return r.DesiredRev == 1 && r.Phase == schema.DeployActive })
		s.shutDown()

		s.broker = brokertest.Start(t, brokertest.InProcess) // an empty one
		s.op = s.broker.Client(t, "op1")
		s.op.Subscribe("troupe/v1/robots/+/state", "troupe/v1/robots/+/caps", "troupe/v1/robots/+/reported/+")
		s.boot()
		s.op.ExpectThat("troupe/v1/robots/r1/caps", func(m brokertest.Message) bool {
			c, _ := schema.Decode[schema.Caps](m.Payload)
			return c.Labels["site"] == "museum" && strings.Join(c.Languages, " ") == "de"
		})
		reported(s, "config", func(r schema.ReportedConfig) bool {
			return r.DesiredRev == 1 && len(r.RestartNeeded) == 0 && len(r.Applied) >= 3
		})
		s.mode(schema.ModeMnl) // start-up does not end in start-up, whatever was desired
		s.shutDown()
	})
}

func TestRobotGoesToPlacesOfTheFleet(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.op.Subscribe("troupe/v1/robots/r1/caps")
		s.boot()
		s.mode(schema.ModeMnl)
		data, sum, err := score.EncodePlaces(nil, map[string]score.Point{"snapshot": {XM: 0.5, YM: 0.5}})
		if err != nil {
			t.Fatal(err)
		}
		s.fleetd.Retain("troupe/v1/blobs/"+sum, string(data))
		s.desired("places", &schema.DesiredSet{Rev: 1, FleetID: "fleetd", TS: 1, Set: &schema.ContentPin{ID: "hall", Rev: 1, SHA256: sum,
			Size: int64(len(data))}})
		reported(s, "places", func(r schema.ReportedSet) bool {
			return r.Phase == schema.DeployActive && r.Active != nil && r.Active.ID == "hall"
		})
		s.op.ExpectThat("troupe/v1/robots/r1/caps", func(m brokertest.Message) bool { return strings.Contains(string(m.Payload), `"snapshot"`) })
		s.publish(1, score.Act{ID: "fetch", Actions: []score.Action{{TimeoutMS: ptr[int64](60000), Do: score.Goto{Point: "snapshot"}}}})
		s.must("safety/enable", "")
		s.must("mode/set", `{"mode":"ato"}`)
		time.Sleep(30 * time.Second)
		if l := s.body.Snapshot(); l.X < 0.4 || l.X > 0.6 || l.Y < 0.4 || l.Y > 0.6 {
			t.Errorf("the robot went to %v, %v", l.X, l.Y)
		}
		s.shutDown()
	})
}

func TestRobotTrustsTheKeysOfItsDataDirectory(t *testing.T) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		keys := "# fleetd\n" + sign.PublicKey(sign.SignsDesired, key).String() + "\n\n"
		if err := os.WriteFile(filepath.Join(s.dir, trustFile), []byte(keys), 0o600); err != nil {
			t.Fatal(err)
		}
		var log strings.Builder // written by the loop, read after it ended
		s.boot(func(c *Config) {
			c.Signing, c.Logger = sign.Require, slog.New(slog.NewTextHandler(&log, nil))
		})
		s.mode(schema.ModeMnl)
		d := schema.DesiredMode{Rev: 1, FleetID: "fleetd", Mode: schema.ModeMnl, Apply: schema.ApplyModeNow, TS: 1}
		s.desired("mode", &d)
		reported(s, "mode", func(r schema.ReportedMode) bool {
			return r.Phase == schema.DeployRejected && r.Reason == schema.ReasonBadSignature && r.FleetID == ""
		})
		d.Counter = 1
		sig, err := (&sign.Signer{Key: key}).Sign(sign.Mode, "r1", d)
		if err != nil {
			t.Fatal(err)
		}
		d.Sig = sig
		s.desired("mode", &d)
		reported(s, "mode", func(r schema.ReportedMode) bool {
			return r.Phase == schema.DeployActive && r.FleetID == "fleetd"
		})
		stranger := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
		d.Rev, d.Counter, d.Sig = 2, 2, nil
		if d.Sig, err = (&sign.Signer{Key: stranger}).Sign(sign.Mode, "r1", d); err != nil {
			t.Fatal(err)
		}
		s.desired("mode", &d)
		reported(s, "mode", func(r schema.ReportedMode) bool { return r.Phase == schema.DeployRejected })
		s.shutDown()
		var said bool
		for line := range strings.Lines(log.String()) {
			said = said || strings.Contains(line, "level=WARN") && strings.Contains(line, "key "+d.Sig.Key+" is not trusted") &&
				strings.Contains(line, "--trust-key")
		}
		if !said {
			t.Errorf("the log does not say which key was refused, and what to do:\n%s", log.String())
		}
	})
}

func TestUnreadableTrustedKeysPreventTheStart(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, trustFile), []byte("desired:nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, "", "--id", "r1", "--data", dir); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a damaged file of keys: %v", err)
	}
	if _, err := load(t, "", "--id", "r1", "--data", t.TempDir(), "--signing", "require"); err == nil ||
		!strings.Contains(err.Error(), "no key is trusted") {
		t.Errorf("signing is required and no key is trusted: %v", err)
	}
	cfg, err := load(t, "signing: warn\nprobation: 20s\n", "--id", "r1", "--data", t.TempDir(), "--probation", "30s", "--link-loss-ato",
		"continue")
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Signing != sign.Warn || cfg.Probation != 30*time.Second || strings.Join(cfg.LocalOnly, " ") != "link_loss.ato probation_ms" {
		t.Errorf("signing %s, probation %v, pinned %v", cfg.Signing, cfg.Probation, cfg.LocalOnly)
	}
}
