package console

import (
	"io/fs"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func page(t *testing.T, path string) (body, policy string) {
	t.Helper()
	answer := httptest.NewRecorder()
	Handler().ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
	if answer.Code != 200 {
		t.Fatalf("GET %s: %d", path, answer.Code)
	}
	return answer.Body.String(), answer.Header().Get("Content-Security-Policy")
}

func TestPageWorksUnderItsContentSecurityPolicy(t *testing.T) {
	html, policy := page(t, "/")
	if policy != Policy || strings.Contains(policy, "unsafe") {
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
	for _, file := range regexp.MustCompile(`(?:src|href)="([^"]+\.(?:js|css|svg))"`).FindAllStringSubmatch(html, -1) {
		page(t, "/"+file[1])
	}
}

func TestScriptNeverWritesMarkup(t *testing.T) {
	script, _ := page(t, "/live.js")
	for _, way := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"} {
		if strings.Contains(script, way) {
			t.Errorf("the script uses %s: text of a robot would become markup of the page", way)
		}
	}
	html, _ := page(t, "/")
	for _, id := range regexp.MustCompile(`byID\('([a-z-]+)'\)`).FindAllStringSubmatch(script, -1) {
		if !strings.Contains(html, `id="`+id[1]+`"`) {
			t.Errorf("the script looks for #%s, which the page does not have", id[1])
		}
	}
	for _, class := range regexp.MustCompile(`at\('\.([a-z-]+)'\)`).FindAllStringSubmatch(script, -1) {
		if !regexp.MustCompile(`class="[^"]*\b` + class[1] + `\b`).MatchString(html) {
			t.Errorf("the script looks for .%s, which the page does not have", class[1])
		}
	}
}

func TestFailedStopIsExplained(t *testing.T) {
	script, _ := page(t, "/live.js")
	for _, want := range []string{"errorText(err)", "fleetd cannot be reached", "AbortSignal.timeout"} {
		if !strings.Contains(script, want) {
			t.Errorf("the script lacks %s", want)
		}
	}
	if strings.Contains(script, "STOP FAILED: ' + err.message") {
		t.Error("the browser's error message is shown to people")
	}
}

func TestPageShowsDisputedNames(t *testing.T) {
	script, _ := page(t, "/live.js")
	for what, want := range map[string]string{
		"why a robot that is online is disputed":    "p.view === 'online' && !p.disputed ? '' : p.why",
		"that another instance has this one's name": "fleetd.disputed + ': two fleetd instances with the same name",
	} {
		if !strings.Contains(script, want) {
			t.Errorf("the script does not show %s", what)
		}
	}
}

func TestPageShowsWhichRobotsAreStopped(t *testing.T) {
	script, _ := page(t, "/live.js")
	style, _ := page(t, "/live.css")
	for what, there := range map[string]bool{
		"mark the card": strings.Contains(script, "dataset.latched = r.latches.length > 0") && strings.Contains(style, "article[data-latched=true]"),
		"count them":    strings.Contains(script, "' stopped by a latched stop'"),
	} {
		if !there {
			t.Errorf("the page does not %s", what)
		}
	}
}

func TestPageDropsRemovedRobotsAndNamesOrphans(t *testing.T) {
	script, _ := page(t, "/live.js")
	for what, want := range map[string]string{
		"drop a robot that was removed from the fleet": "if (r.gone) forget(r.id)",
		"name the command that lists orphans":          "fleetd robot orphans",
	} {
		if !strings.Contains(script, want) {
			t.Errorf("the script does not %s", what)
		}
	}
}

func TestStopIsNeverCalledEmergencyStop(t *testing.T) {
	html, _ := page(t, "/")
	if !strings.Contains(html, "software stop - not an emergency stop") {
		t.Error("the page does not say that its stop is not an emergency stop")
	}
	err := fs.WalkDir(web, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(web, path)
		for _, line := range strings.Split(string(text), "\n") {
			if strings.Contains(strings.ToLower(line), "emergency stop") && !regexp.MustCompile(`not an emergency stop|robot's own emergency stop`).MatchString(line) {
				t.Errorf("%s: %s", path, strings.TrimSpace(line))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestReleaseFormNamesTheStopAndItsEffect(t *testing.T) {
	html, _ := page(t, "/")
	script, _ := page(t, "/live.js")
	for _, want := range []string{"robots that hold no other stop are DISABLED", "why robots may move again"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, want := range []string{"'api/v1/stops'", "'api/v1/stops/release'", "askerText(h)", "h.why", "h.id"} {
		if !strings.Contains(script, want) {
			t.Errorf("the script lacks %s", want)
		}
	}
}

func TestPageShowsLeader(t *testing.T) {
	script, _ := page(t, "/live.js")
	for _, want := range []string{"fleetd.version + ', ' + leaderText()", "led.leads", "led.leader", "led.why"} {
		if !strings.Contains(script, want) {
			t.Errorf("the script lacks %s", want)
		}
	}
}

func TestPageShowsRetainedCommands(t *testing.T) {
	html, _ := page(t, "/")
	script, _ := page(t, "/live.js")
	if !strings.Contains(html, `id="retained-list"`) || !strings.Contains(html, "without the retain flag") {
		t.Error("the page has no element for it")
	}
	for _, want := range []string{"fleetd.retained_commands", "k.topic", "k.client", "k.why", "clock(k.at)"} {
		if !strings.Contains(script, want) {
			t.Errorf("the script lacks %s", want)
		}
	}
}

func TestPageShowsThatStopsMayBeMissing(t *testing.T) {
	html, _ := page(t, "/")
	script, _ := page(t, "/live.js")
	if !strings.Contains(html, `id="latched-incomplete" hidden>More stops may be latched`) {
		t.Error("the page has no element for it")
	}
	for _, want := range []string{"byID('latched-incomplete').hidden = fleetd.latched_complete", "latchedRows.size === 0 && fleetd.latched_complete"} {
		if !strings.Contains(script, want) {
			t.Errorf("the script lacks %s", want)
		}
	}
}
