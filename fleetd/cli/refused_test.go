package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/api"
	"troupe/fleetd/cli"
	"troupe/fleetd/view"
	"troupe/schema"
)

func TestAssignDoesNotWaitForRobotOfAnotherFleet(t *testing.T) {
	fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		story := &schema.StoryRef{ID: "museum", Rev: 1}
		robot := view.Robot{ID: "r1", Adopted: true, Presence: view.Presence{Status: "online"}, Desired: view.DesiredStory{
			Story: story, DesiredRev: 7, ReportedRev: 3, Phase: schema.DeployActive, Active: &schema.StoryRef{ID: "other", Rev: 2},
			Reason: schema.ReasonWrongFleet, Detail: "this robot belongs to another fleet",
		}}
		var answer any = api.Assigned{Story: "museum", Rev: 1, Total: 1, Updated: []string{"r1"}}
		if r.Method == http.MethodGet {
			answer = map[string]any{"robots": []view.Robot{robot}}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer fleetd.Close()
	var out strings.Builder
	began := time.Now()
	code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: &out}, "v0", "story", "assign", "museum", "r1", "--wait=8s", "--server",
		fleetd.URL)
	if took := time.Since(began); code != 1 || took > 5*time.Second || !strings.Contains(out.String(), "belongs to another fleet") {
		t.Errorf("exit code %d after %v:\n%s", code, took, out.String())
	}
}

func TestRevokeRequiresReason(t *testing.T) {
	for _, line := range []string{"robot revoke r7", "ca revoke c0ffee"} {
		var out strings.Builder
		code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: &out}, "v0", append(strings.Fields(line), "--server", "http://127.0.0.1:1")...)
		if code != 2 || !strings.Contains(out.String(), "--why") {
			t.Errorf("fleetd %s ended with %d: %s", line, code, out.String())
		}
	}
}

func TestBlankReasonIsRefused(t *testing.T) {
	for _, line := range []string{"robot revoke r7", "ca revoke c0ffee", "stop release stop-1"} {
		var out strings.Builder
		code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: &out}, "v0", append(strings.Fields(line), "--why", " ", "--server",
			"http://127.0.0.1:1")...)
		if code != 2 || !strings.Contains(out.String(), "--why") {
			t.Errorf("fleetd %s --why ' ' ended with %d: %s", line, code, out.String())
		}
	}
}

func TestDesiredGetNamesRefusedSettings(t *testing.T) {
	long := strings.Repeat("a", 200)
	fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reported := schema.ReportedConfig{
			Session: "s", DesiredRev: 2, Phase: schema.DeployActive, Applied: map[string]jsontext.Value{"low_battery": jsontext.Value("0.3")},
			Rejected:      []schema.RejectedKey{{Key: "rules", Reason: schema.ReasonUnknownID, Detail: "there is no handler pat"}},
			RestartNeeded: []string{},
		}
		raw, err := schema.Encode(reported)
		if err != nil {
			t.Error(err)
		}
		desired := `{"rev":2,"ts":"2026-05-17T09:30:00Z","fleet_id":"b108326f-f261-4a6b-ad48-fee8efb991ba","values":{"rules":"` + long + `"}}`
		answer := map[string]any{"desired": []api.DesiredState{{Topic: string(schema.TopicDesiredConfig), Desired: []byte(desired),
			Reported: raw}}}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer fleetd.Close()
	var out, errs strings.Builder
	if code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: &errs}, "v0", "desired", "get", "r1", "--server", fleetd.URL); code != 0 {
		t.Fatalf("ended with %d: %s", code, &errs)
	}
	for _, want := range []string{"active (revision 2) except rules ", "rules refused: unknown_id there is no handler pat", long} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("without %q:\n%s", want, out.String())
		}
	}
}
