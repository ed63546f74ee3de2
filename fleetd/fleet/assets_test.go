package fleet_test

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/fleet"
	"troupe/schema"
	"troupe/schema/score"
)

// soundOf makes a sound of that many bytes, at least those of its header and one sample, repeating the text.
func soundOf(text string, size int) string {
	return ("RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x01\x00\x00\x00" +
		strings.Repeat(text, size/len(text)+1))[:max(size, 45)]
}

func digestOf(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// ring puts a sound as gong and publishes a story that plays it.
func (w *world) ring(story, body string) (up api.Uploaded) {
	w.Helper()
	w.must("PUT", "/assets/gong?by=ann", body, &up)
	w.must("PUT", "/acts/ring", "act: ring\nactions:\n- {type: sound, start_ms: 0, timeout_ms: 900, sound: gong}\n", nil, "If-Match", "*")
	w.must("POST", "/acts/ring/publish", audit.Attribution{}, nil)
	w.must("PUT", "/stories/"+story, "story: "+story+"\nname: {en: Ring}\nrepeat: loop\nacts:\n- {act: ring}\n", nil, "If-Match", "*")
	w.must("POST", "/stories/"+story+"/publish", audit.Attribution{}, nil)
	return up
}

// bytesOf gets bytes by their digest.
func (w *world) bytesOf(digest string, headers ...string) (int, string, http.Header) {
	w.Helper()
	r := httptest.NewRequest("GET", api.Prefix+api.FilesPath+digest, nil)
	r.Host = "localhost"
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	w.Handler().ServeHTTP(answer, r)
	return answer.Code, answer.Body.String(), answer.Result().Header
}

func TestSoundOverTheAPI(t *testing.T) {
	onBoth(t, func(w *world) {
		w.robot("r1")
		first, second := soundOf("first", 600_000), soundOf("second", 1000)
		up := w.ring("ringing", first)
		if up.Unchanged || up.Asset.SHA256 != digestOf(first) || up.Asset.Size != 600_000 || up.Asset.Kind != "sound" ||
			up.Asset.Media != "audio/wav" || up.Asset.By != "ann" {
			w.Errorf("it was put as %+v", up)
		}
		w.assign("ringing", "r1")
		w.converged("r1")
		w.must("PUT", "/assets/gong", second, &up)
		if up.Unchanged || !slices.Equal(up.Stale, []string{"ringing"}) {
			w.Errorf("other bytes were put as %+v", up)
		}
		w.must("PUT", "/assets/gong", second, &up)
		if !up.Unchanged {
			w.Errorf("the same bytes were put as %+v", up)
		}
		var list struct{ Assets []api.Asset }
		w.must("GET", "/assets", nil, &list)
		if len(list.Assets) != 1 || list.Assets[0].SHA256 != digestOf(second) || len(list.Assets[0].Uses) != 1 {
			w.Fatalf("listed are %+v", list)
		}
		if u := list.Assets[0].Uses[0]; u.Story != "ringing" || u.Rev != 1 || !u.Newest || !slices.Equal(u.Robots, []string{"r1"}) {
			w.Errorf("it is used by %+v", u)
		}

		// The published story has the bytes that it was published with, and they are got.
		status, blob := request(w.T, w.Handler(), "GET", "/stories/ringing/revisions/1", nil)
		b, problems := score.ParsePublishedStory(blob)
		if status != 200 || len(problems) > 0 || len(b.Assets) != 1 || b.Assets[0] != (score.Asset{Name: "gong", Kind: score.AssetSound,
			SHA256: digestOf(first), Size: 600_000}) {
			w.Fatalf("published is %s: %v", blob, problems)
		}
		code, body, header := w.bytesOf(b.Assets[0].SHA256)
		if code != 200 || body != first || header.Get("Content-Type") != "audio/wav" || header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'; ") ||
			!strings.HasSuffix(header.Get("Content-Security-Policy"), "; sandbox") || header.Get("Content-Disposition") != "attachment" {
			w.Errorf("%d, %d bytes, %v", code, len(body), header)
		}
		code, body, header = w.bytesOf(digestOf(first), "Range", "bytes=300000-")
		if code != 206 || body != first[300_000:] || header.Get("Content-Range") != "bytes 300000-599999/600000" {
			w.Errorf("a part: %d, %d bytes, %v", code, len(body), header)
		}
		if code, body, _ := w.bytesOf(digestOf(second)); code != 200 || body != second {
			w.Errorf("%d, %d bytes of the other", code, len(body))
		}

		// Without a story that uses it, it may go; what was published stays whole.
		w.must("DELETE", "/stories/ringing?expected_stories=1&expected_robots=1&clear=ringing", nil, nil)
		w.must("DELETE", "/assets/gong?by=ann&why=worn", nil, nil)
		if p := w.ask("GET", "/assets/gong", nil, nil); p == nil || !p.Of(api.KindNotFound) {
			w.Errorf("after its deletion: %v", p)
		}
		if code, body, _ := w.bytesOf(digestOf(first)); code != 200 || body != first {
			w.Errorf("%d, %d bytes of what was published", code, len(body))
		}
	})
}

func TestSmallSoundIsABlobAndLargeOneIsNot(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		small, large := soundOf("small", 256<<10), soundOf("large", 256<<10+1)
		ear := w.broker.Load().Client(w.T, "fleetd")
		ear.Subscribe("troupe/v1/blobs/+")
		w.ring("ringing", small)
		w.assign("ringing", "r1")
		w.converged("r1")
		ear.ExpectThat("troupe/v1/blobs/"+digestOf(small), func(m brokertest.Message) bool { return string(m.Payload) == small })
		w.ring("ringing", large)
		w.assign("ringing", "r1")
		w.until("revision 2", func() bool { d, _ := w.Robot("r1"); return d.Desired.Converged && d.Desired.Active.Rev == 2 })
		if received := ear.Inbox("troupe/v1/blobs/" + digestOf(large)); len(received) > 0 {
			w.Errorf("%d messages have the large one", len(received))
		}
	})
}

