package e2e

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"troupe/deploy/mosquittotest"
)

// visitor is a browser without scripts on a robot's own page.
type visitor struct {
	*testing.T
	client http.Client
	url    string
}

var pageURL = regexp.MustCompile(`url=(http://\S+)`)

// visit signs in on the page of the robot with that data directory.
func visit(t *testing.T, robot *process, data string) *visitor {
	t.Helper()
	line := robot.log.await(t, robot.name, "the address of its page", pageURL.MatchString)
	password, err := os.ReadFile(filepath.Join(data, "page.password"))
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{T: t, url: pageURL.FindStringSubmatch(line)[1]}
	if v.client.Jar, err = cookiejar.New(nil); err != nil {
		t.Fatal(err)
	}
	v.press("/sign-in", url.Values{"password": {strings.TrimSpace(string(password))}})
	return v
}

func (v *visitor) send(method, path string, form url.Values) string {
	v.Helper()
	ctx, cancel := context.WithTimeout(v.Context(), waitLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, v.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := v.client.Do(r)
	if err != nil {
		v.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		v.Fatal(err)
	}
	return string(body)
}

// press presses a button and returns the page that follows.
func (v *visitor) press(path string, form url.Values) string {
	v.Helper()
	return v.send(http.MethodPost, path, form)
}

// await reloads the page until it has the text, as often as an open page does.
func (v *visitor) await(text string) {
	v.Helper()
	page := ""
	for began := time.Now(); time.Since(began) < waitLimit; time.Sleep(300 * time.Millisecond) {
		if page = v.send(http.MethodGet, "/", nil); strings.Contains(page, text) {
			return
		}
	}
	v.Fatalf("%q does not come up on the page:\n%s", text, page)
}

// TestRobotWithoutBrokerIsUsedOnItsPage: no network, no fleet; a person at the robot stops it,
// releases the stop and changes its mode, and when they leave the page, the robot loses its link.
func TestRobotWithoutBrokerIsUsedOnItsPage(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	robot := launch(t, "r1", program(t, "robotd"),
		[]string{"--id", "r1", "--data", data, "--broker", "mqtt://127.0.0.1:1", "--page", "127.0.0.1:0"}, nil)
	v := visit(t, robot, data)
	v.await(`<p class="big" title="mnl">manual</p>`)
	if page := v.press("/do/enable", nil); !strings.Contains(page, "<strong>Let it move</strong>: done") {
		t.Errorf("enable: %s", page)
	}
	v.await(`title="ENABLED">free to move</p>`)
	v.press("/do/volume", url.Values{"volume": {"35"}})
	v.await("35 %")
	v.press("/do/face", url.Values{"face": {"wink"}})
	v.await(`aria-label="r1: winking`)
	if page := v.press("/do/stop", nil); !strings.Contains(page, "<strong>Stop</strong>: done") {
		t.Errorf("stop: %s", page)
	}
	v.await("Held by <strong dir=\"auto\">local</strong>")
	if page := v.press("/do/enable", nil); !strings.Contains(page, `title="latched"`) {
		t.Errorf("enable of a stopped robot: %s", page)
	}
	if page := v.press("/do/release", nil); !strings.Contains(page, "<strong>Release the stop</strong>: done") {
		t.Errorf("release: %s", page)
	}
	if page := v.press("/do/mode", url.Values{"mode": {"ato"}}); !strings.Contains(page, `title="no_default_story"`) {
		t.Errorf("a mode that is not ready: %s", page)
	}
	if page := v.press("/do/mode", url.Values{"mode": {"str"}}); !strings.Contains(page, "<strong>Mode</strong>: done") {
		t.Errorf("mode: %s", page)
	}
	v.await(`title="mode_changed">another mode is in charge</span> <span dir="auto">start-up → manual`)
	v.await(`title="stop_latched"`)
	robot.log.await(t, "r1", "that the robot has lost the heartbeats of the page", func(line string) bool {
		return strings.Contains(line, "no heartbeat of fleetd or of a panel arrives")
	})
}

// TestRobotWithoutItsAdapterHasItsPage: nobody has started the adapter. The page says so, and a
// stop that is pressed there is in force after a restart, and when the adapter is there.
func TestRobotWithoutItsAdapterHasItsPage(t *testing.T) {
	t.Parallel()
	data, port := t.TempDir(), strconv.Itoa(mosquittotest.FreePort(t))
	bus := "mqtt://127.0.0.1:" + port
	start := func() *process {
		return launch(t, "r1", program(t, "robotd"),
			[]string{"--id", "r1", "--data", data, "--broker", "mqtt://127.0.0.1:1", "--page", "127.0.0.1:0",
				"--body", "bus", "--bus", bus, "--bus-listen", "127.0.0.1:" + port, "--bus-adapters", "talker"}, nil)
	}
	robot := start()
	v := visit(t, robot, data)
	v.await("adapter talker is not there: start it")
	v.await("<code>" + bus + "</code>")
	if page := v.press("/do/enable", nil); !strings.Contains(page, `title="precondition"`) {
		t.Errorf("enable of a robot without a body: %s", page)
	}
	if page := v.press("/do/stop", nil); !strings.Contains(page, "<strong>Stop</strong>: done") || !strings.Contains(page, "Held by") {
		t.Errorf("stop of a robot without a body: %s", page)
	}
	robot.kill()

	v = visit(t, start(), data)
	v.await("adapter talker is not there: start it")
	launch(t, "talker", mosquittotest.PythonWithPaho(t), []string{"-B", filepath.Join(adapters, "python", "talker.py"), "--bus", bus}, nil)
	v.await(`<p class="big" title="mnl">manual</p>`)
	v.await("Held by <strong dir=\"auto\">local</strong>")
	if page := v.press("/do/enable", nil); !strings.Contains(page, `title="latched"`) {
		t.Errorf("enable of a robot that was stopped while it waited: %s", page)
	}
	v.press("/do/release", nil)
	if page := v.press("/do/enable", nil); !strings.Contains(page, "<strong>Let it move</strong>: done") {
		t.Errorf("enable: %s", page)
	}
}
