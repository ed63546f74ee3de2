package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/desired"
	"troupe/schema"
	"troupe/schema/score"
)

// desiredFlags are the flags of every command that changes desired state.
type desiredFlags struct {
	targets
	why    string
	wait   time.Duration
	dryRun bool
	expect int
}

func (w *desiredFlags) flags(c *cobra.Command) {
	w.targets.flags(c)
	f := c.Flags()
	f.StringVar(&w.why, "why", "", "the reason, for the audit")
	f.BoolVar(&w.dryRun, "dry-run", false, "only show which robots would be updated")
	f.IntVar(&w.expect, "expect", -1, "refuse unless exactly this many robots are selected")
	waitFlag(c, &w.wait)
}

// desiredCommand changes desired documents, which robots that are offline get later.
func (sh *shell) desiredCommand() *cobra.Command {
	return group("desired", "desired state of robots: config, mode, places, revert, assignments, list, get",
		sh.desiredConfig(), sh.desiredMode(), sh.desiredPlaces(), sh.desiredList())
}

func (sh *shell) desiredConfig() *cobra.Command {
	var w desiredFlags
	var unset []string
	c := &cobra.Command{
		Use: "config [KEY=VALUE...] [ROBOT...]", Short: "change the desired settings",
		Long: `Change the desired settings of robots. A value that is valid JSON is JSON, any other is a
string. Settings that are not named stay as they are. Each robot reports key by key what it
accepted; --wait shows that, and fails if a robot refused a key.`,
		Example: "  fleetd desired config boot_mode=ato r1 r2\n  fleetd desired config control.required=all -l site=museum --wait\n  fleetd desired config --unset boot_mode r1",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			change := desired.Config{Set: map[string]jsontext.Value{}, Unset: unset}
			var names []string
			for _, arg := range args {
				key, value, ok := strings.Cut(arg, "=")
				if !ok {
					names = append(names, arg)
					continue
				}
				if _, twice := change.Set[key]; twice {
					return usage("%s is given twice", key)
				}
				change.Set[key] = settingOf(value)
			}
			return sh.setDesired(cmd.Context(), names, w, api.DesiredRequest{Config: &change})
		}),
	}
	w.flags(c)
	c.Flags().StringArrayVar(&unset, "unset", nil, "setting to take back: the robot uses its own file's value again, or else the default; may be repeated")
	return c
}

// settingOf parses a value as JSON, and takes it as a string if it is not.
func settingOf(text string) jsontext.Value {
	if v := jsontext.Value(text); v.IsValid() {
		return v
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return jsontext.Value(`""`)
	}
	return quoted
}

func (sh *shell) desiredMode() *cobra.Command {
	var w desiredFlags
	apply := string(schema.ApplyModeBoot)
	c := &cobra.Command{
		Use: "mode MODE ROBOT...", Short: "set the desired mode after start-up", Args: atLeastOne,
		Long: `Set the mode that robots enter after start-up. With --apply now a robot also changes to it
once, when it receives the document. It never overrules a stop, a lost link or a person in control.`,
		Example: "  fleetd desired mode ato -l site=museum\n  fleetd desired mode mnl r1 --apply now",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			return sh.setDesired(cmd.Context(), args[1:], w, api.DesiredRequest{Mode: &desired.Mode{Mode: schema.ModeID(modeNamed(args[0])), Apply: schema.ApplyMode(apply)}})
		}),
	}
	w.flags(c)
	c.Flags().StringVar(&apply, "apply", apply, "boot or now")
	return c
}

