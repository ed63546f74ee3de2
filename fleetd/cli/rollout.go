package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// contentFlags say what robots get.
type contentFlags struct {
	story      string
	rev        int64
	apply      string
	activities []string

	noStory, noActivities bool // they get none

	set, unset []string
	mode       string
	places     string
	id         string
}

func (f *contentFlags) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.story, "story", "", "this default story")
	flags.Int64Var(&f.rev, "rev", 0, "revision of the story; 0 = the newest")
	flags.StringVar(&f.apply, "apply", "",
		"when the story takes over (next_act, now, next_start); default next_act. When the mode is entered (boot, now); default boot")
	flags.StringSliceVar(&f.activities, "activities", nil, "these activities, with commas between them: the whole set; ID or ID@REVISION")
	flags.BoolVar(&f.noStory, "no-story", false, "no default story")
	flags.BoolVar(&f.noActivities, "no-activities", false, "no activities")
	flags.StringArrayVar(&f.set, "set", nil, "this setting, KEY=VALUE; may be repeated")
	flags.StringArrayVar(&f.unset, "unset", nil, "take this setting back; may be repeated")
	flags.StringVar(&f.mode, "mode", "", "this mode after start-up")
	flags.StringVar(&f.places, "places", "", "the places in this file, in YAML or JSON")
	flags.StringVar(&f.id, "id", "places", "name of the set of places")
}

// content is what the flags ask for.
func (f *contentFlags) content(sh *shell, c *cobra.Command) (out content.Content, err error) {
	changed := c.Flags().Changed
	if n := countOf(changed("story"), f.noStory, changed("activities"), f.noActivities, changed("set") || changed("unset"),
		changed("mode"), changed("places")); n != 1 {
		return out, usage("what do the robots get? write one of --story ID, --activities ID,ID, --set KEY=VALUE, --mode MODE and --places FILE")
	}
	for _, of := range []struct{ flag, other string }{{"rev", "story"}, {"id", "places"}} {
		if changed(of.flag) && !changed(of.other) {
			return out, usage("--%s belongs to --%s", of.flag, of.other)
		}
	}
	switch { // an empty variable of a shell takes nothing from robots
	case changed("story") && f.story == "":
		return out, usage("--story names none; write --no-story if the robots shall have none")
	case changed("activities") && len(f.activities) == 0:
		return out, usage("--activities names none; write --no-activities if the robots shall have none")
	}
	if f.apply != "" && !changed("story") && !f.noStory && !changed("mode") {
		return out, usage("--apply belongs to --story or --mode")
	}
	switch {
	case changed("story"), f.noStory:
		out.Story = &content.Story{ID: f.story, Rev: f.rev, Apply: schema.Apply(f.apply)}
	case changed("activities"), f.noActivities:
		out.Activities = &content.Activities{Pins: []library.Pin{}}
		for _, one := range f.activities {
			id, text, pinned := strings.Cut(one, "@")
			pin := library.Pin{ID: id}
			if pinned {
				if pin.Rev, err = strconv.ParseInt(text, 10, 64); err != nil || pin.Rev < 1 {
					return out, usage("--activities %s: write ID or ID@REVISION, such as greet@3", one)
				}
			}
			out.Activities.Pins = append(out.Activities.Pins, pin)
		}
	case changed("mode"):
		out.Mode = &desired.Mode{Mode: schema.ModeID(modeNamed(f.mode)), Apply: schema.ApplyMode(orElse(f.apply, string(schema.ApplyModeBoot)))}
	case changed("places"):
		out.Places = &desired.Set{ID: f.id}
		_, out.Places.Body, err = sh.readAsJSON(f.places)
	default:
		out.Config = &desired.Config{Set: map[string]jsontext.Value{}, Unset: f.unset}
		for _, one := range f.set {
			key, value, is := strings.Cut(one, "=")
			switch _, twice := out.Config.Set[key]; {
			case !is:
				return out, usage("--set %s: write KEY=VALUE", one)
			case twice:
				return out, usage("--set %s is given twice", key)
			}
			out.Config.Set[key] = settingOf(value)
		}
	}
	return out, err
}

