package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/atomicfile"
	"troupe/fleetd/records"
)

// recordTimeout bounds how long the command line waits for a robot. fleetd ends a record earlier.
const recordTimeout = 20 * time.Minute

// getRecord gets what a robot recorded.
func getRecord(sh *shell, c *cobra.Command) finish {
	out := c.Flags().String("out", "", "the file (default ROBOT-TIME.mcap in this directory)")
	id := c.Flags().String("id", "", "download a record that fleetd has already (fleetd robot records ROBOT lists them)")
	c.MarkFlagsMutuallyExclusive("last", "id")
	return func(ctx context.Context, args []string, r rowRequest) error {
		if *id != "" {
			r = sh.request("get-record", given{"id": args[0], "record": *id})
		}
		var got records.Record
		err := sh.call(ctx, r.http(), &got)
		if err == nil {
			got, err = sh.awaitRecord(ctx, got)
		}
		if err != nil {
			return err
		}
		file := orElse(*out, got.Robot+"-"+got.Asked.Time().Format("20060102-150405")+".mcap")
		if err := sh.downloadRecord(ctx, got, file); err != nil {
			return err
		}
		return sh.show(struct {
			records.Record
			File string `json:"file"`
		}{got, file}, func(w io.Writer) {
			fmt.Fprintf(w, "%s: %d messages, %d KiB, %s to %s\n", file, got.Messages, got.KiB(), formatTime(got.From), formatTime(got.To))
		})
	}
}

// awaitRecord waits until a record has arrived at fleetd, and shows progress on a terminal.
func (sh *shell) awaitRecord(ctx context.Context, r records.Record) (records.Record, error) {
	until, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	line := sh.progress(r.Robot, "KiB")
	defer line.clear()
	for {
		switch r.State {
		case records.Done:
			return r, nil
		case records.Failed:
			return r, errors.New(r.Why)
		case records.Sending:
			line.show(int(r.Bytes>>10), int(r.Size>>10))
		}
		select {
		case <-ctx.Done():
			return r, &failure{code: exitTimeout, err: fmt.Errorf("interrupted; fleetd gets the record all the same: fleetd robot record %s --id %s",
				r.Robot, r.ID)}
		case <-until.Done():
			return r, &failure{code: exitTimeout, err: fmt.Errorf("the record has not arrived within %v: fleetd robot records %s says how far it is",
				recordTimeout, r.Robot)}
		case <-time.After(pollInterval):
		}
		var now records.Record // json.Unmarshal keeps fields that the answer omits
		if err := sh.do(ctx, "get-record", given{"id": r.Robot, "record": r.ID}, &now); err != nil {
			return r, err
		}
		r = now
	}
}

// downloadRecord writes the file once it is whole.
func (sh *shell) downloadRecord(ctx context.Context, r records.Record, path string) error {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	ask := sh.request("get-record-file", given{"id": r.Robot, "record": r.ID})
	response, err := sh.open(ctx, ask.http())
	if err != nil {
		return err
	}
	defer response.Body.Close()
	file, err := atomicfile.Create(path, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer file.Discard() // of what was not finished
	n, err := io.Copy(file, response.Body)
	again := fmt.Sprintf("; fleetd robot record %s --id %s downloads it again", r.Robot, r.ID)
	switch {
	case err != nil:
		return fmt.Errorf("download %s: %w%s", strings.TrimSpace(path), err, again)
	case n != r.Bytes:
		return fmt.Errorf("fleetd sent %d bytes of %d%s", n, r.Bytes, again)
	}
	if err := file.Replace(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