func TestSoundThatNoRobotHasIsAWarning(t *testing.T) {
	inWorld(t, func(w *world) {
		doubts := func() (found []string) {
			v := w.validate(api.SourceText{Kind: "act", Text: "act: x\nactions:\n- {type: sound, start_ms: 0, timeout_ms: 900, sound: gonk}\n"})[0]
			for _, p := range v.Problems {
				found = append(found, fmt.Sprint(p.Severity, " ", p.Pointer, " ", p.Code, ": ", p.Hint))
			}
			if !v.Valid {
				w.Errorf("it may not be published: %v", v.Problems)
			}
			return found
		}
		if found := doubts(); len(found) > 0 {
			w.Errorf("nothing is known of any robot, and %q is doubted", found)
		}
		r := w.robot("r1")
		was, _ := schema.Decode[schema.Caps](w.Document("r1", schema.TopicCaps))
		caps, err := schema.Encode(schema.Caps{
			TS: was.TS, Session: was.Session, Robot: was.Robot, Software: schema.CapsSoftware{Robotd: "x", Protocol: []string{"1.0"}},
			Verbs: was.Verbs, Points: []string{}, Languages: []string{},
			Handlers: []string{}, Interrupters: []string{}, Notes: []string{},
			Units: []schema.Unit{{ID: "speaker", Kind: schema.UnitSpeaker, Sounds: []string{"chime"}}},
		})
		if err != nil {
			w.Fatal(err)
		}
		r.Raw(schema.TopicCaps, string(caps))
		w.until("its sounds are known", func() bool { return len(doubts()) == 1 })
		if found := doubts(); found[0] != "warning /actions/0/sound not_in_catalogue: upload it under this name: fleetd asset put FILE "+
			"--name NAME" {
			w.Errorf("found %q", found)
		}
		w.must("PUT", "/assets/gong", soundOf("x", 20), nil)
		if found := doubts(); !strings.HasSuffix(found[0], "or write gong") {
			w.Errorf("found %q", found)
		}
		w.must("PUT", "/assets/gonk", soundOf("x", 20), nil)
		if found := doubts(); len(found) > 0 {
			w.Errorf("there is an asset, and found is %q", found)
		}
	})
}

