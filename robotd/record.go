package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"troupe/robotd/recorder"
)

func recordCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "record", Short: "what the flight recorder of this robot has",
		Long: `What the flight recorder of this robot has: MCAP files in DATA/recorder, which Foxglove
and the tools of MCAP open. robotd may be running. Times are in UTC.`,
	}
	var data string
	dataFlag(c.PersistentFlags(), &data)
	dir := func() string { return filepath.Join(data, recorder.Folder) }
	c.AddCommand(recordListCommand(dir), recordShowCommand(dir), recordExportCommand(dir), recordVerifyCommand(dir))
	return c
}

func recordListCommand(dir func() string) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list the recordings, the oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spans, err := spansOf(dir())
			if err != nil {
				return err
			}
			out := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(out, "FILE\tFROM\tTO\tCONTENT\tSIZE\tCONDITION")
			var bytes int64
			for _, s := range spans {
				bytes += s.Bytes
				fmt.Fprintf(out, "%s\t%s\t%s\t%d records\t%d KiB\t%s\n", filepath.Base(s.Path), formatTime(s.From), formatTime(s.To), s.Messages,
					kib(s.Bytes), condition(s))
			}
			if err := out.Flush(); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "together %d KiB in %d files\n", kib(bytes), len(spans))
			return err
		},
	}
}

// spansOf are the recordings of a robot that has some.
func spansOf(dir string) ([]recorder.Span, error) {
	spans, err := recorder.List(dir)
	if err == nil && len(spans) == 0 {
		err = fmt.Errorf("there are no recordings in %s: name the robot's directory with --data; robotd records unless recorder_mib is 0", dir)
	}
	return spans, err
}

func condition(s recorder.Span) string {
	switch {
	case s.Err != nil:
		return "damaged"
	case s.Closed:
		return "closed"
	}
	return "open" // being written, or robotd was killed; its next start closes it
}

func kib(bytes int64) int64 { return (bytes + 1023) >> 10 }

func formatTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.DateTime)
}

func recordExportCommand(dir func() string) *cobra.Command {
	var last time.Duration
	var from, to, file string
	c := &cobra.Command{
		Use: "export (--last DURATION | --from TIME --to TIME) --out FILE", Short: "write records into one MCAP file", Args: cobra.NoArgs,
		Long: `Write the records of a time into one MCAP file. --last 10m are the last 10 minutes that
were recorded. --from and --to are times such as 2026-05-17T08:30:00Z; one of them alone
has no limit on the other side.`,
		Example: "  robotd record export --last 10m --out fall.mcap",
		RunE: func(cmd *cobra.Command, _ []string) error {
			spans, err := spansOf(dir())
			if err != nil {
				return err
			}
			begin, end, err := during(spans, last, from, to)
			if err != nil {
				return err
			}
			if file == "-" {
				n, incomplete := recorder.Export(cmd.OutOrStdout(), spans, begin, end)
				if n == 0 {
					return errors.Join(errNothingRecorded(spans), incomplete)
				}
				return incomplete
			}
			pending, err := renameio.NewPendingFile(file, renameio.WithPermissions(0o600))
			if err != nil {
				return fmt.Errorf("write %s: %w", file, err)
			}
			defer pending.Cleanup() // of what was not finished
			n, incomplete := recorder.Export(pending, spans, begin, end)
			if n == 0 {
				return errors.Join(errNothingRecorded(spans), incomplete)
			}
			if incomplete != nil && !recorder.IsDamage(incomplete) {
				return fmt.Errorf("write %s, which stays as it was: %w", file, incomplete)
			}
			if err := pending.CloseAtomicallyReplace(); err != nil {
				return fmt.Errorf("write %s: %w", file, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d records\n", file, n)
			return incomplete
		},
	}
	f := c.Flags()
	f.DurationVar(&last, "last", 0, "the newest records: 30s, 10m, 2h")
	f.StringVar(&from, "from", "", "time of the first record")
	f.StringVar(&to, "to", "", "time of the last record")
	f.StringVarP(&file, "out", "o", "record.mcap", "the file; - is standard output")
	c.MarkFlagsMutuallyExclusive("last", "from")
	c.MarkFlagsMutuallyExclusive("last", "to")
	c.MarkFlagsOneRequired("last", "from", "to")
	return c
}

// errNothingRecorded is the error of an export that found no record in the requested time.
func errNothingRecorded(spans []recorder.Span) error {
	return fmt.Errorf("nothing was recorded then: the recordings are of %s to %s", formatTime(spans[0].From),
		formatTime(recorder.Newest(spans)))
}

// during is the time that the flags of an export name.
func during(spans []recorder.Span, last time.Duration, from, to string) (begin, end time.Time, err error) {
	if last > 0 {
		return recorder.Newest(spans).Add(-last), time.Time{}, nil
	}
	for _, t := range []struct {
		flag, text string
		at         *time.Time
	}{{"--from", from, &begin}, {"--to", to, &end}} {
		if t.text == "" {
			continue
		}
		if *t.at, err = time.Parse(time.RFC3339, t.text); err != nil {
			return begin, end, fmt.Errorf("%s %s: give a time such as 2026-05-17T08:30:00Z", t.flag, t.text)
		}
	}
	if begin.IsZero() && end.IsZero() {
		err = errors.New("--last has to be more than 0")
	}
	return begin, end, err
}

func recordVerifyCommand(dir func() string) *cobra.Command {
	return &cobra.Command{
		Use: "verify [FILE...]", Short: "check recordings, and print what is in them",
		Long: `Read recordings whole: the checksum of each chunk, and whether the index says what is in
the file. Without a file, all of this robot.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			if len(names) == 0 {
				spans, err := spansOf(dir())
				if err != nil {
					return err
				}
				for _, s := range spans {
					names = append(names, s.Path)
				}
			}
			bad := 0
			for _, name := range names {
				c, err := recorder.Verify(name)
				if unread := (*fs.PathError)(nil); errors.As(err, &unread) {
					return err
				}
				if err != nil {
					bad++
				}
				printContents(cmd.OutOrStdout(), name, c, err)
			}
			if bad > 0 {
				return fmt.Errorf("%d of %d recordings are damaged; what is before the damage was read", bad, len(names))
			}
			return nil
		},
	}
}

func printContents(to io.Writer, name string, c recorder.Contents, err error) {
	found := "valid"
	switch {
	case err != nil:
		found = err.Error()
	case !c.Closed:
		found = "valid up to its last whole chunk, not closed: robotd is writing it, which is no fault, or was killed"
	}
	fmt.Fprintf(to, "%s: %s\n  %d records, %s to %s\n", filepath.Base(name), found, c.Messages, formatTime(c.From), formatTime(c.To))
	if c.Dropped > 0 {
		fmt.Fprintf(to, "  %d records are missing: the disk was too slow or refused them, or they could not be encoded\n", c.Dropped)
	}
	out := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, topic := range slices.SortedFunc(maps.Keys(c.Topics), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.Topics[b], c.Topics[a]), cmp.Compare(a, b))
	}) {
		fmt.Fprintf(out, "  %s\t%d\n", topic, c.Topics[topic])
	}
	_ = out.Flush() // as Fprintf above
}
