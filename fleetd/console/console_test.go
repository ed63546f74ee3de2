//go:build !noweb

package console

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	Handler(r.Header.Get("Base"), func(r *http.Request) bool { return r.Header.Get("Signed") != "out" }).ServeHTTP(answer, r)
	return answer
}

func TestEveryPathOfAScreenIsThePage(t *testing.T) {
	table, err := os.ReadFile("web/src/screens/table.tsx")
	if err != nil {
		t.Fatal(err)
	}
	paths := regexp.MustCompile(`path: '(/[^']*)'`).FindAllStringSubmatch(string(table), -1)
	if len(paths) != 27 {
		t.Errorf("the table of screens has %d paths: %q", len(paths), paths)
	}
	named := map[string]bool{}
	for _, found := range paths {
		path := regexp.MustCompile(`:\w+\??`).ReplaceAllString(found[1], "x")
		answer := get(t, path)
		if answer.Code != 200 || !strings.Contains(answer.Body.String(), `id="root"`) {
			t.Errorf("GET %s: %d %s", path, answer.Code, answer.Body)
		}
		first, _, _ := strings.Cut(path[1:], "/")
		named[first] = true
	}
	for first := range screens {
		if !named[first] {
			t.Errorf("no screen has a path that begins with /%s", first)
		}
	}
	for _, path := range []string{"/nowhere", "/robots/r1/events/x", "/places/x", "/.env", "/index.html", "/api"} {
		if answer := get(t, path, "Accept", "text/html,application/xhtml+xml,*/*;q=0.8"); answer.Code != 404 || !strings.Contains(answer.Body.String(), `id="root"`) {
			t.Errorf("GET %s by a browser: %d", path, answer.Code)
		}
		if answer := get(t, path, "Accept", "*/*"); answer.Code != 404 || !strings.HasPrefix(answer.Body.String(), "there is no "+path+";") {
			t.Errorf("GET %s by a program: %d %s", path, answer.Code, answer.Body)
		}
	}
}

func TestWhoIsNotSignedInGoesToTheSignInAtOnce(t *testing.T) {
	answer := get(t, "/robots/r1?x=1", "Signed", "out")
	if to := answer.Header().Get("Location"); answer.Code != 303 || to != "/sign-in?next=%2Frobots%2Fr1%3Fx%3D1" {
		t.Errorf("a screen: %d %s", answer.Code, to)
	}
	for path, want := range map[string]int{"/sign-in": 200, "/nowhere": 404, "/icon.svg": 200} {
		if answer := get(t, path, "Signed", "out"); answer.Code != want {
			t.Errorf("GET %s: %d, want %d", path, answer.Code, want)
		}
	}
}

func TestBelowAPathThePageFindsItsFilesAndTheSignIn(t *testing.T) {
	for base, want := range map[string]string{
		"":        `<script src="/assets/a.js" nonce="n">`,
		"/troupe": `<script src="/troupe/assets/a.js" nonce="n">`,
	} {
		if html := string(pageOf([]byte(`<script src="./assets/a.js" nonce="CSP_NONCE">`), base, "n")); html != want {
			t.Errorf("below %q the page has %s", base, html)
		}
	}
	if to := get(t, "/robots", "Signed", "out", "Base", "/troupe").Header().Get("Location"); to != "/troupe/sign-in?next=%2Frobots" {
		t.Errorf("the sign-in is at %s", to)
	}
}

func TestPageAllowsNoScriptInlineAndNothingOfAnotherOrigin(t *testing.T) {
	answer := get(t, "/")
	html, policy := answer.Body.String(), answer.Header().Get("Content-Security-Policy")
	if policy == "" || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	for what, pattern := range map[string]string{
		"an inline script":         `<script(?:\s[^>]*)?>[^<]`,
		"an inline style":          `<style|\sstyle=`,
		"an inline handler":        `\son[a-z]+=`,
		"a file of another origin": `(?:src|href)="(?:https?:)?//`,
	} {
		if found := regexp.MustCompile(pattern).FindString(html); found != "" {
			t.Errorf("the page has %s: %s", what, found)
		}
	}
	files := regexp.MustCompile(`(?:src|href)="(/[^"]+)"`).FindAllStringSubmatch(html, -1)
	if len(files) < 3 {
		t.Errorf("the page names %d files:\n%s", len(files), html)
	}
	for _, file := range files {
		if answer := get(t, file[1]); answer.Code != 200 || strings.Contains(answer.Body.String(), `id="root"`) {
			t.Errorf("GET %s: %d", file[1], answer.Code)
		}
	}
}

func TestEachPageHasANonceOfItsOwn(t *testing.T) {
	of := func() string {
		answer := get(t, "/")
		nonce := regexp.MustCompile(`'nonce-([^']{16,})'`).FindStringSubmatch(answer.Header().Get("Content-Security-Policy"))
		if nonce == nil || !strings.Contains(answer.Body.String(), nonce[1]) || strings.Contains(answer.Body.String(), nonceMark) {
			t.Fatalf("nonce %q in the page:\n%s", nonce, answer.Body)
		}
		return nonce[1]
	}
	if first := of(); first == of() {
		t.Errorf("two pages have the nonce %s", first)
	}
}

func TestFilesAreCompressedAndCached(t *testing.T) {
	script := regexp.MustCompile(`src="(/assets/[^"]+\.js)"`).FindStringSubmatch(get(t, "/").Body.String())
	if script == nil {
		t.Fatal("the page has no script")
	}
	plain, small := get(t, script[1]), get(t, script[1], "Accept-Encoding", "br, gzip")
	if small.Header().Get("Content-Encoding") != "gzip" || small.Body.Len()*2 > plain.Body.Len() {
		t.Errorf("%d bytes as they are, %d compressed", plain.Body.Len(), small.Body.Len())
	}
	if cache := plain.Header().Get("Cache-Control"); !strings.Contains(cache, "immutable") {
		t.Errorf("a file whose name has its hash is cached as %q", cache)
	}
	if kind := plain.Header().Get("Content-Type"); !strings.HasPrefix(kind, "text/javascript") {
		t.Errorf("a script is served as %q", kind)
	}
	if cache := get(t, "/").Header().Get("Cache-Control"); cache != "no-store" {
		t.Errorf("the page is cached as %q", cache)
	}
}

// A first load fetches the page and what it names; other screens are fetched when they are opened.
func TestFirstLoadIsUnderOneMegabyte(t *testing.T) {
	total := 0
	for _, file := range regexp.MustCompile(`(?:src|href)="(/[^"]+)"`).FindAllStringSubmatch(get(t, "/").Body.String(), -1) {
		body, err := io.ReadAll(get(t, file[1], "Accept-Encoding", "gzip").Result().Body)
		if err != nil {
			t.Fatal(err)
		}
		total += len(body)
	}
	if total == 0 || total > 1<<20 {
		t.Errorf("the first load has %d bytes", total)
	}
}

func TestFileOfAnotherReleaseIsNotThePage(t *testing.T) {
	if answer := get(t, "/assets/index-00000000.js"); answer.Code != 404 {
		t.Errorf("a missing file: %d %s", answer.Code, answer.Body)
	}
}

func TestConsoleTakesNoPost(t *testing.T) {
	answer := httptest.NewRecorder()
	Handler("", nil).ServeHTTP(answer, httptest.NewRequest("POST", "/", nil))
	if answer.Code != 405 {
		t.Errorf("POST /: %d", answer.Code)
	}
}
