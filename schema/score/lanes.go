package score

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"troupe/schema"
)

// Timeline is what an act, or one round of a story, does on each unit by time, without
// pauses. Where an action ends with its unit, the time is an estimate.
type Timeline struct {
	LengthMS int64 `json:"length_ms" doc:"estimated; from least_ms to most_ms if no action has to wait for another on its unit"`
	LeastMS  int64 `json:"least_ms"`
	MostMS   int64 `json:"most_ms"`

	Acts   []ActSpan `json:"acts" doc:"of a story: its acts, one after another"`
	Lanes  []Lane    `json:"lanes" doc:"what each unit does; the bars of a lane do not overlap"`
	Frozen []Freeze  `json:"frozen" doc:"when an exclusive action stops the clock of its group"`
}

// ActSpan is one act of a story.
type ActSpan struct {
	Act       string `json:"act"`
	Step      int    `json:"step" doc:"its place in the story, from 0"`
	StartMS   int64  `json:"start_ms"`
	EndMS     int64  `json:"end_ms"`
	Estimated bool   `json:"estimated,omitempty" doc:"its duration is an estimate"`
}

// Lane is what one unit does. A unit has a lane for each class of actions; sounds or waits
// that overlap are in several lanes of one class.
type Lane struct {
	Class Class  `json:"class"`
	Unit  string `json:"unit,omitempty" doc:"the unit that its actions name; empty: the first that can"`
	Bars  []Bar  `json:"bars"`
}

// Bar is one action on a lane. An action that takes effect at once starts and ends at the
// same time.
type Bar struct {
	StartMS int64 `json:"start_ms"`
	EndMS   int64 `json:"end_ms"`

	StartEstimated bool  `json:"start_estimated,omitempty" doc:"it starts after something whose duration is an estimate"`
	Estimated      bool  `json:"estimated,omitempty" doc:"its duration is an estimate: it ends when its unit is done"`
	WaitsMS        int64 `json:"waits_ms,omitempty" doc:"it is due so much earlier, and waits for the one before it"`

	Type    ActionType `json:"type"`
	Text    string     `json:"text,omitempty" doc:"what it says or does, in one language"`
	Lang    string     `json:"lang,omitempty" doc:"the language of what it says or shows, such as de"`
	Step    int        `json:"step,omitempty" doc:"of a story: the act it belongs to"`
	Pointer string     `json:"pointer" doc:"of the action in its act; below an action of type act, of the action in that act"`
	ID      string     `json:"id,omitempty"`

	// Action is what is performed, with the parameters of its act filled in.
	Action *Action `json:"-"`
}

// Freeze is a time in which a group has one exclusive action run alone.
type Freeze struct {
	StartMS        int64  `json:"start_ms"`
	EndMS          int64  `json:"end_ms"`
	StartEstimated bool   `json:"start_estimated,omitempty"`
	Estimated      bool   `json:"estimated,omitempty" doc:"its duration is an estimate"`
	Step           int    `json:"step,omitempty" doc:"of a story: the act it belongs to"`
	Pointer        string `json:"pointer" doc:"of the exclusive action"`
	Group          string `json:"group" doc:"pointer of the group whose clock stands still; empty: that of the act"`
	Text           string `json:"text"`
}

// ActTimeline returns the timeline of an act that has no errors, with the defaults of its
// parameters and its texts in the first of langs that they have, or else in English.
func ActTimeline(a Act, lookup Lookup, langs ...string) (Timeline, []schema.Problem) {
	b := newTimeline(append(slices.Clip(langs), "en"))
	found := b.act(a, lookup, Step{}, 0)
	return b.Timeline, found
}

// StoryTimeline returns the timeline of one round of a story whose acts have no errors.
// The languages of the story follow langs.
func StoryTimeline(s Story, lookup Lookup, langs ...string) (Timeline, []schema.Problem) {
	b := newTimeline(append(slices.Clip(langs), s.Languages...))
	for i, step := range s.Acts {
		a, ok := lookup(step.Act)
		if !ok {
			return Timeline{}, []schema.Problem{schema.NewProblem(at("/acts", i, "act"), CodeUnknownAct, "there is no act "+step.Act,
				"save the act first, or correct its name")}
		}
		before := b.Timeline
		if found := b.act(a, lookup, step, i); len(found) > 0 {
			return Timeline{}, found
		}
		b.Acts = append(b.Acts, ActSpan{Act: step.Act, Step: i, StartMS: before.LengthMS, EndMS: b.LengthMS,
			Estimated: b.LeastMS-before.LeastMS != b.MostMS-before.MostMS})
	}
	return b.Timeline, nil
}

