package page

import (
	"strings"
	"testing"
	"time"

	"troupe/schema"
)

// An answer is the last word of the page only as long as it is about the robot as it is.
func TestAnswerEndsWithWhatItIsAbout(t *testing.T) {
	stop := []schema.StopLatch{{ID: "k1", By: "anna"}}
	for name, c := range map[string]struct {
		before, after func(*schema.State)
		answer        schema.Ack
	}{
		"a refusal because of a stop that was released": {
			func(s *schema.State) { s.Safety.Latches = stop }, func(s *schema.State) { s.Safety.Latches = nil },
			schema.Ack{Status: schema.StatusRejected, Reason: schema.ReasonLatched},
		},
		"a refusal because of E_STOP that was reset": {
			func(s *schema.State) { s.Safety.State = schema.SafetyEStop }, func(s *schema.State) { s.Safety.State = schema.SafetyDisabled },
			schema.Ack{Status: schema.StatusRejected, Reason: schema.ReasonNeedsReset},
		},
		"a success, and then somebody stopped the robot": {
			func(s *schema.State) { s.Safety.State = schema.SafetyEnabled }, func(s *schema.State) { s.Safety.State = schema.SafetyDisabled },
			schema.Ack{Status: schema.StatusSucceeded},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, standing()).signIn()
			s.robot.answers = map[string]schema.Ack{"safety/enable": c.answer}
			c.before(s.robot.view.State)
			s.send("POST", "/do/enable", "")
			answered := `<time class="note">` + s.now.Local().Format("15:04:05") + "</time>\n<strong>Let it move</strong>"
			s.shows(answered)
			s.now = s.now.Add(time.Hour)
			s.shows(answered)
			s.send("POST", "/do/enable", "")
			s.shows("<strong>Let it move</strong>")
			c.after(s.robot.view.State)
			s.shows("<strong>Let it move</strong>") // so that the person who pressed the button can read it
			s.now = s.now.Add(shownLeast)
			if _, body, _ := s.send("GET", "/", ""); strings.Contains(body, "<strong>Let it move</strong>") {
				t.Errorf("the answer is still there:\n%s", body)
			}
		})
	}
}

func TestNoAnswerIsShownOnlyUntilTheRobotAnswersAgain(t *testing.T) {
	s := open(t, standing()).signIn()
	s.robot.silent = true
	s.send("POST", "/do/enable", "")
	s.now = s.now.Add(time.Hour)
	s.shows("<strong>Let it move</strong>: no answer")
	s.robot.silent = false
	if _, body, _ := s.send("GET", "/", ""); strings.Contains(body, "<strong>Let it move</strong>") {
		t.Errorf("it is still there:\n%s", body)
	}
}
