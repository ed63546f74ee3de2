package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/records"
)

// recordTimeout bounds how long the command line waits for a robot. fleetd ends a record earlier.
const recordTimeout = 20 * time.Minute

// recordCommand gets what a robot recorded.
func (sh *shell) recordCommand() *cobra.Command {
	var last time.Duration
	var out, id, why string
	c := &cobra.Command{
		Use: "record ROBOT", Short: "get what a robot recorded in the last minutes, as an MCAP file", Args: exactlyOne,
		Long: `Get what a robot recorded in the last minutes: its state, what was demanded of it and what it did,
commands, events and signals. The robot sends its flight recording to fleetd, which keeps it for a day,
and the file is downloaded. Foxglove opens it; the schemas are inside. The record has what people
said to the robot and what it answered; the audit says who got it.`,
		Example: "  fleetd robot record r1 --last 10m\n  fleetd robot record r1 --last 1h --out fall.mcap --why 'it fell'\n  fleetd robot record r1 --id 20261123t053012-1f0c9a3b",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			var r records.Record
			var err error
			if id == "" {
				ask := api.RecordRequest{LastMS: last.Milliseconds(), Attribution: audit.Attribution{Who: sh.by, Why: why}}
				err = sh.call(ctx, apiRequest{method: http.MethodPost, path: robotPath(args[0], "records"), body: ask}, &r)
			} else {
				r, err = sh.getRecord(ctx, args[0], id)
			}
			if err == nil {
				r, err = sh.awaitRecord(ctx, r)
			}
			if err != nil {
				return err
			}
			if out == "" {
				out = r.Robot + "-" + r.Asked.Time().Format("20060102-150405") + ".mcap"
			}
			if err := sh.downloadRecord(ctx, r, out); err != nil {
				return err
			}
			return sh.show(struct {
				records.Record
				File string `json:"file"`
			}{r, out}, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %d messages, %d KiB, %s to %s\n", out, r.Messages, (r.Bytes+1023)>>10, formatTime(r.From), formatTime(r.To))
			})
		}),
	}
	f := c.Flags()
	f.DurationVar(&last, "last", 10*time.Minute, "how far back from now it begins: 30s, 10m, 2h; at most a day")
	f.StringVar(&out, "out", "", "the file (default ROBOT-TIME.mcap in this directory)")
	f.StringVar(&id, "id", "", "download a record that fleetd has already (fleetd robot records ROBOT lists them)")
	f.StringVar(&why, "why", "", "the reason, for the audit")
	c.MarkFlagsMutuallyExclusive("last", "id")
	return c
}

// recordsCommand lists the records that fleetd has.
func (sh *shell) recordsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "records ROBOT", Short: "list the flight records of a robot that fleetd has", Args: exactlyOne,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var got struct {
				Records []records.Record `json:"records"`
			}
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: robotPath(args[0], "records")}, &got); err != nil {
				return err
			}
			return sh.show(got, func(w io.Writer) { recordTable(w, got.Records) })
		}),
	}
}

func recordTable(out io.Writer, all []records.Record) {
	if len(all) == 0 {
		fmt.Fprintln(out, "no flight records")
		return
	}
	w := newTable(out)
	fmt.Fprintln(w, "RECORD\tLAST\tSTATE\tKIB\tFROM\tTO\tBY\tUNTIL\tBECAUSE")
	for _, r := range all {
		from, to := "-", "-"
		if r.State == records.Done {
			from, to = formatTime(r.From), formatTime(r.To)
		}
		until := "-"
		if r.Expires != 0 {
			until = formatTime(r.Expires)
		}
		writeRow(w, r.ID, r.Last(), r.State, (r.Bytes+1023)>>10, from, to, dash(r.By), until, dash(r.Why))
	}
	_ = w.Flush() // a write error shows at the next write
}

func (sh *shell) getRecord(ctx context.Context, robot, id string) (r records.Record, err error) {
	return r, sh.call(ctx, apiRequest{method: http.MethodGet, path: robotPath(robot, "records/"+id)}, &r)
}

// awaitRecord waits until a record has arrived at fleetd, and shows progress on a terminal.
func (sh *shell) awaitRecord(ctx context.Context, r records.Record) (records.Record, error) {
	until, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	var bar *progressbar.ProgressBar
	for {
		switch r.State {
		case records.Done:
			return r, nil
		case records.Failed:
			return r, errors.New(r.Why)
		case records.Sending:
			if bar == nil {
				bar = sh.progress(int(r.Size), "bytes of "+r.Robot)
				defer bar.Exit() //nolint:gocritic // once
			}
			_ = bar.Set64(r.Bytes) // only drawing can fail
		}
		select {
		case <-ctx.Done():
			return r, &failure{code: exitTimeout, err: fmt.Errorf("interrupted; fleetd gets the record all the same: fleetd robot record %s --id %s", r.Robot, r.ID)}
		case <-until.Done():
			return r, &failure{code: exitTimeout, err: fmt.Errorf("the record has not arrived within %v: fleetd robot records %s says how far it is", recordTimeout, r.Robot)}
		case <-time.After(pollInterval):
		}
		now, err := sh.getRecord(ctx, r.Robot, r.ID)
		if err != nil {
			return r, err
		}
		r = now
	}
}

// downloadRecord writes the file once it is whole.
func (sh *shell) downloadRecord(ctx context.Context, r records.Record, path string) error {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	response, _, err := sh.send(ctx, apiRequest{method: http.MethodGet, path: robotPath(r.Robot, "records/"+r.ID+"/file")})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		var p api.Problem
		if json.NewDecoder(response.Body).Decode(&p) != nil || p.Type == "" {
			return fmt.Errorf("%s answered %s, which is not an answer of fleetd; check --server", sh.server, response.Status)
		}
		return problemError(&p, "", nil)
	}
	file, err := renameio.NewPendingFile(filepath.Clean(path), renameio.WithPermissions(0o600))
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer file.Cleanup() //nolint:errcheck // of what was not finished
	n, err := io.Copy(file, response.Body)
	again := fmt.Sprintf("; fleetd robot record %s --id %s downloads it again", r.Robot, r.ID)
	switch {
	case err != nil:
		return fmt.Errorf("download %s: %w%s", strings.TrimSpace(path), err, again)
	case n != r.Bytes:
		return fmt.Errorf("fleetd sent %d bytes of %d%s", n, r.Bytes, again)
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