// waveFlags say how robots get it.
type waveFlags struct {
	file      string // the plan as YAML
	text      []byte // of the file
	canary    int
	waves     []string
	soak      time.Duration
	perMinute int
	offline   string
	allAtOnce bool
}

// waveFlagNames are the names of the flags.
var waveFlagNames = []string{"plan", "canary", "waves", "soak", "per-minute", "offline", "all-at-once"}

func (f *waveFlags) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.file, "plan", "", "file with waves, gates and limits, in YAML or JSON, instead of the flags below")
	flags.IntVar(&f.canary, "canary", 0, "robots of the first wave; default 1 %, 1 to 5 robots")
	flags.StringSliceVar(&f.waves, "waves", nil, "the waves behind the canary, such as 10%,50%: this and all earlier waves have this part "+
		"of the robots; a number is so many robots. The rest is the last wave")
	flags.DurationVar(&f.soak, "soak", 0, "for how long each wave is watched; default 10m for the canary, 5m for the others")
	flags.IntVar(&f.perMinute, "per-minute", 0, "robots that are offered it in a minute; default 60, doubled by each wave that passed")
	flags.StringVar(&f.offline, "offline", "", "robots that are not reachable: wait, skip or fail; default wait")
	flags.BoolVar(&f.allAtOnce, "all-at-once", false, "one wave without gates")
}

// spec is how the flags or their file say that robots get it. The file is sent as it is, so that fleetd names every problem in it.
func (f *waveFlags) spec(sh *shell, c *cobra.Command) (spec any, err error) {
	var own []string
	for _, name := range waveFlagNames[1:] { // without the plan
		if c.Flags().Changed(name) {
			own = append(own, "--"+name)
		}
	}
	if f.file != "" {
		if len(own) > 0 {
			return nil, usage("--plan %s says how the rollout goes; leave it out, or %s", f.file, anyOf(own))
		}
		f.text, spec, err = sh.readAsJSON(f.file)
		return spec, err
	}
	return f.flagsSpec(c, own)
}

func (f *waveFlags) flagsSpec(c *cobra.Command, own []string) (spec rollout.Spec, err error) {
	spec = rollout.Spec{AllAtOnce: f.allAtOnce, OffersPerMin: f.perMinute, Offline: rollout.OfflinePolicy(f.offline)}
	if f.allAtOnce && (f.canary != 0 || len(f.waves) > 0 || f.soak != 0) {
		return spec, usage("--all-at-once is one wave without gates; leave it out, or %s",
			anyOf(slices.DeleteFunc(own, func(s string) bool { return s == "--all-at-once" })))
	}
	switch {
	case f.canary < 0:
		return spec, usage("--canary %d: write how many robots the first wave has", f.canary)
	case f.soak < 0 || f.soak%time.Second != 0:
		return spec, usage("--soak %v: write whole seconds, such as 10m", f.soak)
	case f.allAtOnce:
		return spec, nil
	case f.canary > 0:
		spec.Waves = append(spec.Waves, rollout.WaveSpec{Name: "canary", Count: f.canary})
	case len(f.waves) > 0 || c.Flags().Changed("soak"):
		spec.Waves = append(spec.Waves, rollout.WaveSpec{Name: "canary", Percent: 1, Max: 5})
	}
	if len(f.waves) == 0 && len(spec.Waves) > 0 {
		f.waves = []string{"10%", "50%", "100%"}
	}
	for _, text := range f.waves {
		number, percent := strings.CutSuffix(text, "%")
		w := rollout.WaveSpec{}
		n, err := strconv.ParseFloat(number, 64)
		switch {
		case err != nil || n <= 0 || !percent && n != float64(int(n)):
			return spec, usage("--waves %s: write a part such as 10%%, or a number of robots", text)
		case percent:
			w.Percent = n
		default:
			w.Count = int(n)
		}
		spec.Waves = append(spec.Waves, w)
	}
	if c.Flags().Changed("soak") {
		s := int64(f.soak / time.Second)
		if len(spec.Waves) > 0 && spec.Waves[len(spec.Waves)-1].Percent != 100 {
			spec.Waves = append(spec.Waves, rollout.WaveSpec{Name: "rest", Percent: 100})
		}
		for i := range spec.Waves {
			spec.Waves[i].SoakS = &s
		}
	}
	return spec, nil
}

