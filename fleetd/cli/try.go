package cli

import (
	"context"
	"encoding/json"
	"errors"
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
Ctrl-C stops it, and says whether the robot has stopped.`,
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
				if err := sh.do(cmd.Context(), "get-"+kind, given{"id": args[0]}, &e); err != nil {
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

// try performs a trial, renews its lease until it is over, and gives control back. If ctx ends
// before, it stops the robot.
func (sh *shell) try(ctx context.Context, robot string, trial api.Trial) error {
	var tried api.Tried
	err := sh.call(ctx, apiRequest{method: http.MethodPost, path: "robots/" + robot + "/try", body: trial}, &tried)
	if err != nil && ctx.Err() == nil {
		return err
	}
	defer func() { // also after Ctrl-C; if fleetd does not answer, the lease ends by itself
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_, _ = sh.sendTrial(ending, robot, "control/release")
	}()
	var done api.Batch
	if err == nil {
		done, err = sh.awaitTrial(ctx, robot, tried.Perform)
	}
	if ctx.Err() != nil {
		return sh.stopTrial(context.WithoutCancel(ctx), robot)
	}
	if err != nil {
		return err
	}
	if c := done.Commands[0]; c.State != "SUCCEEDED" {
		return &failure{code: exitError, err: fmt.Errorf("%s: %s %s", robot, strings.ToLower(string(c.State)), orElse(resultOf(c), c.Because))}
	}
	return sh.show(done, func(w io.Writer) { fmt.Fprintf(w, "%s has performed it\n", robot) })
}

// sendTrial sends a command without arguments to the robot of a trial.
func (sh *shell) sendTrial(ctx context.Context, robot, verb string) (b api.Batch, err error) {
	o := api.CommandRequest{Verb: verb, Args: json.RawMessage("{}"), Selector: selector.IDs(robot), By: sh.by}
	err = sh.call(ctx, apiRequest{method: http.MethodPost, path: "commands", body: o, prefer: "wait=5"}, &b)
	return b, err
}

// awaitTrial waits until the robot has performed it, or ctx ends, and renews the lease.
func (sh *shell) awaitTrial(ctx context.Context, robot string, b api.Batch) (api.Batch, error) {
	id := b.ID
	for renewed := time.Now(); len(b.Commands) != 1 || b.Commands[0].Ended == 0; {
		select {
		case <-ctx.Done():
			return b, ctx.Err()
		case <-time.After(time.Second):
		}
		if time.Since(renewed) > 20*time.Second {
			renewed = time.Now()
			if _, err := sh.sendTrial(ctx, robot, "control/renew"); err != nil {
				return b, err
			}
		}
		if err := sh.call(ctx, apiRequest{method: http.MethodGet, path: "batches/" + id}, &b); err != nil {
			return b, err
		}
	}
	return b, nil
}

// stopTrial stops the robot, and fails unless it answers that it has stopped.
func (sh *shell) stopTrial(ctx context.Context, robot string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	b, err := sh.sendTrial(ctx, robot, "manual/stop")
	if err != nil {
		return fmt.Errorf("%s may still perform it; fleetd stop %s stops it: %w", robot, robot, err)
	}
	err = batchError(b)
	if f := (*failure)(nil); errors.As(err, &f) {
		said := "no answer"
		if len(b.Commands) == 1 {
			c := b.Commands[0]
			said = strings.TrimSpace(strings.ToLower(string(c.State)) + " " + orElse(resultOf(c), c.Because))
		}
		f.err = fmt.Errorf("%s may still perform it: manual/stop: %s; fleetd stop %s stops it", robot, said, robot)
		return f
	}
	fmt.Fprintf(sh.Err, "%s has stopped\n", robot)
	return nil
}
