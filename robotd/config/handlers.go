package config

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/interrupt"
	"troupe/schema/cond"
	"troupe/schema/interrupts"
	"troupe/schema/score"
)

// Handler is what an interrupt does: an act of its own, one of the story or that was taught, the acts of an
// activity, or what an HTTP call answers.
type Handler struct {
	ID       string
	Act      score.Act
	Story    score.Step // the name of an act: one of the story, or one that was taught
	Activity string
	Call     *interrupts.Call
	When     *cond.Condition // if it is not true, requests are refused; nil = always true
	// Idle is how long the handler goes on when nobody touches or presses anything, also
	// after its acts; 0 = it ends with its acts. With a choice on the screen it ends when
	// the choice is made.
	Idle time.Duration
	// UntilCharged: its act brings the robot to its charger. The handler runs only if the battery
	// is low and not charging, and waits until the body may move. It ends when the battery is full
	// enough, and fails if the level does not rise at the charger.
	UntilCharged bool
	// PerformsRequest: its act is the one that somebody asks for with it.
	PerformsRequest bool
}

// DefaultHandlers serve people and look after the battery.
func DefaultHandlers() []Handler {
	zero, look := 0.0, 0.15
	ms := func(n int64) *int64 { return &n }
	return []Handler{
		{ID: interrupt.RequestHandler, PerformsRequest: true},
		{ID: interrupts.Service, Idle: time.Minute, Act: score.Act{
			ID: interrupts.Service, Method: score.MethodMultiple,
			Actions: []score.Action{
				{Do: score.Face{Face: "smile"}},
				{TimeoutMS: ms(2000), Do: score.Head{Axes: score.Axes{YawRad: &zero, PitchRad: &look}}},
				{StartMS: 200, TimeoutMS: ms(8000), Do: score.Say{Text: score.Text{
					"en": "Hello, I am at your service.",
					"de": "Guten Tag, ich bin für Sie da.",
				}}},
				{ID: "service", TimeoutMS: ms(600_000), Do: score.Screen{Text: score.Text{
					"en": "Do you need help?",
					"de": "Brauchen Sie Hilfe?",
				}, Choices: []score.Choice{
					{ID: interrupts.Help, Text: score.Text{"en": "I need help", "de": "Ich brauche Hilfe"}},
					{ID: interrupts.Done, Text: score.Text{"en": "No, thank you", "de": "Nein, danke"}},
				}}},
			},
		}},
		{ID: "attend", Act: score.Act{
			ID: "attend", Method: score.MethodMultiple,
			Actions: []score.Action{
				{EndMS: ms(3000), Do: score.Face{Face: "smile"}},
				{TimeoutMS: ms(2000), Do: score.Head{Axes: score.Axes{PitchRad: &look}}},
			},
		}},
		{ID: "power", UntilCharged: true, Act: score.Act{
			ID: "power", Method: score.MethodMultiple,
			Actions: []score.Action{
				{Do: score.Face{Face: "sleepy"}},
				{TimeoutMS: ms(8000), Do: score.Say{Text: score.Text{
					"en": "My battery is low. I am going to charge.",
					"de": "Meine Batterie ist schwach. Ich gehe laden.",
				}}},
				{StartMS: 500, TimeoutMS: ms(900000), Do: score.Goto{Point: "dock"}},
			},
		}},
	}
}

// setHandlers takes the value of the setting interrupts.handlers: handlers beside those of
// the robot, or in place of one of the same name.
func (c *Config) setHandlers(v jsontext.Value) error {
	list, problems := interrupts.ParseHandlers(v)
	if err := firstOf(problems); err != nil {
		return err
	}
	c.Handlers, c.Interrupts.Handlers = slices.Clone(c.Handlers), slices.Clone(c.Interrupts.Handlers)
	for _, h := range list {
		what := Handler{
			ID: h.ID, Story: score.Step{Act: h.Act, With: h.With}, Activity: h.Activity, Call: h.HTTP, Idle: interrupts.Duration(h.Idle),
		}
		if len(h.Actions) > 0 {
			what.Act, _ = h.Inline()
		}
		if h.When != "" {
			what.When, _ = cond.Parse(h.When)
		}
		c.Handlers = put(c.Handlers, what, func(o Handler) bool { return o.ID == h.ID })
		c.Interrupts.Handlers = put(c.Interrupts.Handlers, interrupt.Handler{
			ID: h.ID, Priority: int(cmp.Or(h.Priority, interrupts.DefaultPriority)), Deadline: cmp.Or(interrupts.Duration(h.Deadline),
				interrupts.DefaultDeadline),
			Moves: true, Activity: h.Activity != "", Preempt: h.Preempt,
		}, func(o interrupt.Handler) bool { return o.ID == h.ID })
	}
	return nil
}

// put replaces the one that is the same, or adds x.
func put[T any](list []T, x T, same func(T) bool) []T {
	if i := slices.IndexFunc(list, same); i >= 0 {
		list[i] = x
		return list
	}
	return append(list, x)
}
