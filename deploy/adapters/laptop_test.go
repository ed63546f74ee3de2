package adapters

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"troupe/deploy/mosquittotest"
)

// laptop starts the laptop's adapter with these programs, each a line of shell, in its PATH, and
// returns the address of its page.
func (r *robotd) laptop(programs map[string]string) (p *process, page string) {
	r.t.Helper()
	folder := r.t.TempDir()
	for name, line := range programs {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+line+"\n"), 0o700); err != nil {
			r.t.Fatal(err)
		}
	}
	cmd := exec.Command(mosquittotest.PythonWithPaho(r.t), "-B", "laptop/laptop.py", "--bus", r.url, "--page", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "PATH="+folder)
	p = r.start(cmd)
	page = strings.TrimPrefix(p.await("face "), "face ")
	r.await("the laptop's state", func(s seen) bool { return s.presence.Present && s.units["speaker"].State == "idle" })
	return p, page
}

// shown is what the page shows.
type shown struct {
	Face, Said, Note string
	Screen           struct {
		Text    string
		Choices []struct{ ID, Text string }
	}
}

// look opens the page's stream and returns what is shown as soon as it is as wanted.
func look(t *testing.T, page, what string, holds func(shown) bool) {
	t.Helper()
	answer, err := http.Get(page + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var now shown
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if now = (shown{}); json.Unmarshal([]byte(data), &now) != nil {
			t.Fatalf("the page sends %s", data)
		}
		if holds(now) {
			return
		}
	}
	t.Fatalf("the page did not show %s, but %+v", what, now)
}

func say(key int, text string) string {
	return fmt.Sprintf(`{"v":1,"key":%d,"unit":"speaker","holds":true,"text":%q,"do":{"type":"say","start_ms":0,"timeout_ms":9000,"text":{"de":%[2]q}}}`, key, text)
}

func TestLaptopSpeaksAndPlays(t *testing.T) {
	t.Parallel()
	r := newRobotd(t)
	played := filepath.Join(t.TempDir(), "played")
	_, page := r.laptop(map[string]string{
		"espeak-ng": `echo "$2 $(/bin/cat)"`, // -v LANGUAGE
		"aplay":     "/bin/cat >> " + played,
	})
	r.publish("bus/laptop/in/start", say(1, "Guten Tag"))
	r.await("the end of the speech", func(s seen) bool { return len(s.events) == 1 })
	r.publish("bus/laptop/in/start", `{"v":1,"key":2,"unit":"speaker","holds":true,"do":{"type":"sound","start_ms":0,"timeout_ms":9000,"sound":"chime"}}`)
	r.await("the end of the sound", func(s seen) bool { return len(s.events) == 2 })
	r.wantAnswers("done", "done")
	text, err := os.ReadFile(played)
	if err != nil {
		t.Fatal(err)
	}
	if speech, sound, _ := strings.Cut(string(text), "\n"); speech != "de Guten Tag" || !strings.HasPrefix(sound, "RIFF") {
		t.Errorf("aplay got %q and %d bytes that begin with %q", speech, len(sound), sound[:min(4, len(sound))])
	}
	look(t, page, "no note", func(s shown) bool { return s.Note == "" && s.Said == "" })
}

