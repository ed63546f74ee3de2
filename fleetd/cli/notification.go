package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

func receiverText(r api.Receiver) string {
	text := "receiver " + r.ID
	if r.DryRun {
		text = "valid; this would be receiver " + r.ID
	}
	text += fmt.Sprintf(": %s to %s", r.Kind, r.WhereText())
	if len(r.Secrets) > 0 {
		text += "; secrets: " + strings.Join(r.Secrets, ", ")
	}
	if !r.DryRun {
		text += "\nfleetd receiver test " + r.ID + " sends a test"
	}
	return text
}

func routeText(r api.NotificationRoute) string {
	text := "route " + r.ID
	if r.DryRun {
		text = "valid; this would be route " + r.ID
	}
	text += fmt.Sprintf(": %s to %s", r.WhatText(), r.Receiver)
	if r.Escalate != nil {
		text += fmt.Sprintf("; after %d s without acknowledgement to %s", r.Escalate.AfterS, r.Escalate.Receiver)
	}
	if !r.IsEnabled() {
		text += "; disabled"
	}
	return text
}

// testReceiver fails if the receiver did not take the test, so a script notices.
func testReceiver(sh *shell, _ *cobra.Command) finish {
	return func(ctx context.Context, args []string, r rowRequest) error {
		var got api.TestResult
		if err := sh.do(ctx, "test-receiver", given{"id": args[0]}, &got); err != nil {
			return err
		}
		if !got.OK {
			return &failure{code: exitError, err: errors.New("receiver " + args[0] + " did not take the test: " + got.Detail)}
		}
		return sh.show(got, func(out io.Writer) { fmt.Fprintln(out, "sent: "+got.Detail) })
	}
}
