package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/profile"
)

// fake is a robot that answers as the test says.
type fake struct {
	view     View
	silent   bool
	answers  map[string]schema.Ack
	asked    []string
	args     []any
	beats    int
	released int
}

func (f *fake) View(context.Context) (View, error) {
	if f.silent {
		return View{}, ErrSilent
	}
	return f.view, nil
}

func (f *fake) Ask(_ context.Context, verb string, args any) (schema.Ack, error) {
	f.asked, f.args = append(f.asked, verb), append(f.args, args)
	if f.silent {
		return schema.Ack{}, ErrSilent
	}
	if a, ok := f.answers[verb]; ok {
		return a, nil
	}
	return schema.Ack{Status: schema.StatusSucceeded}, nil
}

func (f *fake) ReleaseStops(context.Context) error {
	f.released++
	f.view.State = &schema.State{}
	return nil
}

func (f *fake) Heartbeat(context.Context) { f.beats++ }

// standing is a robot in mnl that nothing holds.
func standing() *fake {
	return &fake{view: View{
		Snapshot: effect.Snapshot{
			State: &schema.State{Safety: schema.StateSafety{State: schema.SafetyDisabled},
				Mode: schema.StateMode{Active: schema.ModeMnl, Intended: schema.ModeMnl, Phase: schema.PhaseRunning},
				Link: schema.StateLink{State: schema.LinkUp}},
			Modes: []schema.Mode{
				{ID: schema.ModeMnl, Selectable: true, LinkTimeoutMS: 5000},
				{ID: schema.ModeAto, WhyNot: []schema.WhyNot{{Reason: schema.ReasonNoDefaultStory, Detail: "no story <b>yet</b>"}}},
			},
			Caps: &schema.Caps{Units: []schema.Unit{{ID: "face", Kind: schema.UnitFace, Faces: []string{"smile"}},
				{ID: "speaker", Kind: schema.UnitSpeaker}}},
			Mono: 4132 * time.Millisecond, Boot: "boot-1", Volume: 0.4,
		},
	}}
}

// site is the page of a fake robot and a browser that does not follow redirects.
type site struct {
	*testing.T
	robot  *fake
	server *Server
	url    string
	data   string
	now    time.Time
	http.Client
}

func open(t *testing.T, f *fake) *site {
	s := &site{T: t, robot: f, data: t.TempDir(), now: time.Now()}
	own, err := New(Config{ID: "r1", Data: s.data, Hosts: []string{"r1.museum.example"}, Broker: "mqtt://b", Robot: f,
		Now: func() time.Time { return s.now }, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(own)
	t.Cleanup(server.Close)
	s.server, s.url = own, server.URL
	s.Jar, _ = cookiejar.New(nil)
	s.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return s
}

func (s *site) send(method, path, form string, edit ...func(*http.Request)) (status int, body string, header http.Header) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(form))
	if err != nil {
		s.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, e := range edit {
		e(r)
	}
	a, err := s.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		s.Fatal(err)
	}
	return a.StatusCode, string(text), a.Header
}

