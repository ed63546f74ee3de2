package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/score"
)

// watcher follows robots: their events, and whether they are there.
type watcher struct {
	sh      *shell
	only    string // the one robot that is watched; empty = several
	colours bool

	start     time.Time        // events that fleetd received earlier are not printed
	since     time.Time        // those until then have been read
	seen      map[eventID]bool // events of the last poll
	robots    map[string]*narrator
	presences map[string]string
	acts      map[string]actText
}

type eventID struct {
	robot, boot string
	seq         int64
}

// overlap is how far each poll reaches back into the one before: fleetd stores events of
// several robots at once, and not always in the order in which it received them.
const overlap = 2 * time.Second

// watch prints a line for everything that happens. When the connection is lost it prints a
// message and connects again; the events of meanwhile follow.
func (sh *shell) watch(ctx context.Context, query url.Values, robots []string) error {
	w := &watcher{sh: sh, seen: map[eventID]bool{}, robots: map[string]*narrator{}, presences: map[string]string{}, acts: map[string]actText{}}
	if len(robots) == 1 {
		w.only = robots[0]
	}
	s, ok := sh.screenOf(sh.Out).(screen)
	w.colours = ok && s.colours
	reported := "" // what keeps it from reading; once
	for {
		err := sh.readStream(ctx, query, func(event string, data []byte) error {
			reported = ""
			return w.read(ctx, event, data)
		})
		var f *failure
		switch {
		case ctx.Err() != nil:
			return nil // interrupted by the user
		case errors.As(err, &f) && !f.isTemporary():
			return err
		}
		if err.Error() != reported {
			reported = err.Error()
			fmt.Fprintln(sh.Err, "fleetd:", err, "- trying again")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// read takes an event of fleetd's stream. Each is also an occasion to look for events of
// robots; fleetd sends at least its status every 2 s.
func (w *watcher) read(ctx context.Context, event string, data []byte) error {
	var changed []view.Robot
	if event == "robots" || event == "changes" {
		var got robotList
		if err := json.Unmarshal(data, &got); err != nil {
			return fmt.Errorf("read fleetd's stream: %w", err)
		}
		if changed = got.Robots; w.start.IsZero() {
			w.start = got.TS.Time()
			w.since = w.start
		}
		for _, r := range changed {
			if err := w.printPresence(ctx, got.TS, r); err != nil {
				return err
			}
		}
	}
	return w.poll(ctx)
}

// printPresence prints the presence of a robot if it has changed, and of a robot that is new to the
// watch also what it does.
func (w *watcher) printPresence(ctx context.Context, at schema.Time, r view.Robot) error {
	n, known := w.robots[r.ID]
	if !known {
		n = &narrator{act: func(story, act string) actText { return w.act(ctx, r.ID, story, act) }}
		w.robots[r.ID] = n
		if err := w.findScenarioClock(ctx, r.ID, n); err != nil {
			return err
		}
	}
	if r.Story != nil {
		n.story = r.Story.ID
	}
	if !known {
		n.current = r.Act
	}
	presence := presenceText(r)
	if r.Gone {
		presence = "gone"
	}
	if w.presences[r.ID] == presence {
		return nil
	}
	w.presences[r.ID] = presence
	line := watchLine{Kind: kindLink, Text: "is " + presence}
	if !known {
		line.Text = "is " + presence + "; " + doesText(r)
	}
	if err := w.print(n.at(at), r.ID, line, nil); err != nil || known {
		return err
	}
	for _, present := range presentTrouble(r) {
		if err := w.print(n.at(at), r.ID, present, nil); err != nil {
			return err
		}
	}
	return nil
}

// presentTrouble returns what began before the watch, and what to do about it.
func presentTrouble(r view.Robot) (lines []watchLine) {
	if r.CauseDetail != "" {
		lines = append(lines, watchLine{kindSafety, "is in " + safetyDetail(r)})
	}
	for _, text := range alertLines(r.Alerts) {
		lines = append(lines, watchLine{kindAlert, inCommands(text, r.ID)})
	}
	return lines
}

// doesText says what a robot does when the watch begins.
func doesText(r view.Robot) string {
	text := "mode " + longModeText(r) + ", safety " + safetyText(r) + ", ato " + autoText(r)
	if r.Story != nil && r.Auto == schema.AutoPerforming {
		text += " " + storyText(r)
	}
	if alerts := alertText(r); alerts != "" {
		text += ", alerts " + alerts
	}
	return text
}

// findScenarioClock finds the clock of the scenario that a robot plays, unless it has restarted since.
func (w *watcher) findScenarioClock(ctx context.Context, robot string, n *narrator) error {
	var newest []api.Event
	for _, kind := range []string{"", "sim_input", "sim_scenario"} {
		events, err := w.events(ctx, given{"robot": robot, "type": kind, "limit": 1})
		if err != nil {
			return err
		}
		if newest = append(newest, events...); len(events) > 0 && events[0].Boot == newest[0].Boot {
			n.setClock(events[0].Event)
		}
	}
	return nil
}

func (w *watcher) events(ctx context.Context, which given) ([]api.Event, error) {
	var got eventList
	err := w.sh.do(ctx, "list-events", which, &got)
	return got.Events, err
}

// poll prints the events that fleetd has received since the last poll.
func (w *watcher) poll(ctx context.Context) error {
	if w.start.IsZero() {
		return nil
	}
	events, err := w.events(ctx, given{"since": w.since.Add(-overlap).UTC().Format(time.RFC3339Nano), "limit": maxEvents, "robot": w.only})
	if err != nil {
		return err
	}
	seen := map[eventID]bool{}
	fresh := slices.DeleteFunc(events, func(e api.Event) bool {
		id := eventID{e.Robot, e.Boot, e.Seq}
		old := w.seen[id]
		seen[id] = true
		if t := e.Received.Time(); t.After(w.since) {
			w.since = t
		}
		return old || e.Received.Time().Before(w.start) || w.robots[e.Robot] == nil
	})
	w.seen = seen
	slices.SortStableFunc(fresh, func(a, b api.Event) int {
		return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(a.Seq, b.Seq))
	})
	for _, e := range fresh {
		n := w.robots[e.Robot]
		if err := w.printAll(e.Robot, n.narrate(e.Event)); err != nil {
			return err
		}
	}
	for id, n := range w.robots {
		if err := w.printAll(id, n.flush(time.Now())); err != nil {
			return err
		}
	}
	return nil
}

func (w *watcher) printAll(robot string, lines []timedLine) error {
	for _, l := range lines {
		if err := w.print(l.at, robot, l.watchLine, l.event); err != nil {
			return err
		}
	}
	return nil
}

// maxEvents is how many events one poll reads at most; older ones are left out.
const maxEvents = 1000

// jsonLine is a line as JSON.
type jsonLine struct {
	At       schema.Time `json:"at"`
	Scenario string      `json:"scenario,omitempty"` // time by the clock of the scenario that the robot plays
	Robot    string      `json:"robot"`
	watchLine
	Event *schema.Event `json:"event,omitempty"` // absent for what fleetd itself noticed
}

func (w *watcher) print(at moment, robot string, line watchLine, e *schema.Event) error {
	if !w.sh.forPeople() {
		return w.sh.showNext(jsonLine{at.wall, at.scenario, robot, line, e})
	}
	clock := at.scenario
	if clock == "" {
		clock = at.wall.Time().Local().Format(time.TimeOnly)
	}
	who := ""
	if w.only == "" {
		who = fmt.Sprintf("%-4s ", robot)
	}
	text := fmt.Sprintf("%s  %s%-9s  %s", clock, who, line.Kind, oneLine(line.Text))
	colour := ""
	if w.colours {
		colour = colours[line.Kind]
	}
	if err := writeInColour(w.sh.Out, colour, text); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w.sh.Out)
	return err
}

// act looks up an act, once for each story that has it.
func (w *watcher) act(ctx context.Context, robot, story, id string) actText {
	key := robot + "/" + story + "/" + id
	known, ok := w.acts[key]
	if !ok {
		known = w.readAct(ctx, robot, story, id)
		w.acts[key] = known
	}
	return known
}

// readAct returns the id of an act as its name if nothing more is known. It says what the story
// says that the robot performs, as published, and nothing if its steps say different things.
func (w *watcher) readAct(ctx context.Context, robot, story, id string) actText {
	var d view.Detail
	if w.sh.do(ctx, "get-robot", given{"id": robot}, &d) != nil || d.Caps == nil {
		return actText{name: id}
	}
	published, steps := w.published(ctx, d, story, id)
	if len(steps) == 0 {
		published, steps = w.newest(ctx, id), []score.Step{{Act: id}}
	}
	text := actText{name: orElse(published.Name.In("en"), id)}
	for i, step := range steps {
		says := firstSaid(published.Resolve(step).Actions).In(d.Caps.Languages...)
		if i > 0 && says != text.says {
			return actText{name: text.name}
		}
		text.says = says
	}
	return text
}

// published returns an act of the story that the robot performs, and the steps of that story
// that name it; no steps if the robot performs another story.
func (w *watcher) published(ctx context.Context, d view.Detail, story, id string) (score.Act, []score.Step) {
	if d.Story == nil || d.Story.ID != story {
		return score.Act{}, nil
	}
	b, problems := score.ParsePublishedStory(w.revision(ctx, "story", story, d.Story.Rev))
	if len(schema.Errors(problems)) > 0 {
		return score.Act{}, nil
	}
	return b.Acts[id], slices.DeleteFunc(b.Story.Acts, func(s score.Step) bool { return s.Act != id })
}

// newest returns the newest published revision of an act; an empty act if there is none.
func (w *watcher) newest(ctx context.Context, id string) (act score.Act) {
	var e api.Entry
	if id == "" || w.sh.do(ctx, "get-act", given{"id": id}, &e) != nil {
		return act
	}
	act, problems := score.ParseAct(w.revision(ctx, "act", id, e.Rev))
	if len(schema.Errors(problems)) > 0 {
		return score.Act{}
	}
	return act
}

// revision returns a published revision; nothing if there is none.
func (w *watcher) revision(ctx context.Context, kind, id string, rev int64) (body json.RawMessage) {
	_ = w.sh.do(ctx, "get-published-"+kind, given{"id": id, "rev": rev}, &body)
	return body
}

// firstSaid returns the first text that an act says.
func firstSaid(actions []score.Action) score.Text {
	for _, a := range actions {
		if say, ok := a.Do.(score.Say); ok {
			return say.Text
		}
		if text := firstSaid(a.Inner()); len(text) > 0 {
			return text
		}
	}
	return nil
}
