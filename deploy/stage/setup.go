package stage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/deploy/library"
	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/desired"
	"troupe/fleetd/selector"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/intents"
	"troupe/schema/score"
)

// setupTimeout bounds each wait for the robots, which normally takes well under a
// second.
const setupTimeout = 60 * time.Second

// pollInterval is how often fleetd is polled meanwhile.
const pollInterval = 50 * time.Millisecond

// operatorSetup carries out what an operator would do to make the robots perform.
type operatorSetup struct {
	cfg     Config
	fleetd  *fleetdClient
	stories []score.Story
	refused map[string]bool // robots that refused a command; the setup does not wait for them
}

func (o *operatorSetup) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{o.awaitRobots, o.labelRobots, o.publishLibrary, o.assignStories, o.assignActivities,
		o.enableRobots, o.setAto, o.awaitPerformances} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// awaitRobots waits until every robot is online and calibrated.
func (o *operatorSetup) awaitRobots(ctx context.Context) error {
	there, err := o.awaitEach(ctx, func(r view.Robot) bool {
		return r.Presence.Status == "online" && r.Adopted && r.Calibrated && r.ModePhase == schema.PhaseRunning
	})
	if err != nil {
		return err
	}
	if len(there) < o.cfg.Robots {
		return fmt.Errorf("only %d of %d robots are online and calibrated after %v; see the log", len(there), o.cfg.Robots, setupTimeout)
	}
	bodies := "simulated bodies"
	if o.cfg.Body == BodyLaptop {
		bodies += ", and this machine as that of r1"
	}
	o.cfg.Say("robots online, with " + bodies + ": " + joinRobots(there))
	return nil
}

// looks are the display names and colours of the first robots. Those after them go by their ids, in colours that these give.
var looks = []struct{ name, colour string }{
	{"Lina", "teal"}, {"Otto", "orange"}, {"Mira", "grape"}, {"Pepe", "lime"}, {"Ada", "pink"}, {"Bruno", "cyan"}, {"Zoe", "yellow"},
	{"Hugo", "indigo"},
}

// labelRobots gives robots without labels the labels of their story, and a look.
func (o *operatorSetup) labelRobots(ctx context.Context) error {
	robots, err := o.listRobots(ctx)
	if err != nil {
		return err
	}
	for i, r := range robots {
		if len(r.Labels) > 0 {
			continue
		}
		labels := map[string]string{}
		maps.Copy(labels, storyFor(o.stories, i).Labels)
		if i < len(looks) {
			labels["name"], labels["colour"] = looks[i].name, looks[i].colour
		}
		body := map[string]any{"labels": labels, "by": operator}
		if _, err := request[view.Robot](ctx, o.fleetd, "PUT", "/robots/"+r.ID+"/labels", nil, body); err != nil {
			return err
		}
	}
	return nil
}

// assignStories gives each robot that never had a desired story the story of its
// number, and waits until every robot has the story that it should have.
func (o *operatorSetup) assignStories(ctx context.Context) error {
	robots, err := o.listRobots(ctx)
	if err != nil {
		return err
	}
	for _, s := range o.stories {
		var ids []string
		for i, r := range robots {
			if r.Desired.DesiredRev == 0 && storyFor(o.stories, i).ID == s.ID {
				ids = append(ids, r.ID)
			}
		}
		if len(ids) == 0 {
			continue
		}
		assigned, err := request[api.Assigned](ctx, o.fleetd, "POST", "/assignments", nil, api.Assignment{
			Story: s.ID, Selector: selector.IDs(ids...), Apply: schema.ApplyNow, Attribution: audit.Attribution{Who: operator},
		})
		if err != nil {
			return err
		}
		o.cfg.Say(fmt.Sprintf("%s is the default story of %s", s.ID, joinIDs(assigned.Updated)))
	}
	_, err = o.awaitEach(ctx, func(r view.Robot) bool { return r.Desired.Converged || r.Desired.Story == nil })
	return err
}

// assignActivities gives robots the activities of their site, and what they do about intents,
// unless they have had activities before.
func (o *operatorSetup) assignActivities(ctx context.Context) error {
	documents, err := library.Activities()
	if err != nil {
		return err
	}
	robots, err := o.listRobots(ctx)
	if err != nil {
		return err
	}
	bySite := map[string][]string{}
	for _, r := range robots {
		if r.Desired.Story != nil && r.Activities == nil {
			bySite[r.Labels["site"]] = append(bySite[r.Labels["site"]], r.ID)
		}
	}
	for _, site := range slices.Sorted(maps.Keys(bySite)) {
		set, err := activitiesOf(documents, site)
		if err != nil {
			return err
		}
		ids := bySite[site]
		_, err = request[api.DesiredResult](ctx, o.fleetd, "POST", "/desired", nil, api.DesiredRequest{
			Selector: selector.IDs(ids...), Attribution: audit.Attribution{Who: operator},
			Config: &desired.Config{Set: map[string]jsontext.Value{intents.TableSetting: library.Intents(set)}},
		})
		if err != nil {
			return err
		}
		assigned, err := request[api.ActivitiesAssigned](ctx, o.fleetd, "POST", "/activities/assignments", nil, api.ActivitiesAssignment{
			Activities: set, Selector: selector.IDs(ids...), Attribution: audit.Attribution{Who: operator},
		})
		if err != nil {
			return err
		}
		o.cfg.Say(fmt.Sprintf("the activities of %s: %s", joinIDs(assigned.Updated), strings.Join(set, ", ")))
	}
	_, err = o.awaitEach(ctx, func(r view.Robot) bool { return r.Activities == nil || r.Activities.Converged })
	return err
}