// planRollout adds the flags of a rollout, and shows the plan.
func planRollout(sh *shell, c *cobra.Command) finish {
	var what contentFlags
	var how waveFlags
	what.flags(c)
	how.flags(c)
	return func(ctx context.Context, _ []string, r rowRequest) (err error) {
		if err := fillRollout(sh, c, &r, what, &how); err != nil {
			return err
		}
		return inPlan(how, sh.sendRow(ctx, r))
	}
}

// createRollout adds the flags of a rollout, and creates it.
func createRollout(sh *shell, c *cobra.Command) finish {
	var what contentFlags
	var how waveFlags
	what.flags(c)
	how.flags(c)
	at := atFlag(c)
	watch := c.Flags().Bool("watch", false, "then watch it, as fleetd rollout watch does")
	return func(ctx context.Context, _ []string, r rowRequest) error {
		if err := fillRollout(sh, c, &r, what, &how); err != nil {
			return err
		}
		if err := setTime(r.body, *at); err != nil {
			return err
		}
		return inPlan(how, sh.sendRollout(ctx, r, *watch))
	}
}

// sendRollout sends a request that is answered with a rollout, and shows or watches that.
func (sh *shell) sendRollout(ctx context.Context, r rowRequest, watch bool) error {
	if !watch {
		return sh.sendRow(ctx, r)
	}
	var got api.RolloutDetail
	if err := sh.call(ctx, r.http(), &got); err != nil {
		return err
	}
	return sh.watchRollout(ctx, got.ID)
}

// atFlag adds the time at which a rollout starts by itself.
func atFlag(c *cobra.Command) *string {
	return c.Flags().String("at", "", "it starts by itself then: how long from now, such as 8h, or a time such as 2026-01-31T22:00:00Z")
}

func setTime(body map[string]any, text string) error {
	if text == "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if in, failed := time.ParseDuration(text); failed == nil && in > 0 {
		at, err = time.Now().Add(in), nil
	}
	if err != nil {
		return usage("--at %s: write how long from now, such as 8h, or a time such as 2026-01-31T22:00:00Z", text)
	}
	body["not_before"] = schema.TimeOf(at)
	return nil
}

func fillRollout(sh *shell, c *cobra.Command, r *rowRequest, what contentFlags, how *waveFlags) error {
	has, err := what.content(sh, c)
	if err != nil {
		return err
	}
	spec, err := how.spec(sh, c)
	if err != nil {
		return err
	}
	r.body["content"], r.body["spec"] = has, spec
	return nil
}

// inPlan names the places of problems in the file of a plan.
func inPlan(how waveFlags, err error) error {
	var f *failure
	if how.file == "" || !errors.As(err, &f) || f.problem == nil || !slices.ContainsFunc(f.problem.Errors,
		func(e api.Finding) bool { return strings.HasPrefix(e.Pointer, "/spec/") }) {
		return err
	}
	var lines []string
	for _, e := range f.problem.Errors {
		at, inFile := strings.CutPrefix(e.Pointer, "/spec")
		if !inFile {
			lines = append(lines, formatFinding(e, how.file, how.text))
			continue
		}
		e.Pointer, e.In = at, ""
		lines = append(lines, formatFinding(e, how.file, how.text))
	}
	f.err = errors.New(strings.Join(lines, "\n"))
	return f
}

