package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"troupe/fleetd/view"
	"troupe/schema"
)

// watch prints a line for every change. When the connection is lost it prints a message
// and connects again.
func (sh *shell) watch(ctx context.Context, query url.Values) error {
	shown := map[string]string{}
	for {
		err := sh.readStream(ctx, query, func(event string, data []byte) error {
			if event != "robots" && event != "changes" {
				return nil
			}
			var got robotList
			if err := json.Unmarshal(data, &got); err != nil {
				return fmt.Errorf("read fleetd's stream: %w", err)
			}
			for _, r := range got.Robots {
				if err := sh.printChange(got.TS, r, shown); err != nil {
					return err
				}
			}
			return nil
		})
		var f *failure
		switch {
		case ctx.Err() != nil:
			return nil // interrupted by the user
		case errors.As(err, &f):
			return err
		}
		fmt.Fprintln(sh.Err, "fleetd:", err, "- trying again")
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

func (sh *shell) printChange(at schema.Time, r view.Robot, shown map[string]string) error {
	if sh.output == "json" {
		return json.NewEncoder(sh.Out).Encode(r)
	}
	words := []string{strings.ReplaceAll(viewText(r), " ", "_")}
	if r.Gone {
		words[0] = "gone"
	}
	for _, pair := range []struct{ name, value string }{
		{"mode", modeText(r)}, {"safety", safetyText(r)}, {"ato", autoText(r)}, {"story", storyText(r)}, {"desired", convergenceText(r.Desired)}, {"alerts", alertText(r)},
	} {
		if pair.value != "" {
			words = append(words, pair.name+"="+strings.ReplaceAll(pair.value, " ", "_"))
		}
	}
	text := strings.Join(words, " ")
	if shown[r.ID] == text {
		return nil
	}
	shown[r.ID] = text
	_, err := fmt.Fprintln(sh.Out, at.Time().Local().Format(time.TimeOnly), r.ID, text)
	return err
}