func (s *site) password() string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.data, PasswordFile))
	if err != nil {
		s.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func (s *site) signIn() *site {
	s.Helper()
	if status, body, _ := s.send("POST", "/sign-in", "password="+s.password()); status != http.StatusSeeOther {
		s.Fatalf("signing in was answered %d: %s", status, body)
	}
	return s
}

// shows checks that the page holds each of these texts.
func (s *site) shows(texts ...string) {
	s.Helper()
	status, body, _ := s.send("GET", "/", "")
	for _, text := range texts {
		if !strings.Contains(body, text) {
			s.Errorf("answered %d, and %q is not on the page:\n%s", status, text, body)
		}
	}
}

func TestOnlyWhoKnowsThePasswordGetsIn(t *testing.T) {
	s := open(t, standing())
	info, err := os.Stat(filepath.Join(s.data, PasswordFile))
	if err != nil || info.Mode().Perm() != 0o600 || len(s.password()) < 16 {
		t.Fatalf("the file of the password: %v, %v", info, err)
	}
	for _, path := range []string{"/do/stop", "/do/enable"} {
		if status, _, h := s.send("POST", path, ""); status != http.StatusSeeOther ||
			h.Get("Location") != "/sign-in?not-sent="+strings.TrimPrefix(path, "/do/") {
			t.Errorf("%s without a session was answered %d", path, status)
		}
	}
	if status, body, _ := s.send("POST", "/sign-in", "password=wrong"); status != http.StatusForbidden ||
		!strings.Contains(body, "not the password") {
		t.Errorf("a wrong password was answered %d: %s", status, body)
	}
	if s.robot.beats > 0 || len(s.robot.asked) > 0 {
		t.Errorf("people who are not signed in: %d heartbeats, commands %v", s.robot.beats, s.robot.asked)
	}
	_, _, h := s.send("POST", "/sign-in", "password="+s.password())
	if c := h.Get("Set-Cookie"); !strings.Contains(c, "HttpOnly") || !strings.Contains(c, "SameSite=Strict") {
		t.Errorf("the cookie is %s", c)
	}
	s.shows("kept stopped")
	if s.robot.beats != 1 {
		t.Errorf("one view counts as %d heartbeats", s.robot.beats)
	}
	s.now = s.now.Add(sessionLife)
	if status, _, _ := s.send("GET", "/", ""); status != http.StatusSeeOther {
		t.Errorf("after %v the session still counts: %d", sessionLife, status)
	}
	s.signIn().send("POST", "/sign-out", "")
	if status, _, _ := s.send("GET", "/", ""); status != http.StatusSeeOther {
		t.Errorf("after signing out the page is answered %d", status)
	}
}

func TestProfilesAreServedOnlyWithPprof(t *testing.T) {
	for pprof, want := range map[bool]int{false: http.StatusNotFound, true: http.StatusOK} {
		own, err := New(Config{
			ID: "r1", Data: t.TempDir(), Robot: standing(), Pprof: pprof, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		for host, want := range map[string]int{"localhost:8090": want, "evil.example:8090": http.StatusMisdirectedRequest} {
			answer := httptest.NewRecorder()
			own.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://"+host+profile.Path+"heap", nil))
			if answer.Code != want {
				t.Errorf("pprof %v, %s: %d, want %d", pprof, host, answer.Code, want)
			}
		}
	}
}

func TestRobotWithoutBodySaysWhatItWaitsForAndHasOnlyStop(t *testing.T) {
	robot := &fake{}
	s := open(t, robot).signIn()
	robot.view.Waiting = &Waiting{
		For: "adapter <talker> is not there: start it", On: "mqtt://127.0.0.1:1884", Since: s.now.Add(-12 * time.Second),
		Latches: []schema.StopLatch{{ID: "local-a", By: "local", Why: "children"}},
	}
	s.shows("The robot waits for its body", "adapter &lt;talker&gt; is not there: start it",
		"waited for 12 s on <code>mqtt://127.0.0.1:1884</code>", "children", `action="/do/stop"`)
	_, page, _ := s.send("GET", "/", "", func(r *http.Request) { r.Header.Set("Accept-Language", "de") })
	if !strings.Contains(page, "Der Roboter wartet auf seinen Körper") || strings.Contains(page, "/do/enable") ||
		strings.Contains(page, "/do/mode") {
		t.Errorf("the page in German is\n%s", page)
	}
	s.send("POST", "/do/release", "")
	if s.shows("release the stop when it is there"); robot.released > 0 {
		t.Error("a robot without a body released a stop")
	}
}

// A phone that was locked shows the page of a session that is over. A person who presses Stop there must
// learn that the robot was not stopped.
func TestCommandWithoutSessionIsSaidNotToBeSent(t *testing.T) {
	s := open(t, standing())
	for _, action := range actions {
		status, _, h := s.send("POST", "/do/"+action, "")
		if status != http.StatusSeeOther || h.Get("Location") != "/sign-in?not-sent="+action {
			t.Errorf("%s without a session is answered %d, %s", action, status, h.Get("Location"))
		}
	}
	if len(s.robot.asked) > 0 {
		t.Errorf("sent to the robot: %v", s.robot.asked)
	}
	const notSent, field = "<strong>Stop</strong>: not sent", `name="not-sent" value="stop"`
	if _, body, _ := s.send("GET", "/sign-in?not-sent=stop", ""); !strings.Contains(body, notSent) || !strings.Contains(body, field) {
		t.Errorf("to sign in: %s", body)
	}
	if _, body, _ := s.send("POST", "/sign-in", "password=wrong&not-sent=stop"); !strings.Contains(body, notSent) ||
		!strings.Contains(body, field) {
		t.Errorf("after a wrong password: %s", body)
	}
	for _, path := range []string{"/sign-in", "/sign-in?not-sent=dance"} {
		if status, body, _ := s.send("GET", path, ""); status != http.StatusOK || strings.Contains(body, "not sent") ||
			strings.Contains(body, "not-sent") {
			t.Errorf("%s is answered %d: %s", path, status, body)
		}
	}
	if _, _, h := s.send("GET", "/", ""); h.Get("Location") != "/sign-in" {
		t.Errorf("a view without a session leads to %s", h.Get("Location"))
	}
	for _, path := range []string{"/do/dance", "/do/stop%26x"} {
		if _, _, h := s.send("POST", path, ""); h.Get("Location") != "/sign-in" {
			t.Errorf("%s leads to %s", path, h.Get("Location"))
		}
	}
	s.signIn()
	for _, action := range actions {
		if status, _, _ := s.send("POST", "/do/"+action, ""); status != http.StatusSeeOther {
			t.Errorf("there is no button %s: %d", action, status)
		}
	}
}

func TestPageSaysThatAButtonHadNoEffect(t *testing.T) {
	s := open(t, standing()).signIn()
	s.shows(`<p id="not-sent" class="banner" role="alert" hidden><strong></strong>: NOT SENT`)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("%v: install the package nodejs", err)
	}
	out, err := exec.CommandContext(t.Context(), node, "testdata/page_js.mjs", "static/page.js").CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("page.js: %v\n%s", err, out)
	}
}

func TestPasswordCannotBeGuessed(t *testing.T) {
	s := open(t, standing())
	for range addressBurst {
		s.send("POST", "/sign-in", "password=wrong")
	}
	if status, body, _ := s.send("POST", "/sign-in", "password="+s.password()); status != http.StatusTooManyRequests ||
		!strings.Contains(body, "Too many") {
		t.Errorf("attempt %d was answered %d", addressBurst+1, status)
	}
	s.now = s.now.Add(addressInterval)
	s.signIn()
}

// attempt sends a password to /status, or to /sign-in, from an address.
func (s *site) attempt(path, address, password string) (status int) {
	s.Helper()
	r := httptest.NewRequest("GET", path, nil)
	if path == "/sign-in" {
		r = httptest.NewRequest("POST", path, strings.NewReader("password="+password))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	} else {
		r.SetBasicAuth("robotd", password)
	}
	r.Host, r.RemoteAddr = "localhost", address
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, r)
	return w.Code
}

