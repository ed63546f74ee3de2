package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/robotd/recorder"
)

func recordShowCommand(dir func() string) *cobra.Command {
	last := 2 * time.Minute
	var from, to string
	var channels []string
	c := &cobra.Command{
		Use: "show [FILE...]", Short: "print what happened, one line a record",
		Long: `Print what happened: the time, the channel and the record in one line. Without a file it reads
the recordings of this robot. --last counts back from the newest record. /sample, which has a
record of each tick, is printed only if --channel names it.`,
		Example: "  robotd record show --last 30s\n  robotd record show fall.mcap --channel /transition,/sample",
		RunE: func(cmd *cobra.Command, files []string) error {
			spans, err := spansOfFiles(files)
			if len(files) == 0 {
				spans, err = spansOf(dir())
			}
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("from") || cmd.Flags().Changed("to") {
				last = 0
			}
			begin, end, err := during(spans, last, from, to)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			n, incomplete := 0, error(nil)
			var lines recorder.Lines
			for _, s := range spans {
				if s.Messages > 0 && (s.To.Before(begin) || !end.IsZero() && s.From.After(end)) {
					continue
				}
				err := recorder.Read(s.Path, func(topic string, at time.Time, message []byte) {
					if at.Before(begin) || !end.IsZero() && at.After(end) || !isShown(topic, channels) {
						return
					}
					n++
					fmt.Fprintf(out, "%s  %-11s  %s\n", at.UTC().Format("2006-01-02T15:04:05.000Z"), topic, lines.Of(topic, message))
				})
				if err != nil && !errors.Is(err, fs.ErrNotExist) { // removed meanwhile
					incomplete = errors.Join(incomplete, fmt.Errorf("%s: %w", filepath.Base(s.Path), err))
				}
			}
			if err := out.Flush(); err != nil {
				return err
			}
			if n == 0 && incomplete == nil {
				return fmt.Errorf("nothing was recorded then on these channels: the recordings are of %s to %s", formatTime(spans[0].From),
					formatTime(recorder.Newest(spans)))
			}
			return incomplete
		},
	}
	f := c.Flags()
	f.DurationVar(&last, "last", last, "the newest records: 30s, 10m, 2h")
	f.StringVar(&from, "from", "", "time of the first record, such as 2026-05-17T08:30:00Z")
	f.StringVar(&to, "to", "", "time of the last record")
	f.StringSliceVar(&channels, "channel", nil, "only these channels, such as /event,/alert; default: all but "+recorder.SampleTopic)
	c.MarkFlagsMutuallyExclusive("last", "from")
	c.MarkFlagsMutuallyExclusive("last", "to")
	return c
}

// isShown reports whether a channel is one of those asked for; without any, all but the samples are.
func isShown(topic string, asked []string) bool {
	if len(asked) == 0 {
		return topic != recorder.SampleTopic
	}
	return slices.Contains(asked, topic) || slices.Contains(asked, strings.TrimPrefix(topic, "/"))
}

// spansOfFiles are recordings that a person named.
func spansOfFiles(files []string) ([]recorder.Span, error) {
	var spans []recorder.Span
	for _, name := range files {
		c, err := recorder.Verify(name)
		if unread := (*fs.PathError)(nil); errors.As(err, &unread) {
			return nil, err
		}
		spans = append(spans, recorder.Span{Path: name, Contents: c})
	}
	return spans, nil
}
