package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/selector"
)

// tryCommand performs a draft once on one robot.
func (sh *shell) tryCommand(kind string) *cobra.Command {
	var path, robot, lang, why string
	var only []int
	c := &cobra.Command{
		Use: "try (NAME | -f FILE) --robot ROBOT", Short: "perform a draft or a file once on one robot in mnl, without publishing it",
		Long: `Take control of a robot, which has to be in mnl and enabled, perform a draft or a file once, and
give control back. --only performs some actions of an act, or some acts of a story, counted from 1.
Ctrl-C ends it.`,
		Example: "  fleetd " + kind + " try welcome --robot r1\n  fleetd " + kind + " try -f welcome.yaml --robot r1 --only 2,3",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if (path == "") == (len(args) == 0) || len(args) > 1 {
				return usage("try needs either a name or -f FILE")
			}
			trial := api.Trial{SourceText: api.SourceText{Kind: kind}, Lang: lang, Attribution: sh.attribution(why)}
			if path != "" {
				all, err := sh.sources([]string{path}, kind)
				if err != nil {
					return err
				}
				if len(all) != 1 || all[0].kind != kind {
					return fmt.Errorf("%s is not the file of one %s", path, kind)
				}
				trial.Text = string(all[0].text)
			} else {
				var e api.Entry
				if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: entryPath(kind, args[0])}, &e); err != nil {
					return err
				}
				trial.Text = e.Draft
			}
			list := "acts"
			if kind == "act" {
				list = "actions"
			}
			for _, n := range only {
				trial.Only = append(trial.Only, fmt.Sprintf("/%s/%d", list, n-1))
			}
			return sh.try(cmd.Context(), robot, trial)
		}),
	}
	f := c.Flags()
	f.StringVarP(&path, "file", "f", "", "the file, in place of a draft of fleetd")
	f.StringVar(&robot, "robot", "", "the robot")
	f.StringVar(&lang, "lang", "", "texts in this language only, such as de")
	f.IntSliceVar(&only, "only", nil, "only these, counted from 1: 2,3")
	whyFlag(c, &why)
	_ = c.MarkFlagRequired("robot") // it is defined above
	return c
}

// try performs a trial, renews its lease until it is over, and gives control back.
func (sh *shell) try(ctx context.Context, robot string, trial api.Trial) error {
	var tried api.Tried
	if err := sh.call(ctx, apiRequest{method: http.MethodPost, path: "robots/" + robot + "/try", body: trial}, &tried); err != nil {
		return err
	}
	send := func(ctx context.Context, verb string) error {
		o := api.CommandRequest{Verb: verb, Args: json.RawMessage("{}"), Selector: selector.IDs(robot), By: sh.by}
		return sh.call(ctx, apiRequest{method: http.MethodPost, path: "commands", body: o, prefer: "wait=5"}, nil)
	}
	defer func() { // also after Ctrl-C; if fleetd does not answer, the lease ends by itself
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = send(ending, "control/release")
	}()
	b := tried.Perform
	for renewed := time.Now(); ; {
		if len(b.Commands) == 1 && b.Commands[0].Ended != 0 {
			break
		}
		select {
		case <-ctx.Done():
			stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			return send(stopping, "manual/stop")
		case <-time.After(time.Second):
		}
		if time.Since(renewed) > 20*time.Second {
			renewed = time.Now()
			if err := send(ctx, "control/renew"); err != nil {
				return err
			}
		}
		if err := sh.call(ctx, apiRequest{method: http.MethodGet, path: "batches/" + tried.Perform.ID}, &b); err != nil {
			return err
		}
	}
	done := b.Commands[0]
	if done.State != "SUCCEEDED" {
		return &failure{code: exitError, err: fmt.Errorf("%s: %s %s", robot, strings.ToLower(string(done.State)), orElse(resultOf(done), done.Because))}
	}
	return sh.show(b, func(w io.Writer) { fmt.Fprintf(w, "%s has performed it\n", robot) })
}
