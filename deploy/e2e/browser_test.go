package e2e

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"troupe/schema"
)

// dumpPage returns the DOM of the live page some time after a browser has opened
// it. A browser dumps the DOM when the page is loaded, so the page gets an image
// at its end that takes that time.
func (w *world) dumpPage(after time.Duration) string {
	w.t.Helper()
	fleetd, err := url.Parse(w.http)
	if err != nil {
		w.t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(fleetd) },
		FlushInterval: -1,
		ModifyResponse: func(r *http.Response) error {
			if r.Request.URL.Path != "/" {
				return nil
			}
			page, err := io.ReadAll(r.Body)
			page = append(page, `<img src="late.svg">`...)
			r.Body = io.NopCloser(bytes.NewReader(page))
			r.Header.Set("Content-Length", strconv.Itoa(len(page)))
			return err
		},
		ErrorLog: log.New(io.Discard, "", 0), // the browser aborts its stream when it ends
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late.svg" {
			time.Sleep(after)
			http.NotFound(rw, r)
			return
		}
		defer func() { _ = recover() }() // the proxy panics to abort a stream
		proxy.ServeHTTP(rw, r)
	}))
	defer server.Close()
	defer server.CloseClientConnections()

	var browser string
	for _, name := range []string{"google-chrome", "chromium-browser", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
		}
	}
	if browser == "" {
		w.t.Fatal("no chromium is in the PATH: run make setup")
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(w.folder, "browser"),
		"--dump-dom", server.URL+"/")
	cmd.WaitDelay = time.Second // child processes may hold its output open
	text, err := cmd.Output()
	if err != nil && len(text) == 0 {
		w.t.Logf("%s: %v", browser, err)
	}
	return string(text)
}

// maxPageWait bounds how long a page is left open until it shows what the test
// expects.
const maxPageWait = 16 * time.Second

var whomPattern = regexp.MustCompile(`class="whom">([^<]*)<`)

// A page that is opened after a stop names the robots that the stop holds, as the
// page that sent the stop does.
func TestPageNamesTheRobotsOfALatchedStop(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.startFleetd()
		w.runRobotsIn(schema.ModeMnl, "", "r1", "r2")
		w.awaitAdopted("r1", "r2")
		if s := w.runCLI("stop", "r2", "--why", "gate 7 is open"); s.code != 0 {
			w.t.Fatalf("stop r2: %+v", s)
		}
		var page string
		for after := time.Second; after <= maxPageWait; after *= 2 {
			page = w.dumpPage(after)
			if all := whomPattern.FindAllStringSubmatch(page, -1); len(all) == 2 && all[0][1] == "r2" && strings.Contains(page, "gate 7 is open") {
				return // the other match is in the page's template
			}
		}
		w.t.Errorf("the page does not say that the stop holds r2:\n%s", page)
	})
}