func TestGuessesOfOthersDoNotKeepPeopleFromSigningIn(t *testing.T) {
	const guesser, person = "192.168.1.66:4000", "192.168.1.7:5000"
	for name, path := range map[string]string{"a guesser": "/sign-in", "a monitor with a wrong password": "/status"} {
		s := open(t, standing())
		for range 1000 {
			s.attempt(path, guesser, "wrong")
		}
		if status := s.attempt("/sign-in", guesser, s.password()); status != http.StatusTooManyRequests {
			t.Errorf("%s: the right password is answered %d after the guesses of its own address", name, status)
		}
		if status := s.attempt("/sign-in", person, s.password()); status != http.StatusSeeOther {
			t.Errorf("%s: a person at another address is answered %d", name, status)
		}
	}
}

func TestRequestsThatGuessNothingUseUpNoAttempts(t *testing.T) {
	for name, edit := range map[string]func(*http.Request){
		"without a password":          func(*http.Request) {},
		"with an empty password":      func(r *http.Request) { r.SetBasicAuth("robotd", "") },
		"of a page of another site":   func(r *http.Request) { r.SetBasicAuth("robotd", "x"); r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"of another port of the host": func(r *http.Request) { r.SetBasicAuth("robotd", "x"); r.Header.Set("Origin", "http://127.0.0.1:1") },
	} {
		s := open(t, standing())
		for range 3 * addressBurst {
			if status, _, _ := s.send("GET", "/status", "", edit); status != http.StatusUnauthorized && status != http.StatusForbidden {
				t.Errorf("a request %s is answered %d", name, status)
				break
			}
		}
		if status, body, _ := s.send("POST", "/sign-in", "password="+s.password()); status != http.StatusSeeOther {
			t.Errorf("after requests %s the right password is answered %d: %s", name, status, body)
		}
	}
}

func TestRightPasswordUsesUpNoAttempts(t *testing.T) {
	s := open(t, standing())
	for n := range 10 * commonBurst {
		if status := s.attempt("/status", "192.168.1.7:5000", s.password()); status != http.StatusOK {
			t.Fatalf("request %d of a monitor is answered %d", n+1, status)
		}
	}
	if status := s.attempt("/sign-in", "192.168.1.7:5001", s.password()); status != http.StatusSeeOther {
		t.Errorf("a person at the monitor's address is answered %d", status)
	}
}

func TestGuessesFromManyAddressesAreLimitedTogether(t *testing.T) {
	s := open(t, standing())
	const known = "192.168.1.7:5000"
	if status := s.attempt("/sign-in", known, s.password()); status != http.StatusSeeOther {
		t.Fatalf("signing in is answered %d", status)
	}
	checked := 0
	for n := range 5000 {
		if s.attempt("/sign-in", fmt.Sprintf("10.0.%d.%d:4000", n/250, n%250), "wrong") == http.StatusForbidden {
			checked++
		}
	}
	if checked != commonBurst {
		t.Errorf("%d guesses were compared with the password, want %d", checked, commonBurst)
	}
	if n := len(s.server.attempts.addresses); n > 2*commonBurst {
		t.Errorf("%d addresses are remembered", n)
	}
	for address, want := range map[string]int{
		"192.168.1.8:5000": http.StatusTooManyRequests,
		"127.0.0.1:5000":   http.StatusSeeOther, // the robot's own computer
		"[::1]:5000":       http.StatusSeeOther,
		known:              http.StatusSeeOther, // somebody signed in from it
	} {
		if status := s.attempt("/sign-in", address, s.password()); status != want {
			t.Errorf("from %s the right password is answered %d, want %d", address, status, want)
		}
	}
	for range addressBurst {
		s.attempt("/sign-in", known, "wrong")
	}
	if status := s.attempt("/sign-in", known, "wrong"); status != http.StatusTooManyRequests {
		t.Errorf("an address that is known may guess for ever: %d", status)
	}
	s.now = s.now.Add(sessionLife)
	for n := range commonBurst {
		s.attempt("/sign-in", fmt.Sprintf("10.1.0.%d:4000", n), "wrong")
	}
	if status := s.attempt("/sign-in", known, s.password()); status != http.StatusTooManyRequests {
		t.Errorf("an address is known longer than a session lasts: %d", status)
	}
}

func TestPasswordOfPeopleIsKept(t *testing.T) {
	data := t.TempDir()
	path := filepath.Join(data, PasswordFile)
	if err := os.WriteFile(path, []byte("stage door 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ensurePassword(data); err != nil {
		t.Fatal(err)
	}
	if ok, err := admits(data, "stage door 7"); !ok || err != nil {
		t.Errorf("admitted: %v, %v", ok, err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if ok, _ := admits(data, ""); ok {
		t.Error("an empty file admits everybody")
	}
}

func TestOtherSitesCanDoNothing(t *testing.T) {
	s := open(t, standing()).signIn()
	for name, edit := range map[string]func(*http.Request){
		"a form of another site":  func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"another site's name":     func(r *http.Request) { r.Host = "evil.example" },
		"another port's page":     func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") },
		"a name that is like one": func(r *http.Request) { r.Host = "localhost.evil.example" },
	} {
		if status, _, _ := s.send("POST", "/do/enable", "", edit); status != http.StatusForbidden && status != http.StatusMisdirectedRequest {
			t.Errorf("%s was answered %d", name, status)
		}
	}
	if len(s.robot.asked) > 0 {
		t.Errorf("sent to the robot: %v", s.robot.asked)
	}
	for _, host := range []string{"localhost", "localhost:8090", "192.168.1.7:8090", "[::1]:8090", "R1.museum.example"} {
		if status, _, h := s.send("GET", "/", "", func(r *http.Request) { r.Host = host }); status == http.StatusMisdirectedRequest ||
			!strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s was answered %d with %v", host, status, h)
		}
	}
}

func TestButtonsSendCommandsAndShowTheAnswer(t *testing.T) {
	s := open(t, standing()).signIn()
	s.robot.answers = map[string]schema.Ack{"mode/set": {Status: schema.StatusRejected, Reason: schema.ReasonNoDefaultStory,
		Detail: "assign <one>"}}
	for _, b := range []struct{ action, form, asked, shown string }{
		{"stop", "", "safety/stop", "<strong>Stop</strong>: done"},
		{"enable", "seen=4132&boot=boot-1", "safety/enable", "<strong>Let it move</strong>: done"},
		{"reset", "", "safety/reset", "<strong>Reset</strong>: done"},
		{"continue", "", "auto/continue", "<strong>Continue the story</strong>: done"},
		{"mode", "mode=ato", "mode/set", "<strong>Mode</strong>: refused <span dir=\"auto\" title=\"no_default_story\">assign &lt;one&gt;"},
		{"volume", "volume=35", "control/acquire manual/volume control/release", "<strong>Volume</strong>: done"},
		{"face", "face=smile", "control/acquire manual/face control/release", "<strong>Face</strong>: done"},
	} {
		s.robot.asked = nil
		if status, _, h := s.send("POST", "/do/"+b.action, b.form); status != http.StatusSeeOther || h.Get("Location") != "/" {
			t.Errorf("%s was answered %d", b.action, status)
		}
		if got := strings.Join(s.robot.asked, " "); got != b.asked {
			t.Errorf("%s sends %s, want %s", b.action, got, b.asked)
		}
		s.shows(b.shown)
	}
	seen := s.robot.args[1].(map[string]any)
	if seen["seen_mono_ms"] != int64(4132) || seen["seen_boot"] != "boot-1" {
		t.Errorf("enable says that its sender has seen %v", seen)
	}
	if latch := s.robot.args[0].(map[string]any)["latch"].(string); !schema.ValidRequestID(latch) || !strings.HasPrefix(latch, "local-") {
		t.Errorf("the stop is latched as %q", latch)
	}
	if status, _, _ := s.send("POST", "/do/dance", ""); status != http.StatusNotFound {
		t.Errorf("a button that does not exist was answered %d", status)
	}
}

func TestVolumeWithoutControlIsRefused(t *testing.T) {
	s := open(t, standing()).signIn()
	s.robot.answers = map[string]schema.Ack{"control/acquire": {Status: schema.StatusRejected, Reason: schema.ReasonNotInControl,
		Detail: "anna has control of this robot"}}
	s.send("POST", "/do/volume", "volume=35")
	if !slices.Equal(s.robot.asked, []string{"control/acquire"}) {
		t.Errorf("sent %v", s.robot.asked)
	}
	s.shows(`refused <span dir="auto" title="not_in_control">anna has control`)
}

func TestVolumeIsOfferedOnlyIfItCanBeSet(t *testing.T) {
	s := open(t, standing()).signIn()
	s.shows(`<input id="volume"`)
	s.robot.view.Caps.Units[1].FixedVolume = true
	if _, body, _ := s.send("GET", "/", ""); strings.Contains(body, `id="volume"`) {
		t.Errorf("a volume is offered:\n%s", body)
	}
}

func TestPageSaysWhyNot(t *testing.T) {
	s := open(t, standing()).signIn()
	s.shows(`<button id="release" disabled`, "nothing keeps it stopped", `<button id="mode-ato" disabled`, "no story &lt;b&gt;yet&lt;/b&gt;",
		"the mode in charge ends after 5 s")
	s.robot.view.State.Safety.Latches = []schema.StopLatch{{ID: "k1", By: "anna", Why: "visitor on the stage"}}
	s.robot.view.State.Safety.State = schema.SafetyEStop
	s.shows(`<button id="enable" disabled`, "release the stop first", "visitor on the stage", `<button id="release">`, `<button id="reset">`)
	s.robot.view.State.Safety.LocalReset = true
	s.shows(`<button id="reset" disabled`, "press the button reset on the robot&#39;s body")
	s.robot.view.State.Safety = schema.StateSafety{State: schema.SafetyReset}
	s.shows(`<button id="enable" disabled`, "it is being reset")
}

func TestPageSaysThatTheStoryFails(t *testing.T) {
	f := standing()
	f.view.State.Auto = schema.StateAuto{Status: schema.AutoPerforming, Story: &schema.StoryRef{ID: "tour"}, Act: "greet"}
	s := open(t, f).signIn()
	s.shows(`tour</span>, playing, <span dir="auto">greet`)
	f.view.State.Auto.FailedRounds = 3
	s.shows("Every act of the story fails; the alert says why. (rounds in a row: 3)")
}

// After a stop without a reset the story goes on with “Let it move”, so that the page must not lead
// to Continue.
func TestEnableSaysThatTheStoryGoesOn(t *testing.T) {
	f := standing()
	state := f.view.State
	state.Auto = schema.StateAuto{Status: schema.AutoPaused, Story: &schema.StoryRef{ID: "tour"},
		PauseHolders: []schema.Pause{{Token: "safety", Why: "safety_disabled"}}}
	s := open(t, f).signIn()
	const goesOn, notNeeded = "the story goes on at once, and the robot moves", "not needed: “Let it move” lets the story go on"
	s.shows(`<button id="enable" aria-describedby="note-enable"`, goesOn, `<button id="continue" disabled`, notNeeded)
	for name, pause := range map[string][]schema.Pause{
		"a lost link, too":     {{Token: "safety", Why: "safety_disabled"}, {Token: "link", Why: "needs_continue", NeedsContinue: true}},
		"a person, too":        {{Token: "safety", Why: "safety_disabled"}, {Token: "operator:op1/k1"}},
		"the reset of an unit": {{Token: "safety", Why: "safety_disabled", NeedsContinue: true}},
	} {
		state.Auto.PauseHolders = pause
		if _, body, _ := s.send("GET", "/", ""); strings.Contains(body, goesOn) || strings.Contains(body, notNeeded) {
			t.Errorf("paused by %s: the page says that Enable continues", name)
		}
	}
	state.Auto.PauseHolders = []schema.Pause{{Token: "safety", Why: "latched"}}
	state.Safety.Latches = []schema.StopLatch{{ID: "k1"}}
	if _, body, _ := s.send("GET", "/", ""); strings.Contains(body, goesOn) {
		t.Error("a robot that cannot be enabled: the page says what Enable does")
	}
}

func TestPageSaysThatAStopLatches(t *testing.T) {
	s := open(t, standing()).signIn()
	s.robot.answers = map[string]schema.Ack{"safety/stop": {Status: schema.StatusSucceeded, Reason: schema.ReasonUnchanged,
		Detail: "the robot already is in DISABLED"}}
	s.send("POST", "/do/stop", "")
	latch := s.robot.args[0].(map[string]any)["latch"].(string)
	s.shows("<strong>Stop</strong>: done <span dir=\"auto\">latched as " + latch)
}

func TestStopOfTheFleetIsNotReleasedHere(t *testing.T) {
	f := standing()
	f.view.State.Safety.Latches, f.view.FleetStops = []schema.StopLatch{{ID: "k1"}}, []string{"k1"}
	s := open(t, f).signIn()
	s.shows(`<button id="release" disabled`, "the fleet holds it", "fleetd stop release k1 --why REASON")
	f.view.State.Safety.Latches = append(f.view.State.Safety.Latches, schema.StopLatch{ID: "local-1"})
	s.shows(`<button id="release">`)
}

func TestPageSaysWhatItsEndMeans(t *testing.T) {
	f := standing()
	f.view.Modes[0].LinkTimeoutMS, f.view.LinkBudget = 60_000, 5*time.Second
	f.view.State.Auto.Status = schema.AutoPaused
	s := open(t, f).signIn()
	s.shows("Without one, the robot stops moving after 5 s, then needs Continue the story; the mode in charge ends after 60 s.")
	f.view.ContinueOnReturn = true
	s.shows("stops moving after 5 s; the mode")
}

// TestPageLeadsFromAFailedUnitBackToTheStory follows a robot without a network whose unit failed.
func TestPageLeadsFromAFailedUnitBackToTheStory(t *testing.T) {
	f := standing()
	state := f.view.State
	state.Safety = schema.StateSafety{State: schema.SafetyEStop, Cause: schema.ReasonUnitError,
		CauseDetail: "unit head: puppet: the adapter is silent"}
	state.Auto = schema.StateAuto{Status: schema.AutoPaused, Story: &schema.StoryRef{ID: "tour"},
		PauseHolders: []schema.Pause{{Token: "safety", Why: "needs_reset", NeedsContinue: true}}}
	state.Auto.FailedRounds = 1 // the one that the fault ended
	state.Units = []schema.UnitState{{ID: "head", State: "error"}}
	f.view.Modes[1].WhyNot[0].Detail = "safety/reset, then safety/enable, then auto/continue"
	s := open(t, f).signIn()
	s.shows(`Cause: <span dir="auto" title="unit_error">unit head: puppet: the adapter is silent`, "its fault is gone; it needs a reset",
		`Paused by <strong dir="auto" title="safety">a stop</strong>: <span dir="auto">the robot is stopped until it is reset; Reset leads out`,
		`<button id="continue" disabled`, "let it move first",
		`Not now: <span title="no_default_story">Reset, then Let it move, then Continue the story`)
	if _, body, _ := s.send("GET", "/", ""); strings.Contains(body, "Every act of the story fails") {
		t.Error("a story that is paused fails")
	}
	state.Safety, state.Units = schema.StateSafety{State: schema.SafetyEnabled}, nil
	state.Auto.PauseHolders[0].Why = "needs_continue"
	s.shows("its cause is gone", `<button id="continue">`)
	state.Auto = schema.StateAuto{Status: schema.AutoPerforming, Story: state.Auto.Story}
	if _, body, _ := s.send("GET", "/", ""); strings.Contains(body, `id="continue"`) {
		t.Error("a story that runs can be continued")
	}
}

func TestStopIsReleasedAtTheRobotOnly(t *testing.T) {
	f := standing()
	f.view.State.Safety.Latches = []schema.StopLatch{{ID: "k1"}}
	s := open(t, f).signIn()
	server := &Server{Config: Config{Robot: f}}
	r := httptest.NewRequest("POST", "/do/release", nil)
	r.RemoteAddr = "192.168.1.9:4711"
	if a := server.release(r); a.Reason != schema.ReasonLocalOnly || f.released > 0 {
		t.Errorf("from elsewhere: %+v, released %d times", a, f.released)
	}
	s.send("POST", "/do/release", "")
	if f.released != 1 {
		t.Errorf("released %d times", f.released)
	}
	s.shows("<strong>Release the stop</strong>: done")
}

func TestSilentRobotIsShownAsSuch(t *testing.T) {
	s := open(t, standing()).signIn()
	s.robot.silent = true
	s.send("POST", "/do/stop", "")
	s.shows("The robot does not answer", "no answer", `<button id="stop"`)
}

// Each language has the same texts, and each text of the templates exists: a missing one
// panics as it is looked up.
func TestLanguagesHaveTheSameTexts(t *testing.T) {
	ofTables := func(key string, _ string) bool {
		return strings.HasPrefix(key, "reason.") || strings.HasPrefix(key, "event.")
	}
	keys := func(lang string) []string {
		own := maps.Clone(texts[lang])
		maps.DeleteFunc(own, ofTables) // their English is in package schema
		return slices.Sorted(maps.Keys(own))
	}
	for _, lang := range []string{"de", "fr"} {
		if !slices.Equal(keys("en"), keys(lang)) {
			t.Errorf("English %v\n%s %v", keys("en"), lang, keys(lang))
		}
		for _, r := range schema.Reasons {
			if texts[lang]["reason."+string(r.Reason)] == "" {
				t.Errorf("%s has no words for the reason %s", lang, r.Reason)
			}
		}
		for _, r := range schema.Events {
			if texts[lang]["event."+r.Type] == "" {
				t.Errorf("%s has no words for the event %s", lang, r.Type)
			}
		}
		for _, r := range schema.Alerts {
			if texts[lang]["alert."+r.Type] == "" {
				t.Errorf("%s has no words for the alert %s", lang, r.Type)
			}
		}
	}
	var all strings.Builder
	for _, name := range []string{"page.html", "parts.html"} {
		text, err := templates.ReadFile("templates/" + name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, rest := range strings.Split(all.String(), `{{t "`)[1:] {
		if key, _, _ := strings.Cut(rest, `"`); texts["en"][key] == "" {
			t.Errorf("there is no text %s", key)
		}
	}
	s := open(t, standing()).signIn()
	_, body, _ := s.send("GET", "/", "", func(r *http.Request) { r.Header.Set("Accept-Language", "de-AT,de;q=0.9,en;q=0.5") })
	if !strings.Contains(body, "bleibt stehen") || !strings.Contains(body, `lang="de"`) {
		t.Errorf("in German: %s", body)
	}
	_, body, _ = s.send("GET", "/", "", func(r *http.Request) { r.Header.Set("Accept-Language", "fr-CH") })
	for _, text := range []string{"maintenu à l’arrêt", `lang="fr"`,
		"Pas maintenant: <span title=\"no_default_story\">le robot n’a pas d’histoire",
		`<span class="own" lang="en" dir="auto">no story &lt;b&gt;yet&lt;/b&gt;`} {
		if !strings.Contains(body, text) {
			t.Errorf("in French there is no %s: %s", text, body)
		}
	}
}

func TestEventsAreInWords(t *testing.T) {
	f := standing()
	f.view.Events = []schema.Event{
		{Type: "mode_changed", Source: "mode", Cause: "started", Data: jsontext.Value(`{"from":"str","to":"mnl"}`)},
		{Type: "act_failed", Source: "act", Data: jsontext.Value(`{"id":"hello","reason":"timeout"}`)},
		{Type: "story_round", Source: "story", Data: jsontext.Value(`{"round":3}`)},
	}
	s := open(t, f).signIn()
	s.shows(`title="mode_changed">another mode is in charge</span> <span dir="auto">start-up → manual<`,
		`title="act_failed">an act failed, or could not begin</span> <span dir="auto">it took longer than allowed<`, `<span dir="auto">round: 3<`)
}

// The robot's own page and the console call a thing the same.
func TestWordsAreThoseOfTheConsole(t *testing.T) {
	const next = "\n  },\n  {\n" // between the texts of two languages
	from := func(file, after string) []string {
		text, err := os.ReadFile("../../fleetd/console/web/src/text/" + file)
		if err != nil {
			t.Fatal(err)
		}
		_, tables, _ := strings.Cut(string(text), after)
		return strings.SplitN(tables, next, 3)
	}
	const quoted = `'((?:[^'\\]|\\.)*)'`
	checked := 0
	check := func(lang, key, want string) {
		t.Helper()
		checked++
		want = strings.NewReplacer(`\'`, "'", "`", "").Replace(want)
		if got := texts[lang][key]; got != want {
			t.Errorf("%s in %s: %q, and in the console %q", key, lang, got, want)
		}
	}
	group := map[string]string{"ModeID": "mode", "SafetyState": "safety", "ModePhase": "phase", "AutoStatus": "auto", "LinkState": "link",
		"AlertLevel": "level", "Status": "status"}
	table := regexp.MustCompile(`(?s)\n    (\w+): \{(.*?)\}`)
	word := regexp.MustCompile(`(\w+): ` + quoted)
	for i, part := range from("terms.ts", "texts<Terms>(") {
		part, _, _ = strings.Cut(part, "\n);")
		for _, m := range table.FindAllStringSubmatch(part, -1) {
			for _, w := range word.FindAllStringSubmatch(m[2], -1) {
				if group[m[1]] != "" {
					check([]string{"en", "de", "fr"}[i], group[m[1]]+"."+w[1], w[2])
				}
			}
		}
	}
	row := regexp.MustCompile(`(?m)^    (\w+):\s+` + quoted)
	title := regexp.MustCompile(`(?m)^\s+(\w+): \{\s+title: (?:` + quoted + `|"([^"]*)")`)
	for i, lang := range []string{"de", "fr"} {
		for kind, file := range map[string]string{"reason": "reasons.ts", "event": "events.ts"} {
			part, _, _ := strings.Cut(from(file, "= texts")[i], "\n);")
			for _, m := range row.FindAllStringSubmatch(part, -1) {
				check(lang, kind+"."+m[1], m[2])
			}
		}
		for _, m := range title.FindAllStringSubmatch(from("alerts.ts", "export const useAlertWords")[i], -1) {
			check(lang, "alert."+m[1], m[2]+m[3])
		}
	}
	english, _, _ := strings.Cut(from("alerts.ts", "const english")[0], "\n};")
	for _, m := range title.FindAllStringSubmatch(english, -1) {
		check("en", "alert."+m[1], m[2]+m[3])
	}
	if checked < 500 {
		t.Errorf("only %d words were compared", checked)
	}
}

func TestWrongFolderIsAnError(t *testing.T) {
	_, err := New(Config{Data: filepath.Join(t.TempDir(), "none")})
	var wrong *os.PathError
	if !errors.As(err, &wrong) {
		t.Errorf("got %v", err)
	}
}

// A program with the password learns the state; it is no operator.
func TestStatusNeedsThePasswordAndIsNoOperator(t *testing.T) {
	s := open(t, standing())
	if status, _, _ := s.send("GET", "/status", "",
		func(r *http.Request) { r.SetBasicAuth("robotd", "wrong") }); status != http.StatusUnauthorized {
		t.Errorf("a wrong password was answered %d", status)
	}
	at := strings.TrimPrefix(s.url, "http://")
	got, err := StatusAt(t.Context(), at, s.data)
	if err != nil || got.Safety.State != schema.SafetyDisabled || got.Mode != schema.ModeMnl || got.Connected || s.robot.beats > 0 {
		t.Errorf("got %+v, %v, %d heartbeats", got, err, s.robot.beats)
	}
}

// A program that gets no status learns why: its user may have to do something else than to find the
// right password.
func TestRefusedStatusSaysWhy(t *testing.T) {
	s := open(t, standing())
	at, data := strings.TrimPrefix(s.url, "http://"), t.TempDir()
	if err := os.Rename(filepath.Join(s.data, PasswordFile), filepath.Join(data, PasswordFile)); err != nil {
		t.Fatal(err)
	}
	for n := range addressBurst + 1 {
		want := "robotd cannot read the password"
		if n == addressBurst {
			want = "too many attempts"
		}
		if _, err := StatusAt(t.Context(), at, data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("attempt %d: %v, want %s", n+1, err, want)
		}
	}
}

// performing is a robot in ato that shows something with every unit.
func performing() *fake {
	f := standing()
	v := &f.view
	v.State.Safety.State, v.State.Mode.Active = schema.SafetyEnabled, schema.ModeAto
	v.Caps.Units = []schema.Unit{{ID: "face", Kind: schema.UnitFace, Faces: []string{"smile"}}, {ID: "ear", Kind: schema.UnitLED},
		{ID: "speaker", Kind: schema.UnitSpeaker, Sounds: []string{"bell"}}, {ID: "neck", Kind: schema.UnitHead},
		{ID: "wheels", Kind: schema.UnitDrive}, {ID: "battery", Kind: schema.UnitBattery}}
	v.State.Units = []schema.UnitState{{Kind: "face", Shows: "smile"}, {Kind: "led", Shows: "ear #FF8800 breathe every 800 ms"},
		{Kind: "speaker", Shows: "Welcome <b>to</b> the museum"}, {Kind: "head", Shows: "yaw 34.4°, pitch -10°"},
		{Kind: "drive", Shows: "vx 0.3 m/s, wz -20°/s"}, {Kind: "battery", Detail: "80 %, charging"}}
	return f
}

func TestPictureOfTheRobotSaysWhatItShows(t *testing.T) {
	everything := "r1: smiling, light #ff8800 breathing, head 34° to its right, looking 10° down"
	for _, c := range []struct {
		what, lang, sentence string
		change               func(*View)
	}{
		{"all units", "en", "r1: smiling, light #ff8800 breathing, head 34° to its left, looking 10° down, drives forward, " +
			"turns to its right, says “Welcome &lt;b&gt;to&lt;/b&gt; the museum”, charging", func(*View) {}},
		{"in German", "de", "r1: lächelt, Licht #ff8800 atmet, Kopf 34° nach links", func(*View) {}},
		{"head to the other side", "en", everything, func(v *View) { v.State.Units[3].Shows = "yaw -34.4°, pitch -10°" }},
		{"a sound", "en", "plays the sound bell", func(v *View) { v.State.Units[2].Shows = "bell" }},
		{"muted", "en", "muted\"", func(v *View) { v.State.Units[2].Detail = "volume 0 %" }},
		{"a face of its own", "en", "r1: furious, light", func(v *View) { v.State.Units[0].Shows = "furious" }},
		{"without a head", "en", "breathing, drives", func(v *View) { v.Caps.Units = slices.Delete(v.Caps.Units, 3, 4) }},
		{"stopped, it shows nothing", "en", "\"r1: stopped, charging\"", func(v *View) { v.State.Safety.State = schema.SafetyStop }},
		{"driven", "en", "r1: a person drives it, smiling", func(v *View) {
			v.State.Control, v.State.Mode.Active = &schema.StateControl{}, schema.ModeMnl
		}},
		{"paused", "en", "r1: paused, smiling", func(v *View) { v.State.Auto.Status = schema.AutoPaused }},
		{"kept stopped", "en", "r1: needs attention", func(v *View) { v.State.Safety.State = schema.SafetyDisabled }},
		{"nothing", "en", "\"r1\"", func(v *View) { v.State.Units = nil }},
	} {
		t.Run(c.what, func(t *testing.T) {
			f := performing()
			c.change(&f.view)
			s := open(t, f).signIn()
			_, body, _ := s.send("GET", "/", "", func(r *http.Request) { r.Header.Set("Accept-Language", c.lang) })
			_, label, _ := strings.Cut(body, `role="img" aria-label=`)
			if label, _, _ = strings.Cut(label, " class="); !strings.Contains(label, c.sentence) {
				t.Errorf("the picture is called %s, not %s", label, c.sentence)
			}
		})
	}
}

func TestPictureIsDrawnWithoutStylesOfItsOwn(t *testing.T) {
	_, body, _ := open(t, performing()).signIn().send("GET", "/", "")
	for _, want := range []string{`<text x="80" y="27">Welcome &lt;b&gt;to&lt;/b&gt; the</text>`, `fill="#ff8800" class="breathe"`,
		`class="light breathe" fill="#ff8800"`, `<g transform="translate(6.2 1.7)">`, `M72 158`, `M42 146`} {
		if !strings.Contains(body, want) {
			t.Errorf("the picture lacks %s", want)
		}
	}
	if strings.Contains(body, "style=") || strings.Contains(body, "ZgotmplZ") {
		t.Error("the picture has what the page's policy or the templates refuse")
	}
}

// The console draws the same robot: a shape that changes there must change here.
func TestPictureHasTheShapesOfTheConsole(t *testing.T) {
	console, err := os.ReadFile("../../fleetd/console/web/src/live/DrawnRobot.tsx")
	if err != nil {
		t.Fatal(err)
	}
	text, err := templates.ReadFile("templates/drawn.html")
	if err != nil {
		t.Fatal(err)
	}
	// What is made of several shapes there, or of numbers, is not compared.
	own := []string{"M56 140", "M65.5 74", "M65.5 75", "M85.5 75", "M85 45.5", "M74 45"}
	for _, rest := range strings.Split(string(text), ` d="`)[1:] {
		shape, _, _ := strings.Cut(rest, `"`)
		if strings.Contains(shape, "{{") || slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(shape, o) }) {
			continue
		}
		if !strings.Contains(string(console), shape) {
			t.Errorf("the console draws no %s", shape)
		}
	}
}

func TestWordsAreSplitIntoThreeLinesAtMost(t *testing.T) {
	for words, want := range map[string][]string{
		"":        nil,
		"Welcome": {"Welcome"},
		"Hello. You have found the right place. Take your time, I will wait here": {
			"Hello. You have found", "the right place. Take", "your time, I will…"},
		"Donaudampfschifffahrtsgesellschaft": {"Donaudampfschifffahrt", "sgesellschaft"},
	} {
		if got := linesOf(words); !slices.Equal(got, want) {
			t.Errorf("%q has the lines %q, not %q", words, got, want)
		}
	}
}
