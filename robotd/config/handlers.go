package config

import (
	"time"

	"troupe/robotd/interrupt"
	"troupe/schema/score"
)

// Handler is what an interrupt does: an act, and then a wait for its end.
type Handler struct {
	ID  string
	Act score.Act
	// Patience is how long the handler goes on after its act when nothing ends
	// it; 0 = it ends with its act.
	Patience time.Duration
	// UntilCharged: its act brings the robot to its charger. It is only for a battery that
	// is low and not charging, and waits until the body may move; it ends when the battery
	// is full enough, and fails when the level does not rise.
	UntilCharged bool
	// Asked: its act is the one that somebody asks for with it.
	Asked bool
}

// DefaultHandlers serve people and look after the battery.
func DefaultHandlers() []Handler {
	zero, look := 0.0, 0.15
	ms := func(n int64) *int64 { return &n }
	return []Handler{
		{ID: interrupt.RequestHandler, Asked: true},
		{ID: "service", Patience: time.Minute, Act: score.Act{
			ID: "service", Method: score.MethodMultiple,
			Actions: []score.Action{
				{Type: score.TypeFace, Face: "smile"},
				{Type: score.TypeHead, YawRad: &zero, PitchRad: &look, TimeoutMS: ms(2000)},
				{Type: score.TypeSay, StartMS: 200, TimeoutMS: ms(8000), Text: score.Text{
					"en": "Hello, I am at your service.",
					"de": "Guten Tag, ich bin für Sie da.",
				}},
			},
		}},
		{ID: "attend", Act: score.Act{
			ID: "attend", Method: score.MethodMultiple,
			Actions: []score.Action{
				{Type: score.TypeFace, Face: "smile", EndMS: ms(3000)},
				{Type: score.TypeHead, PitchRad: &look, TimeoutMS: ms(2000)},
			},
		}},
		{ID: "power", UntilCharged: true, Act: score.Act{
			ID: "power", Method: score.MethodMultiple,
			Actions: []score.Action{
				{Type: score.TypeFace, Face: "sleepy"},
				{Type: score.TypeSay, TimeoutMS: ms(8000), Text: score.Text{
					"en": "My battery is low. I am going to charge.",
					"de": "Meine Batterie ist schwach. Ich gehe laden.",
				}},
				{Type: score.TypeGoto, StartMS: 500, Point: "dock", TimeoutMS: ms(900000)},
			},
		}},
	}
}