func TestLaptopPlaysARecordingToItsEnd(t *testing.T) {
	t.Parallel()
	const seconds, rate = 20, 8000
	// file is a WAV file of equal samples.
	file := func(sample ...byte) []byte {
		wav := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(36+len(sample)*seconds*rate))
		wav = append(wav, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00"...)
		wav = binary.LittleEndian.AppendUint32(wav, uint32(len(sample)*rate))
		wav = append(wav, byte(len(sample)), 0, byte(8*len(sample)), 0)
		wav = binary.LittleEndian.AppendUint32(append(wav, "data"...), uint32(len(sample)*seconds*rate))
		return append(wav, bytes.Repeat(sample, seconds*rate)...)
	}
	for name, c := range map[string]struct{ sample, half []byte }{
		"8 bits":  {[]byte{130}, []byte{0, 1}},
		"16 bits": {[]byte{200, 0}, []byte{100, 0}},
		"24 bits": {[]byte{99, 200, 0}, []byte{100, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			recording, played := filepath.Join(folder, "recording"), filepath.Join(folder, "played")
			if err := os.WriteFile(recording, file(c.sample...), 0o600); err != nil {
				t.Fatal(err)
			}
			r := newRobotd(t)
			r.laptop(map[string]string{"espeak-ng": "exit 1", "aplay": "/bin/cat > " + played})
			r.publish("bus/laptop/in/start", fmt.Sprintf(`{"v":1,"key":1,"unit":"speaker","holds":true,"asset":%q,"do":{"type":"sound","start_ms":0,"timeout_ms":9000,"sound":"long","volume":0.5}}`, recording))
			r.await("the end of the sound", func(s seen) bool { return len(s.events) == 1 })
			r.wantAnswers("done")
			got, err := os.ReadFile(played)
			if want := file(c.half...); err != nil || !bytes.Equal(got, want) {
				t.Errorf("aplay got %d bytes that begin with %q, want %d of half the volume: %v", len(got), got[:min(60, len(got))], len(want), err)
			}
		})
	}
}

func TestLaptopWithoutSoundShowsTheText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		programs map[string]string
		says     string
	}{
		"no programs":     {nil, "espeak-ng is missing (Debian's package espeak-ng)"},
		"no sound device": {map[string]string{"espeak-ng": "echo x", "aplay": "exit 1"}, "aplay failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRobotd(t)
			_, page := r.laptop(c.programs)
			r.publish("bus/laptop/in/start", say(1, "Guten Tag"))
			look(t, page, "the text and why there is no sound", func(s shown) bool {
				return s.Said == "Guten Tag" && strings.Contains(s.Note, c.says)
			})
			r.await("the end of the speech", func(s seen) bool { return len(s.events) == 1 })
			r.wantAnswers("done")
		})
	}
}

func TestLaptopPageShowsAFaceAndTakesWhatPeopleDo(t *testing.T) {
	t.Parallel()
	r := newRobotd(t)
	_, page := r.laptop(nil)
	r.publish("bus/laptop/in/start", `{"v":1,"key":1,"unit":"face","do":{"type":"face","start_ms":0,"face":"wink"}}`)
	r.publish("bus/laptop/in/start", `{"v":1,"key":2,"unit":"screen","holds":true,"text":"Again?","choices":["Yes","No"],"do":{"type":"screen","start_ms":0,"timeout_ms":9000,"text":{"en":"Again?"},"choices":[{"id":"y","text":{"en":"Yes"}},{"id":"n","text":{"en":"No"}}]}}`)
	look(t, page, "the face and the choices", func(s shown) bool {
		return s.Face == "wink" && s.Screen.Text == "Again?" && len(s.Screen.Choices) == 2 && s.Screen.Choices[1].Text == "No"
	})
	post := func(body, origin string) int {
		t.Helper()
		request, err := http.NewRequest(http.MethodPost, page+"input", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Origin", origin)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	if status := post(`{"choice":"y"}`, "http://elsewhere.example"); status != http.StatusForbidden {
		t.Errorf("another page's choice was answered with %d", status)
	}
	for _, body := range []string{`{"touch":true}`, `{"choice":"n"}`} {
		if status := post(body, strings.TrimSuffix(page, "/")); status != http.StatusOK {
			t.Errorf("%s was answered with %d", body, status)
		}
	}
	r.await("the touch and the choice", func(s seen) bool {
		return slices.ContainsFunc(s.events, func(e event) bool { return e.Kind == "sensed" }) &&
			slices.ContainsFunc(s.events, func(e event) bool { return e.Kind == "done" && e.Key == 2 && e.Choice == "n" })
	})
	for _, path := range []string{"", "face.css", "face.js"} {
		answer, err := http.Get(page + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if policy := answer.Header.Get("Content-Security-Policy"); answer.StatusCode != http.StatusOK ||
			!strings.Contains(policy, "default-src 'self'") {
			t.Errorf("/%s was answered with %s and the policy %q", path, answer.Status, policy)
		}
	}
}
