package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

func (sh *shell) alertCommand() *cobra.Command {
	var robot, site, note string
	var unacknowledged bool
	list := &cobra.Command{
		Use: "list", Short: "list the alerts of robots, the worst first", Args: cobra.NoArgs,
		Long:    "List the alerts of robots, the worst first. An alert is a present problem; when it is over, it leaves the list, and fleetd event list --type alert_raised still has it.",
		Example: "  fleetd alert list --unacknowledged",
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			query := url.Values{}
			if robot != "" {
				query.Set("robot", robot)
			}
			if site != "" {
				query.Set("site", site)
			}
			if unacknowledged {
				query.Set("unacknowledged", "true")
			}
			var got struct {
				Alerts []api.RobotAlert `json:"alerts"`
			}
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: "alerts", query: query}, &got); err != nil {
				return err
			}
			return sh.show(got, func(out io.Writer) { alertTable(out, got.Alerts) })
		}),
	}
	list.Flags().StringVar(&robot, "robot", "", "only alerts of this robot")
	list.Flags().StringVar(&site, "site", "", "only alerts of robots of this site, which is their label site")
	list.Flags().BoolVar(&unacknowledged, "unacknowledged", false, "only alerts that nobody has acknowledged")
	ack := &cobra.Command{
		Use: "ack ROBOT ALERT", Short: "acknowledge an alert, with a note", Args: cobra.ExactArgs(2),
		Long:    "Acknowledge an alert: others see that you took note of it, and your note. It changes nothing at the robot, and the alert stays until its cause is gone.",
		Example: "  fleetd alert ack r1 a3 --note 'the wheel is being cleaned'",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var got api.RobotAlert
			err := sh.call(cmd.Context(), apiRequest{method: http.MethodPost, path: "robots/" + url.PathEscape(args[0]) + "/alerts/" + url.PathEscape(args[1]) + "/ack", body: map[string]string{"by": sh.by, "note": note}}, &got)
			if err != nil {
				return err
			}
			return sh.show(got, func(out io.Writer) { alertTable(out, []api.RobotAlert{got}) })
		}),
	}
	ack.Flags().StringVar(&note, "note", "", "what is being done about it")
	_ = ack.MarkFlagRequired("note")
	return group("alert", "present problems of robots: list, ack", list, ack)
}

func alertTable(out io.Writer, alerts []api.RobotAlert) {
	w := newTable(out)
	fmt.Fprintln(w, "SINCE\tROBOT\tLEVEL\tTYPE\tWHAT\tACKNOWLEDGED\tNOTE\tID")
	for _, a := range alerts {
		by, note := "-", "-"
		if a.Acknowledged != nil {
			by, note = dash(a.Acknowledged.By), dash(a.Acknowledged.Note)
		}
		writeRow(w, formatTime(a.FirstTS), a.Robot, string(a.Level), a.Type, a.Detail, by, note, a.ID)
	}
	_ = w.Flush() // a write error shows at the next write
}
