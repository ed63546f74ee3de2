package page

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"troupe/schema"
)

// actions are the buttons of the page; each is a word of its texts too.
var actions = []string{"stop", "enable", "reset", "continue", "release", "mode", "volume", "face"}

// do carries out what a button asks for, and leads back to the page, which shows the answer.
func (s *Server) do(w http.ResponseWriter, r *http.Request, token string, _ answer) {
	action := r.PathValue("action")
	s.Robot.Heartbeat(r.Context())
	a, known := s.perform(r, action)
	if !known {
		http.NotFound(w, r)
		return
	}
	a.Action, a.At = action, schema.TimeOf(s.Now())
	s.sessions.answered(token, a)
	s.Logger.Info("page: command", "action", action, "from", r.RemoteAddr, "verb", a.Verb, "status", a.Status, "reason", a.Reason, "detail",
		a.Detail)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *Server) perform(r *http.Request, action string) (a answer, known bool) {
	ctx := r.Context()
	switch action {
	case "stop":
		// Without a name of its own this stop and the next one would be one latched stop.
		latch := "local-" + strings.ToLower(rand.Text()[:10])
		a = s.ask(ctx, "safety/stop", map[string]any{"latch": latch, "why": "stopped at the robot's page"})
		if a.Reason == schema.ReasonUnchanged { // the motion is unchanged, but not the latched stops
			a.Reason, a.Detail = "", "latched as "+latch
		}
		return a, true
	case "enable":
		return s.ask(ctx, "safety/enable", seen(r)), true
	case "reset":
		return s.ask(ctx, "safety/reset", seen(r)), true
	case "continue":
		return s.ask(ctx, "auto/continue", map[string]any{}), true
	case "release":
		return s.release(r), true
	case "mode":
		return s.ask(ctx, "mode/set", map[string]any{"mode": r.PostFormValue("mode")}), true
	case "volume":
		percent, err := strconv.Atoi(r.PostFormValue("volume"))
		if err != nil {
			return answer{Verb: "manual/volume", Status: schema.StatusRejected, Reason: schema.ReasonBadRequest, Detail: "the volume is no number"},
				true
		}
		return s.askInControl(ctx, "manual/volume", map[string]any{"volume": float64(percent) / 100}), true
	case "face":
		return s.askInControl(ctx, "manual/face", map[string]any{"face": r.PostFormValue("face")}), true
	}
	return answer{}, false
}

// seen names what the person saw when the button was pressed, so that a robot that was stopped
// meanwhile does not obey.
func seen(r *http.Request) map[string]any {
	args := map[string]any{}
	if ms, err := strconv.ParseInt(r.PostFormValue("seen"), 10, 64); err == nil {
		args["seen_mono_ms"], args["seen_boot"] = ms, r.PostFormValue("boot")
	}
	return args
}

func (s *Server) ask(ctx context.Context, verb string, args any) answer {
	ack, err := s.Robot.Ask(ctx, verb, args)
	if err != nil {
		return answer{Verb: verb, Silent: true, Detail: err.Error()}
	}
	return answer{Verb: verb, Status: ack.Status, Reason: ack.Reason, Detail: ack.Detail}
}

// askInControl sends a manual command, for which it takes control and gives it back.
func (s *Server) askInControl(ctx context.Context, verb string, args any) answer {
	if a := s.ask(ctx, "control/acquire", map[string]any{"ttl_ms": 5000}); !a.Good() {
		return a
	}
	a := s.ask(ctx, verb, args)
	s.ask(ctx, "control/release", map[string]any{})
	return a
}

// release releases the stops that fleetd has not recorded, for people at the robot itself only:
// over the network nobody but fleetd releases a stop.
func (s *Server) release(r *http.Request) answer {
	refused := func(reason schema.Reason, detail string) answer {
		return answer{Status: schema.StatusRejected, Reason: reason, Detail: detail}
	}
	if !atRobot(r) {
		return refused(schema.ReasonLocalOnly, "open this page on the robot's own computer, or release the stop in the fleet's console")
	}
	before, err := s.Robot.View(r.Context())
	if err == nil && before.Waiting == nil {
		err = s.Robot.ReleaseStops(r.Context())
	}
	if before.Waiting != nil {
		return refused(schema.ReasonPrecondition, "the robot waits for its body; release the stop when it is there")
	}
	var after View
	if err == nil {
		after, err = s.Robot.View(r.Context())
	}
	switch left := after.State; {
	case err != nil:
		return answer{Silent: true, Detail: err.Error()}
	case len(before.State.Safety.Latches) == 0:
		return answer{Status: schema.StatusSucceeded, Reason: schema.ReasonUnchanged}
	case len(left.Safety.Latches) > 0:
		var ids []string
		for _, l := range left.Safety.Latches {
			ids = append(ids, l.ID)
		}
		slices.Sort(ids)
		return refused(schema.ReasonLatched, "the fleet holds "+strings.Join(ids,
			", ")+"; release it in the fleet's console, or with fleetd stop release "+strings.Join(ids, " ")+" --why REASON")
	}
	return answer{Status: schema.StatusSucceeded}
}
