package stage

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/deploy/library"
	"troupe/fleetd/api"
	"troupe/fleetd/selector"
	"troupe/schema"
	"troupe/schema/score"
)

// patience bounds each wait for the robots, which takes well under a second.
const patience = 60 * time.Second

// look is how often fleetd is asked meanwhile.
const look = 50 * time.Millisecond

// An opening is what a person would do to make the robots perform.
type opening struct {
	cfg     Config
	fleetd  *fleetd
	stories []score.Story
	refused map[string]bool // robots that did not do what they were told; nobody waits for them
}

func (o *opening) perform(ctx context.Context) error {
	for _, step := range []func(context.Context) error{o.gather, o.label, o.publish, o.assign, o.enable, o.setAto, o.watch} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// gather waits until every robot is there and calibrated.
func (o *opening) gather(ctx context.Context) error {
	there, err := o.until(ctx, func(r api.Robot) bool {
		return r.Presence.View == "online" && r.Adopted && r.Calibrated && r.ModePhase == schema.PhaseRunning
	})
	if err != nil {
		return err
	}
	if len(there) < o.cfg.Robots {
		return fmt.Errorf("only %d of %d robots are there and calibrated after %v; the log has more", len(there), o.cfg.Robots, patience)
	}
	o.cfg.Say("robots are there, with simulated bodies: " + names(there))
	return nil
}

// label says of robots without labels what they are there for.
func (o *opening) label(ctx context.Context) error {
	robots, err := o.robots(ctx)
	if err != nil {
		return err
	}
	for i, r := range robots {
		if len(r.Labels) > 0 {
			continue
		}
		body := map[string]any{"labels": story(o.stories, i).Labels, "by": operator}
		if _, err := ask[api.Robot](ctx, o.fleetd, "PUT", "/robots/"+r.ID+"/labels", nil, body); err != nil {
			return err
		}
	}
	return nil
}

// publish brings the sounds, acts and stories that ship into fleetd's library.
// What a person changed or deleted there stays so.
func (o *opening) publish(ctx context.Context) error {
	if err := o.putSounds(ctx); err != nil {
		return err
	}
	acts, err := library.Acts()
	if err != nil {
		return err
	}
	stories, err := library.Stories()
	if err != nil {
		return err
	}
	published := 0
	for _, kind := range []struct {
		path      string
		documents []library.Document
	}{{"/acts", acts}, {"/stories", stories}} {
		n, err := o.publishAll(ctx, kind.path, kind.documents)
		if err != nil {
			return err
		}
		published += n
	}
	switch all := len(acts) + len(stories); published {
	case 0:
		o.cfg.Say("the library is as it was")
	case all:
		o.cfg.Say(fmt.Sprintf("%d acts and %d stories are published", len(acts), len(stories)))
	default:
		o.cfg.Say(fmt.Sprintf("%d of %d acts and stories were new or changed, and are published", published, all))
	}
	return nil
}

// putSounds comes before what names them, so that it is published with them. One
// that somebody deleted is put again: nothing remembers it.
func (o *opening) putSounds(ctx context.Context) error {
	sounds, err := library.Sounds()
	if err != nil {
		return err
	}
	known, err := ask[struct {
		Assets []api.Asset `json:"assets"`
	}](ctx, o.fleetd, "GET", "/assets", nil, nil)
	if err != nil {
		return err
	}
	for _, d := range sounds {
		if slices.ContainsFunc(known.Assets, func(a api.Asset) bool { return a.Name == d.ID && a.By != operator }) {
			continue
		}
		if _, err := ask[api.Uploaded](ctx, o.fleetd, "PUT", "/assets/"+d.ID, url.Values{"by": {operator}}, octets(d.Text)); err != nil {
			return err
		}
	}
	return nil
}

func (o *opening) publishAll(ctx context.Context, path string, documents []library.Document) (published int, err error) {
	known, err := ask[struct {
		Entries []api.Entry `json:"entries"`
	}](ctx, o.fleetd, "GET", path, url.Values{"deleted": {"true"}}, nil)
	if err != nil {
		return 0, err
	}
	for _, d := range documents {
		i := slices.IndexFunc(known.Entries, func(e api.Entry) bool { return e.ID == d.ID })
		if i >= 0 && (known.Entries[i].DeletedAt != 0 || known.Entries[i].ChangedBy != operator) {
			continue
		}
		saved, err := ask[api.Saved](ctx, o.fleetd, "PUT", path+"/"+d.ID, url.Values{"by": {operator}}, document(d.Text))
		if err != nil {
			return published, err
		}
		if saved.Unchanged && saved.Entry.Rev > 0 {
			continue
		}
		if _, err := ask[api.Published](ctx, o.fleetd, "POST", path+"/"+d.ID+"/publish", nil, api.Signed{By: operator}); err != nil {
			return published, err
		}
		published++
	}
	return published, nil
}

// assign gives robots that were never told anything the story they are there
// for, and waits until each robot has what it should have.
func (o *opening) assign(ctx context.Context) error {
	robots, err := o.robots(ctx)
	if err != nil {
		return err
	}
	for _, s := range o.stories {
		var whom []string
		for i, r := range robots {
			if r.Desired.DesiredRev == 0 && story(o.stories, i).ID == s.ID {
				whom = append(whom, r.ID)
			}
		}
		if len(whom) == 0 {
			continue
		}
		ask, err := ask[api.Assigned](ctx, o.fleetd, "POST", "/assignments", nil, api.Assignment{
			Story: s.ID, Selector: selector.IDs(whom...), Apply: schema.ApplyNow, Signed: api.Signed{By: operator},
		})
		if err != nil {
			return err
		}
		o.cfg.Say(fmt.Sprintf("%s is the default story of %s", s.ID, listed(ask.Updated)))
	}
	_, err = o.until(ctx, func(r api.Robot) bool { return r.Desired.Converged || r.Desired.Story == nil })
	return err
}

// enable lets the robots move. They never do that by themselves; here it is the
// person who started the stage who lets them.
func (o *opening) enable(ctx context.Context) error {
	return o.order(ctx, "safety/enable", "", func(api.Robot) bool { return true },
		"are enabled by the demo's own operator: starting it was your word that they may move")
}

// setAto asks for ato where it does not run already.
func (o *opening) setAto(ctx context.Context) error {
	return o.order(ctx, "mode/set", `{"mode":"ato"}`, func(r api.Robot) bool { return r.Mode != schema.ModeAto && r.Desired.Story != nil },
		"are told to perform: mode ato")
}

// order gives an order to those robots that it is for, and says who refused.
func (o *opening) order(ctx context.Context, verb, args string, meant func(api.Robot) bool, done string) error {
	robots, err := o.robots(ctx)
	if err != nil {
		return err
	}
	robots = slices.DeleteFunc(robots, func(r api.Robot) bool { return !meant(r) })
	if len(robots) == 0 {
		return nil
	}
	order := map[string]any{"verb": verb, "selector": selector.IDs(ids(robots)...), "by": operator, "why": "the demo was started"}
	if args != "" {
		order["args"] = jsontext.Value(args)
	}
	batch, err := ask[api.Batch](ctx, o.fleetd, "POST", "/commands", nil, order)
	if err != nil {
		return err
	}
	var well []string
	held := false
	for _, c := range batch.Commands {
		if c.State == "SUCCEEDED" {
			well = append(well, c.Robot)
			continue
		}
		why := c.Because
		if c.Answer != nil {
			why = string(c.Answer.Reason) + ": " + c.Answer.Detail
			held = held || c.Answer.Reason == schema.ReasonLatched
		}
		o.refused[c.Robot] = true
		o.cfg.Say(fmt.Sprintf("%s to %s: %s %s", verb, c.Robot, c.State, why))
	}
	if held {
		o.cfg.Say("stops are held from before: fleetd stop list shows them, fleetd stop release ID --why REASON releases one")
	}
	if len(well) > 0 {
		o.cfg.Say(listed(well) + " " + done)
	}
	return nil
}

// watch waits until every robot that has a story is on its way through it, and
// says of the others what keeps them.
func (o *opening) watch(ctx context.Context) error {
	performs := func(r api.Robot) bool {
		return r.Mode == schema.ModeAto && r.Auto == schema.AutoIdle && r.Act != ""
	}
	if _, err := o.until(ctx, func(r api.Robot) bool { return r.Desired.Story == nil || o.refused[r.ID] || performs(r) }); err != nil {
		return err
	}
	robots, err := o.robots(ctx)
	if err != nil {
		return err
	}
	for _, r := range robots {
		if r.Desired.Story == nil {
			o.cfg.Say(r.ID + " has no default story, as somebody desired")
		} else if !performs(r) && !o.refused[r.ID] {
			o.cfg.Say(fmt.Sprintf("%s does not perform: mode %s, auto %s %s, safety %s, story %s %s", r.ID, r.Mode, r.Auto, r.AutoReason, r.Safety, r.Desired.Phase, r.Desired.Reason))
		}
	}
	return nil
}

// until waits until it holds of every robot, or patience is over, and returns
// those of which it holds.
func (o *opening) until(ctx context.Context, holds func(api.Robot) bool) ([]api.Robot, error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		robots, err := o.robots(ctx)
		if err != nil {
			return nil, err
		}
		robots = slices.DeleteFunc(robots, func(r api.Robot) bool { return !holds(r) })
		if len(robots) == o.cfg.Robots {
			return robots, nil
		}
		select {
		case <-time.After(look):
		case <-late.C:
			return robots, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// robots are ours, as fleetd sees them, in the order of their numbers. It may
// know more of an earlier time.
func (o *opening) robots(ctx context.Context) ([]api.Robot, error) {
	list, err := ask[struct {
		Robots []api.Robot `json:"robots"`
	}](ctx, o.fleetd, "GET", "/robots", nil, nil)
	if err != nil {
		return nil, err
	}
	var ours []api.Robot
	for i := range o.cfg.Robots {
		if at := slices.IndexFunc(list.Robots, func(r api.Robot) bool { return r.ID == name(i) }); at >= 0 {
			ours = append(ours, list.Robots[at])
		}
	}
	return ours, nil
}

func ids(robots []api.Robot) []string {
	var out []string
	for _, r := range robots {
		out = append(out, r.ID)
	}
	return out
}

func names(robots []api.Robot) string { return listed(ids(robots)) }

// listed names robots; of many the first and the last.
func listed(ids []string) string {
	if len(ids) <= 8 {
		return strings.Join(ids, " ")
	}
	return fmt.Sprintf("%d robots: %s ... %s", len(ids), ids[0], ids[len(ids)-1])
}
