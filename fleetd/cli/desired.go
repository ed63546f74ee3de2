package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/desired"
	"troupe/fleetd/selector"
	"troupe/schema"
	"troupe/schema/score"
)

func desiredConfig(sh *shell, c *cobra.Command) finish {
	c.Long = `Change the desired settings of robots. A value that is valid JSON is JSON, any other is a
string. Settings that are not named stay as they are. Each robot reports key by key what it
accepted; --wait shows that, and fails if a robot refused a key.`
	c.Example = "  fleetd desired config boot_mode=ato r1 r2\n  fleetd desired config control.required=all -l site=museum --wait\n" +
		"  fleetd desired config --unset boot_mode r1"
	unset := c.Flags().StringArray("unset", nil,
		"setting to take back: the robot uses its own file's value again, or else the default; may be repeated")
	send := awaitingDesired(sh, c)
	return func(ctx context.Context, args []string, r rowRequest) error {
		change := desired.Config{Set: map[string]jsontext.Value{}, Unset: *unset}
		for _, arg := range args {
			key, value, is := strings.Cut(arg, "=")
			if _, twice := change.Set[key]; twice && is {
				return usage("%s is given twice", key)
			}
			if is {
				change.Set[key] = settingOf(value)
			}
		}
		r.body["config"] = change
		return send(ctx, args, r)
	}
}

// awaitingDesired sends a request that changes desired documents.
func awaitingDesired(sh *shell, c *cobra.Command) finish { return waiting((*shell).awaitResult)(sh, c) }

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

func desiredMode(sh *shell, c *cobra.Command) finish {
	c.Long = `Set the mode that robots enter after start-up. With --apply now a robot also changes to it
once, when it receives the document. It never overrules a stop, a lost link or a person in control.`
	c.Example = "  fleetd desired mode ato -l site=museum\n  fleetd desired mode mnl r1 --apply now"
	apply := c.Flags().String("apply", string(schema.ApplyModeBoot), "boot or now")
	send := awaitingDesired(sh, c)
	return func(ctx context.Context, args []string, r rowRequest) error {
		r.body["mode"] = desired.Mode{Mode: schema.ModeID(modeNamed(args[0])), Apply: schema.ApplyMode(*apply)}
		return send(ctx, args, r)
	}
}

func revertDesired(sh *shell, c *cobra.Command) finish {
	c.Long = `Give each robot back what it had before the newest change; KIND is config, mode or places. A second
revert undoes that. Earlier ones are in the audit.`
	c.Example = "  fleetd desired revert config -l site=museum --dry-run\n  fleetd desired revert places r1 --wait"
	return awaitingDesired(sh, c)
}

func desiredPlaces(sh *shell, c *cobra.Command) finish {
	c.Long = `Set the desired map and named points, from a file in YAML or JSON; --none removes both.
Example of a file: {schema: 1, points: {door: {x_m: -3.5, y_m: 2, theta_rad: 1.57}}}, in metres and radians.
With a map that fleetd asset put uploaded (asset get shows its digest and size), the file also has
map: {name: hall, kind: map, sha256: 5a4f..., size: 12044}.
` + pointsHelp
	c.Example = "  fleetd desired places -f ground-floor.yaml --id ground-floor -l site=museum\n" +
		"  fleetd desired places --from r1 --point window r1 r2\n  fleetd desired places --add door=-3.5,2,1.57 r1"
	var newPoints pointFlags
	newPoints.flags(c)
	f := c.Flags()
	path := f.StringP("file", "f", "", "file, - for the standard input")
	id := f.String("id", "places", "name of the set")
	digest := f.String("digest", "", "SHA-256 of places that were published before, instead of a file")
	none := f.Bool("none", false, "remove the map and all points")
	send := awaitingDesired(sh, c)
	return func(ctx context.Context, args []string, r rowRequest) (err error) {
		set := desired.Set{ID: *id, SHA256: *digest}
		switch {
		case countOf(*none, *path != "", *digest != "", newPoints.from != "", len(newPoints.add) > 0) != 1:
			return usage("write one of -f FILE, --digest SHA256, --from ROBOT, --add NAME=X,Y and --none")
		case newPoints.from != "":
			r.body["points"], err = sh.taughtPoints(ctx, r.body["selector"].(selector.Selector), newPoints, *id)
		case len(newPoints.points) > 0:
			return usage("--point belongs to --from ROBOT")
		case len(newPoints.add) > 0:
			r.body["points"], err = newPoints.given(*id)
		case newPoints.replace || newPoints.onMap != "":
			return usage("--replace and --on-map belong to --add NAME=X,Y")
		default:
			if *path != "" {
				_, set.Body, err = sh.readAsJSON(*path)
			}
			r.body["places"] = set
		}
		if err != nil {
			return err
		}
		return send(ctx, args, r)
	}
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

// readAsJSON reads a YAML or JSON file, - for the standard input, and returns its text and the same as JSON.
func (sh *shell) readAsJSON(path string) (text []byte, out jsontext.Value, err error) {
	if path == "-" {
		text, err = io.ReadAll(sh.In)
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, nil, err
	}
	out, found := score.ReadYAML(text, api.MaxBody)
	if len(found) > 0 {
		return nil, nil, usage("%s", formatProblem(found[0], path, text))
	}
	return text, out, nil
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
	pinnedLine(out, done.Pinned, done.DryRun)
}

func desiredTable(_ *shell, out io.Writer, list api.DesiredList) {
	writeTable(out, "DESIRED\tREVISION\tVALUE\tREPORTED\tBECAUSE", list.Desired, func(w api.DesiredState) []any {
		return desiredLine(w)
	})
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