type timelineBuilder struct {
	Timeline
	langs []string
}

func newTimeline(langs []string) *timelineBuilder {
	return &timelineBuilder{Timeline: Timeline{Acts: []ActSpan{}, Lanes: []Lane{}, Frozen: []Freeze{}}, langs: langs}
}

// act appends an act, which starts at the end of what is there.
func (b *timelineBuilder) act(a Act, lookup Lookup, step Step, number int) []schema.Problem {
	whole, found := a.Resolve(step).Expand(lookup)
	if len(found) > 0 {
		return found
	}
	from, estimated := b.LengthMS, b.LeastMS != b.MostMS
	s := simulate(whole)
	slices.SortStableFunc(s.all, func(x, y *simAction) int { return cmp.Compare(x.start, y.start) })
	for _, c := range s.all {
		b.place(c.lane(), c.row.Shares(), Bar{
			StartMS: from + c.start, EndMS: from + c.end, StartEstimated: estimated || c.startEstimated, Estimated: c.lastsEstimated,
			WaitsMS: c.start - c.due, Type: c.row.Type, Text: c.action.shown(b.langs), Lang: c.action.language(b.langs), Step: number,
			Pointer: c.pointer, ID: c.action.ID, Action: c.action,
		})
	}
	b.freezes(s.root, from, estimated, number)
	least, most := whole.Lasts()
	b.LengthMS, b.LeastMS, b.MostMS = from+s.root.end, b.LeastMS+least, b.MostMS+most
	return nil
}

// place adds a bar to the first lane of its class in which nothing else is at its time. A
// class whose actions do not overlap has one.
func (b *timelineBuilder) place(l lane, shares bool, bar Bar) {
	i := slices.IndexFunc(b.Lanes, func(have Lane) bool {
		return have.Class == l.class && have.Unit == l.unit && (!shares || have.Bars[len(have.Bars)-1].EndMS <= bar.StartMS)
	})
	if i >= 0 {
		b.Lanes[i].Bars = append(b.Lanes[i].Bars, bar)
		return
	}
	b.Lanes = append(b.Lanes, Lane{Class: l.class, Unit: l.unit, Bars: []Bar{bar}})
	slices.SortStableFunc(b.Lanes, func(x, y Lane) int {
		return cmp.Or(cmp.Compare(classOrder(x.Class), classOrder(y.Class)), cmp.Compare(x.Unit, y.Unit))
	})
}

// classOrder is the place of a class in the table of actions.
func classOrder(c Class) int {
	return slices.IndexFunc(Table, func(r ActionRow) bool { return r.Class == c })
}

func (b *timelineBuilder) freezes(g *simAction, from int64, estimated bool, number int) {
	for _, c := range g.cues {
		if c.alone && c.end > c.start {
			b.Frozen = append(b.Frozen, Freeze{
				StartMS: from + c.start, EndMS: from + c.end, StartEstimated: estimated || c.startEstimated, Estimated: c.lastsEstimated,
				Step: number, Pointer: c.pointer, Group: g.pointer, Text: strings.Join(c.types(), ", ") + " alone",
			})
		}
		b.freezes(c, from, estimated, number)
	}
}

// types lists the types of the actions in c, each once.
func (c *simAction) types() []string {
	if c.row.Type != TypeGroup {
		return []string{string(c.row.Type)}
	}
	var all []string
	for _, k := range c.cues {
		for _, t := range k.types() {
			if !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	return all
}

// Shown says in a few words what x does, as bars of a timeline do.
func (x *Action) Shown(langs ...string) string { return x.shown(langs) }

// shown says in a few words what x does.
func (x *Action) shown(langs []string) string {
	if s, ok := x.Do.(shower); ok {
		return s.shown(langs)
	}
	return ""
}

// language returns the language of the text that shown returns; empty if it has none.
func (x *Action) language(langs []string) string {
	if choices := x.Choices(); x.Text() == nil && len(choices) > 0 {
		return choices[0].Text.Language(langs...)
	}
	return x.Text().Language(langs...)
}

const degree = math.Pi / 180

// number is a value that says where or how fast something moves; nil if it is not given.
type number struct {
	name, unit string
	size       float64 // of the unit of measure, in what value counts
	value      *float64
}

// numbers writes the numbers that are given, with angles in degrees.
func numbers(list ...number) string {
	var words []string
	for _, n := range list {
		if n.value == nil {
			continue
		}
		v := *n.value
		if n.size != 1 {
			v = math.Round(v/n.size*10) / 10
		}
		words = append(words, fmt.Sprintf("%s %v%s", n.name, v, n.unit))
	}
	return strings.Join(words, ", ")
}
