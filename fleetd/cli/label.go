package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/view"
)

// robotAndLabels accepts the arguments of robot label.
func robotAndLabels(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return usage("which labels? write %s %s KEY=VALUE, or KEY- to remove one", cmd.CommandPath(), args[0])
	}
	return atLeastOne(cmd, args)
}

// any reports whether flags select robots.
func (t *targets) any() bool {
	for _, v := range t.state {
		if *v != "" {
			return true
		}
	}
	return t.all || len(t.labels) > 0
}

func (sh *shell) label(ctx context.Context, robot string, changes []string) error {
	set, unset, err := labelChanges(changes)
	if err != nil {
		return err
	}
	var d view.Detail
	path := "robots/" + url.PathEscape(robot)
	if err := sh.call(ctx, apiRequest{method: http.MethodGet, path: path}, &d); err != nil {
		return err
	}
	labels := maps.Clone(d.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, set)
	for _, key := range unset {
		delete(labels, key)
	}
	var r view.Robot
	body := map[string]any{"labels": labels, "by": sh.by}
	if err := sh.call(ctx, apiRequest{method: http.MethodPut, path: path + "/labels", body: body}, &r); err != nil {
		return err
	}
	return sh.show(r, func(w io.Writer) { fmt.Fprintln(w, r.ID, labelText(r.Labels)) })
}

// labelMany changes labels of the robots that flags select.
func (sh *shell) labelMany(ctx context.Context, t *targets, changes []string, dryRun bool) error {
	set, unset, err := labelChanges(changes)
	if err != nil {
		return err
	}
	if len(set)+len(unset) == 0 {
		return usage("which labels? write KEY=VALUE, or KEY- to remove one")
	}
	sel, err := t.selector(nil)
	if err != nil {
		return err
	}
	var done api.LabelsResult
	body := api.LabelsRequest{Selector: sel, Set: set, Unset: unset, DryRun: dryRun, Signed: api.Signed{By: sh.by}}
	if err := sh.call(ctx, apiRequest{method: http.MethodPost, path: "labels", body: body}, &done); err != nil {
		return err
	}
	return sh.show(done, func(w io.Writer) {
		would := ""
		if dryRun {
			would = "dry run: "
		}
		fmt.Fprintf(w, "%s%d robots updated, %d unchanged\n", would, len(done.Updated), done.Total-len(done.Updated))
	})
}

// labelChanges reads KEY=VALUE and KEY-.
func labelChanges(changes []string) (set map[string]string, unset []string, err error) {
	set = map[string]string{}
	for _, c := range changes {
		key, value, sets := strings.Cut(c, "=")
		gone, removes := strings.CutSuffix(c, "-")
		switch {
		case sets:
			set[key] = value
		case removes:
			unset = append(unset, gone)
		default:
			return nil, nil, usage("%q is not a label: write key=value, or key- to remove one", c)
		}
	}
	return set, unset, nil
}

// exportRobots prints robots as CSV.
func (sh *shell) exportRobots(ctx context.Context, query url.Values) error {
	var text []byte
	if err := sh.call(ctx, apiRequest{method: http.MethodGet, path: "robots.csv", query: query}, &text); err != nil {
		return err
	}
	_, err := sh.Out.Write(text)
	return err
}
