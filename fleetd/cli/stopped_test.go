package cli

import (
	"strings"
	"testing"

	"troupe/fleetd/view"
	"troupe/schema"
)

// TestStoppedRobotIsNotShownAsPerforming assigns a story to a robot on which a stop is latched.
func TestStoppedRobotIsNotShownAsPerforming(t *testing.T) {
	r := view.Robot{ID: "r1", Latches: []schema.StopLatch{{ID: "s-1"}}}
	r.Desired.Converged = true
	var out strings.Builder
	convergenceTable(&out, []view.Robot{r})
	const want = "stopped by latched stop s-1: performs after its release (fleetd stop release s-1 --why REASON) and fleetd safety enable r1"
	if !strings.Contains(out.String(), want) {
		t.Errorf("without %q:\n%s", want, out.String())
	}
}

func TestRefusedStoryNamesTheWayBack(t *testing.T) {
	r := view.Robot{ID: "r1"}
	r.Desired = view.DesiredStory{DesiredRev: 2, ReportedRev: 2, Phase: schema.DeployRejected, Reason: schema.ReasonStoryInvalid,
		Detail: "there is no point moon"}
	for active, want := range map[*schema.StoryRef]string{
		nil:                   "there is no point moon\n",
		{ID: "hello", Rev: 1}: "there is no point moon; fleetd story revert r1 takes it back\n",
	} {
		r.Desired.Active = active
		var out strings.Builder
		if convergenceTable(&out, []view.Robot{r}); !strings.HasSuffix(out.String(), want) {
			t.Errorf("without %q:\n%s", want, out.String())
		}
	}
}

func TestEndedStoryNamesItsStart(t *testing.T) {
	r := view.Robot{ID: "r5", Auto: schema.AutoStopped, Story: &schema.StoryRef{ID: "show", Rev: 1}}
	if got, want := autoText(r), "ended (fleetd auto start r5)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStopIsTheOnlyReasonWhyNoActivityStarts(t *testing.T) {
	l := &schema.StateLife{Reason: schema.ReasonLatched, Conditions: []schema.LifeCondition{{Activity: "quiz", Why: "the launchpad is off"},
		{Activity: "rest"}}}
	if got, want := strings.Join(waitingTexts(l), "\n"), "no activity starts: latched"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A story that is assigned to a robot that performs waits for the end of an act; the table
// says so, and how not to wait.
func TestWaitingStorySaysWhatItWaitsFor(t *testing.T) {
	var r view.Robot
	r.ID, r.Desired.Phase, r.Desired.DesiredRev = "r1", schema.DeployWaiting, 2
	for reported, want := range map[int64]bool{1: false, 2: true} {
		r.Desired.ReportedRev = reported
		var out strings.Builder
		convergenceTable(&out, []view.Robot{r})
		if got := strings.Contains(out.String(), "takes over when the running act ends"); got != want {
			t.Errorf("reported %d of 2:\n%s", reported, out.String())
		}
	}
}