// activitiesOf returns the activities that are for robots of a site.
func activitiesOf(documents []library.Document, site string) (set []string, err error) {
	for _, d := range documents {
		a, problems := score.ParseActivity(d.Text)
		if len(problems) > 0 {
			return nil, fmt.Errorf("%s: %v", d.Path, problems[0])
		}
		if of := a.Labels["site"]; of == library.AnySite || of == site {
			set = append(set, a.ID)
		}
	}
	return set, nil
}

// enableRobots enables the robots. They never do that by themselves; here the
// person who started the stage has asked for it.
func (o *operatorSetup) enableRobots(ctx context.Context) error {
	return o.sendCommand(ctx, "safety/enable", "", func(view.Robot) bool { return true },
		"were enabled by the demo: by starting it you allowed them to move")
}

// setAto sets mode ato on robots that are not in it.
func (o *operatorSetup) setAto(ctx context.Context) error {
	return o.sendCommand(ctx, "mode/set", `{"mode":"ato"}`,
		func(r view.Robot) bool { return r.Mode != schema.ModeAto && r.Desired.Story != nil },
		"were set to mode ato: they perform")
}

// sendCommand sends a command to the robots that it applies to, and prints which
// robots refused it.
func (o *operatorSetup) sendCommand(ctx context.Context, verb, args string, applies func(view.Robot) bool, done string) error {
	robots, err := o.listRobots(ctx)
	if err != nil {
		return err
	}
	robots = slices.DeleteFunc(robots, func(r view.Robot) bool { return !applies(r) })
	if len(robots) == 0 {
		return nil
	}
	body := map[string]any{"verb": verb, "selector": selector.IDs(ids(robots)...), "by": operator, "why": "the demo was started"}
	if args != "" {
		body["args"] = jsontext.Value(args)
	}
	batch, err := request[api.Batch](ctx, o.fleetd, "POST", "/commands", nil, body)
	if err != nil {
		return err
	}
	var succeeded []string
	latched := false
	for _, c := range batch.Commands {
		if c.State == "SUCCEEDED" {
			succeeded = append(succeeded, c.Robot)
			continue
		}
		why := c.Because
		if c.Answer != nil {
			why = string(c.Answer.Reason) + ": " + c.Answer.Detail
			latched = latched || c.Answer.Reason == schema.ReasonLatched
		}
		o.refused[c.Robot] = true
		o.cfg.Say(fmt.Sprintf("%s to %s: %s %s", verb, c.Robot, c.State, why))
	}
	if latched {
		o.cfg.Say("stops of an earlier run are still latched: fleetd stop list shows them, fleetd stop release ID --why REASON releases one")
	}
	if len(succeeded) > 0 {
		o.cfg.Say(joinIDs(succeeded) + " " + done)
	}
	return nil
}

// awaitPerformances waits until every robot with a story performs it, and prints
// of each other robot why it does not.
func (o *operatorSetup) awaitPerformances(ctx context.Context) error {
	performs := func(r view.Robot) bool {
		lives := r.Life != nil && r.Life.Focused != "" // the story continues after the activity
		return r.Mode == schema.ModeAto && (lives || r.Auto == schema.AutoPerforming && r.Act != "")
	}
	if _, err := o.awaitEach(ctx, func(r view.Robot) bool { return r.Desired.Story == nil || o.refused[r.ID] || performs(r) }); err != nil {
		return err
	}
	robots, err := o.listRobots(ctx)
	if err != nil {
		return err
	}
	for _, r := range robots {
		if r.Desired.Story == nil {
			o.cfg.Say(r.ID + " has no default story: somebody removed it")
		} else if !performs(r) && !o.refused[r.ID] {
			o.cfg.Say(fmt.Sprintf("%s does not perform: mode %s, auto %s %s, safety %s, story %s %s", r.ID, r.Mode, r.Auto, r.AutoReason, r.Safety,
				r.Desired.Phase, r.Desired.Reason))
		}
	}
	return nil
}

// awaitEach waits until the condition holds for every robot or setupTimeout is
// over, and returns the robots for which it holds.
func (o *operatorSetup) awaitEach(ctx context.Context, holds func(view.Robot) bool) ([]view.Robot, error) {
	timeout := time.NewTimer(setupTimeout)
	defer timeout.Stop()
	for {
		robots, err := o.listRobots(ctx)
		if err != nil {
			return nil, err
		}
		robots = slices.DeleteFunc(robots, func(r view.Robot) bool { return !holds(r) })
		if len(robots) == o.cfg.Robots {
			return robots, nil
		}
		select {
		case <-time.After(pollInterval):
		case <-timeout.C:
			return robots, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// listRobots returns this stage's robots as fleetd sees them, in the order of
// their numbers. fleetd may know others from earlier runs.
func (o *operatorSetup) listRobots(ctx context.Context) ([]view.Robot, error) {
	list, err := request[struct {
		Robots []view.Robot `json:"robots"`
	}](ctx, o.fleetd, "GET", "/robots", nil, nil)
	if err != nil {
		return nil, err
	}
	var ours []view.Robot
	for i := range o.cfg.Robots {
		if at := slices.IndexFunc(list.Robots, func(r view.Robot) bool { return r.ID == robotID(i) }); at >= 0 {
			ours = append(ours, list.Robots[at])
		}
	}
	return ours, nil
}

func ids(robots []view.Robot) []string {
	var out []string
	for _, r := range robots {
		out = append(out, r.ID)
	}
	return out
}

func joinRobots(robots []view.Robot) string { return joinIDs(ids(robots)) }

// joinIDs lists robots; of more than eight only the first and the last.
func joinIDs(ids []string) string {
	if len(ids) <= 8 {
		return strings.Join(ids, " ")
	}
	return fmt.Sprintf("%d robots: %s ... %s", len(ids), ids[0], ids[len(ids)-1])
}