// startRollout adds the time at which a rollout starts.
func startRollout(sh *shell, c *cobra.Command) finish {
	at := atFlag(c)
	watch := c.Flags().Bool("watch", false, "then watch it, as fleetd rollout watch does")
	return func(ctx context.Context, _ []string, r rowRequest) error {
		if err := setTime(r.body, *at); err != nil {
			return err
		}
		return sh.sendRollout(ctx, r, *watch)
	}
}

// assignInWaves adds --in-waves to a command that assigns a content, which is then a rollout that starts at once. content
// makes it of the body of the assignment.
func assignInWaves(
	assign func(*shell, *cobra.Command) finish, contentOf func(body map[string]any) content.Content,
) func(*shell, *cobra.Command) finish {
	return func(sh *shell, c *cobra.Command) finish {
		at := assign(sh, c)
		inWaves := c.Flags().Bool("in-waves", false, "as a rollout: a canary first, then 10, 50 and 100 %; fleetd rollout create has more")
		return func(ctx context.Context, args []string, r rowRequest) error {
			if !*inWaves {
				return at(ctx, args, r)
			}
			if c.Flags().Changed("wait") {
				return usage("--wait belongs to an assignment to all at once; fleetd rollout watch waits for a rollout")
			}
			id := "create-rollout"
			if r.body["dry_run"] == true {
				id = "plan-rollout"
			}
			ask := sh.request(id, given{"selector": r.body["selector"].(selector.Selector)})
			ask.body["content"] = contentOf(r.body)
			if id == "create-rollout" {
				ask.body["start"] = true
				for _, name := range []string{"why", "expected_count"} {
					if v, is := r.body[name]; is {
						ask.body[name] = v
					}
				}
			}
			return sh.sendRow(ctx, ask)
		}
	}
}

func storyOf(body map[string]any) content.Content {
	story := content.Story{}
	story.ID, _ = body["story"].(string)
	story.Rev, _ = body["rev"].(int64)
	apply, _ := body["apply"].(string)
	story.Apply = schema.Apply(apply)
	return content.Content{Story: &story}
}

func activitiesOf(body map[string]any) content.Content {
	out := content.Activities{Pins: []library.Pin{}}
	ids, _ := body["activities"].([]string)
	for _, id := range ids {
		out.Pins = append(out.Pins, library.Pin{ID: id})
	}
	return content.Content{Activities: &out}
}

// countsText says how many robots are in which state, those that matter most first.
func countsText(counts map[string]int) string {
	var parts []string
	for _, state := range slices.SortedFunc(maps.Keys(counts), byRobotState) {
		if counts[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], stateWords(state)))
		}
	}
	return strings.Join(parts, ", ")
}

// stateWords is a state in words: TIMED_OUT is timed out.
func stateWords(state string) string { return strings.ToLower(strings.ReplaceAll(state, "_", " ")) }

// byRobotState orders the states of robots as a robot passes through them.
func byRobotState(a, b string) int {
	return slices.Index(rollout.RobotStates, rollout.RobotState(a)) - slices.Index(rollout.RobotStates, rollout.RobotState(b))
}

// getRollout asks for a rollout. The answer is nil if it still has the version of the etag.
func (sh *shell) getRollout(ctx context.Context, id, etag string) (*api.RolloutDetail, string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	r := sh.request("get-rollout", given{"id": id})
	ask := r.http()
	ask.noneMatch = etag
	response, err := sh.open(ctx, ask)
	if err != nil {
		return nil, etag, err
	}
	defer response.Body.Close()
	if response.StatusCode == 304 {
		return nil, etag, nil
	}
	var got api.RolloutDetail
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		return nil, etag, fmt.Errorf("read fleetd's answer: %w", err)
	}
	return &got, response.Header.Get("ETag"), nil
}