func TestOnlyRobotsOfTheFleetGetFilesAtTheRobotAddress(t *testing.T) {
	onBothInRealTime(t, func(w *world) {
		gong := soundOf("gong", 700_000)
		w.must("PUT", "/assets/gong", gong, nil)
		e := newEnrollee(w, "r7", map[string]any{})
		first, p := e.enrol()
		if p != nil {
			w.Fatal(p)
		}
		get := func(method, path string) (int, string) {
			w.Helper()
			client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
				InsecureSkipVerify: true,
				GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					if e.certificate == nil {
						return &tls.Certificate{}, nil
					}
					return e.certificate, nil
				},
			}}}
			r, err := http.NewRequest(method, e.url+api.Prefix+path, nil)
			if err != nil {
				w.Fatal(err)
			}
			answer, err := client.Do(r)
			if err != nil {
				w.Fatal(err)
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				w.Fatal(err)
			}
			return answer.StatusCode, string(body)
		}
		refused := func(when, says string) {
			w.Helper()
			code, body := get("GET", api.FilesPath+digestOf(gong))
			var p api.Problem
			if err := json.Unmarshal([]byte(body), &p); err != nil || code != http.StatusForbidden || !p.Of(api.KindCertificate) ||
				!strings.Contains(p.Detail, says) {
				w.Errorf("%s: %d %.200s", when, code, body)
			}
		}
		refused("without a certificate", "no client certificate")
		e.useCertificate(first)
		if code, body := get("GET", api.FilesPath+digestOf(gong)); code != http.StatusOK || body != gong {
			w.Errorf("with one: %d, %d bytes", code, len(body))
		}
		for _, path := range []string{"/assets", "/assets/gong", "/robots", "/assets/sha256/../gong"} {
			if code, _ := get("GET", path); code != http.StatusNotFound {
				w.Errorf("%s: %d", path, code)
			}
		}
		if code, _ := get("DELETE", "/assets/gong"); code != http.StatusNotFound {
			w.Errorf("a robot deletes: %d", code)
		}
		w.must("POST", "/robots/r7/revoke", api.RevokeRequest{Attribution: audit.Attribution{Who: "ann", Why: "stolen"}}, nil)
		refused("revoked", "revoked")
	}, keyed(t))
}

func TestUnusedBlobIsRemovedFromTheBroker(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		gong := soundOf("gong", 1000)
		w.ring("ringing", gong)
		w.assign("ringing", "r1")
		w.converged("r1")
		topic := "troupe/v1/blobs/" + digestOf(gong)
		kept := func() bool {
			ear := w.broker.Load().Client(w.T, "fleetd")
			defer ear.Close()
			ear.Subscribe(topic)
			w.sleep(time.Second)
			return len(ear.Inbox(topic)) > 0
		}
		if !kept() {
			w.Fatal("the broker does not keep the sound")
		}
		w.sleep(150 * time.Second)
		if !kept() {
			w.Fatal("fleetd removed a sound from the broker that r1 needs")
		}
		w.assign("", "r1")
		w.sleep(45 * time.Second)
		if !kept() {
			w.Error("it was forgotten too early")
		}
		w.sleep(75 * time.Second)
		if kept() {
			w.Error("it is still kept long after the last desired state for it")
		}
		w.assign("ringing", "r1")
		w.converged("r1")
		if !kept() {
			w.Error("it was not published again")
		}
	}, func(c *fleet.Config) { c.KeepUnused = time.Minute })
}
