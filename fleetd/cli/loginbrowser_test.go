package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/fleetd/accounts"
	"troupe/fleetd/api"
	"troupe/fleetd/cli"
)

// browserLogin is fleetd login --browser, up to the address that it prints.
type browserLogin struct {
	config  string // folder of its contexts
	page    url.Values
	finish  *url.URL // the page to which the browser is sent at last
	visible string   // what a person can compare with the page
	out     strings.Builder
	code    chan int
}

func startBrowserLogin(t *testing.T) *browserLogin {
	t.Helper()
	l := &browserLogin{config: t.TempDir(), code: make(chan int, 1)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in api.FinishLogin
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/api/v1/logins/finish" || in.Code != "the code" ||
			accounts.Challenge(in.Verifier) != l.page.Get("challenge") {
			api.Write(w, api.KindSignIn.Problem("the code is not valid", ""))
			return
		}
		_, _ = io.WriteString(w, `{"user":"anna","secret":"troupe_secret"}`)
	}))
	t.Cleanup(server.Close)
	errors, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		l.code <- cli.Main(ctx, cli.Streams{In: strings.NewReader(""), Out: &l.out, Err: out, Environ: []string{"XDG_CONFIG_HOME=" + l.config}},
			"v0-test", "login", "--browser", "--server", server.URL)
		_ = out.Close()
	}()
	lines := bufio.NewScanner(errors)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), server.URL) {
		l.visible = lines.Text()
	}
	at, err := url.Parse(lines.Text())
	if err != nil || at.Path != api.AllowPage {
		t.Fatalf("the address is %q", lines.Text())
	}
	l.page = at.Query()
	go func() { _, _ = io.Copy(io.Discard, errors) }()
	return l
}

// answer is what the browser brings to the command line. It returns the status.
func (l *browserLogin) answer(t *testing.T, with url.Values) int {
	t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	got, err := client.Get("http://127.0.0.1:" + l.page.Get("port") + "/?" + with.Encode())
	if err != nil {
		t.Fatal(err)
	}
	_ = got.Body.Close()
	l.finish, _ = got.Location()
	return got.StatusCode
}

func TestLoginInTheBrowserKeepsAToken(t *testing.T) {
	l := startBrowserLogin(t)
	if state := l.page.Get("state"); !strings.Contains(l.visible, state[:4]+" "+state[4:8]) {
		t.Errorf("the terminal shows %q for the state %s", l.visible, state)
	}
	if status := l.answer(t, url.Values{"code": {"the code"}, "state": {"of somebody else"}}); status != http.StatusBadRequest {
		t.Errorf("an answer with another state: %d", status)
	}
	if l.answer(t, url.Values{"code": {"the code"}, "state": {l.page.Get("state")}}); l.finish == nil || l.finish.Path != api.AllowPage ||
		l.finish.Query().Get("result") != "done" {
		t.Errorf("the browser goes to %v", l.finish)
	}
	if code := <-l.code; code != 0 || !strings.Contains(l.out.String(), "signed in as anna") {
		t.Errorf("login ends with %d: %s", code, l.out.String())
	}
	kept, err := os.ReadFile(filepath.Join(l.config, "troupe", "contexts.yaml"))
	if err != nil || !strings.Contains(string(kept), "token: troupe_secret") || !strings.Contains(string(kept), "user: anna") {
		t.Errorf("kept: %s, %v", kept, err)
	}
}

func TestLoginInTheBrowserThatNobodyAllowsKeepsNothing(t *testing.T) {
	for what, code := range map[string]string{"denied at the page": "", "a code that is not valid": "another"} {
		l := startBrowserLogin(t)
		if l.answer(t, url.Values{"code": {code}, "state": {l.page.Get("state")}}); l.finish == nil ||
			l.finish.Query().Get("result") != "failed" {
			t.Errorf("%s: the browser goes to %v", what, l.finish)
		}
		if code := <-l.code; code == 0 {
			t.Errorf("%s: login succeeds: %s", what, l.out.String())
		}
		if _, err := os.Stat(filepath.Join(l.config, "troupe")); err == nil {
			t.Errorf("%s: a context is kept", what)
		}
	}
}