func (sh *shell) desiredPlaces() *cobra.Command {
	var w desiredFlags
	var path, id, digest string
	var none bool
	var newPoints pointFlags
	c := &cobra.Command{
		Use: "places ROBOT...", Short: "set the desired map and named points",
		Long: `Set the desired map and named points, from a file in YAML or JSON; --none removes both.
Example of a file: {schema: 1, points: {door: {x_m: -3.5, y_m: 2, theta_rad: 1.57}}}, in metres and radians.
With a map that fleetd asset put uploaded (asset get shows its digest and size), the file also has
map: {name: hall, kind: map, sha256: 5a4f..., size: 12044}.
` + pointsHelp,
		Example: "  fleetd desired places -f ground-floor.yaml --id ground-floor -l site=museum\n  fleetd desired places --from r1 --point window r1 r2\n  fleetd desired places --add door=-3.5,2,1.57 r1",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			set := desired.Set{ID: id, SHA256: digest}
			switch {
			case countOf(none, path != "", digest != "", newPoints.from != "", len(newPoints.add) > 0) != 1:
				return usage("write one of -f FILE, --digest SHA256, --from ROBOT, --add NAME=X,Y and --none")
			case newPoints.from != "":
				return sh.addPoints(cmd.Context(), args, w, newPoints, id)
			case len(newPoints.points) > 0:
				return usage("--point belongs to --from ROBOT")
			case len(newPoints.add) > 0:
				points, err := newPoints.given(id)
				if err != nil {
					return err
				}
				return sh.setDesired(cmd.Context(), args, w, api.DesiredRequest{Points: points})
			case newPoints.replace || newPoints.onMap != "":
				return usage("--replace and --on-map belong to --add NAME=X,Y")
			case path != "":
				body, err := sh.readAsJSON(path)
				if err != nil {
					return err
				}
				set.Body = body
			}
			return sh.setDesired(cmd.Context(), args, w, api.DesiredRequest{Places: &set})
		}),
	}
	w.flags(c)
	f := c.Flags()
	f.StringVarP(&path, "file", "f", "", "file, - for the standard input")
	f.StringVar(&id, "id", "places", "name of the set")
	f.StringVar(&digest, "digest", "", "SHA-256 of places that were published before, instead of a file")
	f.BoolVar(&none, "none", false, "remove the map and all points")
	newPoints.flags(c)
	return c
}

// countOf counts those that are true.
func countOf(all ...bool) (n int) {
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}

// readAsJSON reads a YAML or JSON file and returns JSON.
func (sh *shell) readAsJSON(path string) (jsontext.Value, error) {
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(sh.In)
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	out, found := score.ReadYAML(text, api.MaxBody)
	if len(found) > 0 {
		return nil, usage("%s", formatProblem(found[0], path, text))
	}
	return out, nil
}

func (sh *shell) setDesired(ctx context.Context, names []string, w desiredFlags, request api.DesiredRequest) error {
	sel, err := w.selector(names)
	if err != nil {
		return err
	}
	request.Selector, request.DryRun, request.Attribution = sel, w.dryRun, audit.Attribution{Who: sh.by, Why: w.why}
	if w.expect >= 0 {
		request.ExpectedCount = &w.expect
	}
	var done api.DesiredResult
	if err := sh.call(ctx, apiRequest{method: http.MethodPost, path: "desired", body: request}, &done); err != nil {
		return err
	}
	if w.dryRun || w.wait == 0 {
		return sh.show(done, func(out io.Writer) { desiredResultLine(sh, out, done) })
	}
	return sh.awaitResult(ctx, done, w.wait)
}

func (sh *shell) awaitResult(ctx context.Context, done api.DesiredResult, wait time.Duration) error {
	desiredResultLine(sh, sh.Err, done)
	return sh.awaitDesired(ctx, done.Topic, slices.Concat(done.Updated, done.Unchanged), wait)
}

func desiredResultLine(_ *shell, out io.Writer, done api.DesiredResult) {
	word := "updated"
	if done.DryRun {
		word = "would be updated"
	}
	fmt.Fprintf(out, "%s %s, %d unchanged\n", countText(len(done.Updated), "robot"), word, len(done.Unchanged)+len(done.Skipped))
	for _, s := range done.Skipped {
		fmt.Fprintf(out, "  %s: %s\n", s.Robot, s.Detail)
	}
}

func desiredTable(_ *shell, out io.Writer, list api.DesiredList) {
	t := newTable(out)
	fmt.Fprintln(t, "DESIRED\tREVISION\tVALUE\tREPORTED\tBECAUSE")
	for _, w := range list.Desired {
		writeRow(t, desiredLine(w)...)
	}
	_ = t.Flush() // a write error shows at the next write
}

// desiredLine returns the table cells of one desired document.
func desiredLine(w api.DesiredState) []any {
	type common struct {
		FleetID    string             `json:"fleet_id"`
		Rev        int64              `json:"rev"`
		DesiredRev int64              `json:"desired_rev"`
		Phase      schema.DeployPhase `json:"phase"`
		Reason     schema.Reason      `json:"reason"`
		Detail     string             `json:"detail"`

		Refused []schema.RefusedPart `json:"refused"`
	}
	desired, _ := schema.Decode[common](w.Desired)
	says := "nothing yet"
	var why string
	if reported, problems := schema.Decode[common](w.Reported); len(problems) == 0 {
		says = fmt.Sprintf("%s (revision %d)", reported.Phase, reported.DesiredRev)
		why = strings.TrimSpace(string(reported.Reason) + " " + reported.Detail)
		if reported.FleetID != "" && reported.FleetID != desired.FleetID {
			says = "obeys another fleet"
		}
		for _, r := range reported.Refused {
			why = strings.TrimPrefix(fmt.Sprintf("%s; without %s: %s", why, r.ID, orElse(r.Detail, string(r.Reason))), "; ")
		}
	}
	if w.Overtaken != "" {
		why = w.Overtaken
	}
	if w.Topic == string(schema.TopicDesiredConfig) {
		why = strings.TrimSpace(why + " " + settingsLine(w.Reported))
		says += rejectedText(w.Reported)
	}
	return []any{strings.TrimPrefix(w.Topic, "desired_"), desired.Rev, desiredText(w), says, why}
}

// desiredText formats the contents of a desired document.
func desiredText(w api.DesiredState) string {
	pinned := func(p *schema.ContentPin) string {
		if p == nil {
			return "none"
		}
		return fmt.Sprintf("%s@%d", p.ID, p.Rev)
	}
	switch schema.TopicKind(w.Topic) {
	case schema.TopicDesiredStory:
		d, _ := schema.Decode[schema.DesiredStory](w.Desired)
		return pinned(d.Story)
	case schema.TopicDesiredPlaces, schema.TopicDesiredActivities:
		d, _ := schema.Decode[schema.DesiredSet](w.Desired)
		return pinned(d.Set)
	case schema.TopicDesiredMode:
		d, _ := schema.Decode[schema.DesiredMode](w.Desired)
		return fmt.Sprintf("%s --apply %s", d.Mode, d.Apply)
	case schema.TopicDesiredConfig:
		d, _ := schema.Decode[schema.DesiredConfig](w.Desired)
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(d.Values)) {
			pairs = append(pairs, key+"="+string(d.Values[key]))
		}
		return orElse(strings.Join(pairs, " "), "-")
	}
	return "-"
}

// rejectedText names the settings that a robot refused while it took the others.
func rejectedText(document []byte) string {
	r, problems := schema.Decode[schema.ReportedConfig](document)
	if len(problems) > 0 || len(r.Rejected) == 0 || r.Phase != schema.DeployActive {
		return ""
	}
	keys := make([]string, len(r.Rejected))
	for i, k := range r.Rejected {
		keys[i] = k.Key
	}
	return " except " + strings.Join(keys, " ")
}

// settingsLine says which settings a robot refused, or applies at its next start.
func settingsLine(document []byte) string {
	r, problems := schema.Decode[schema.ReportedConfig](document)
	if len(problems) > 0 {
		return ""
	}
	var parts []string
	for _, k := range r.Rejected {
		parts = append(parts, fmt.Sprintf("%s refused: %s", k.Key, strings.TrimSpace(string(k.Reason)+" "+k.Detail)))
	}
	if len(r.RestartNeeded) > 0 {
		parts = append(parts, "after its next start: "+strings.Join(r.RestartNeeded, " "))
	}
	return strings.Join(parts, "; ")
}
