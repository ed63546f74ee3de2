package cli

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/view"
	"troupe/schema"
)

type robotList struct {
	TS       schema.Time  `json:"ts"`
	Robots   []view.Robot `json:"robots"`
	Disputed string       `json:"disputed,omitempty"`
}

func (sh *shell) robotCommand() *cobra.Command {
	var listed, watched targets
	var table bool
	list := &cobra.Command{
		Use: "list [ROBOT...]", Short: "list robots, all if none are named",
		Example: "  fleetd robot list\n  fleetd robot list -l site=museum -o json\n  fleetd robot list --doing=disabled,no_story --csv",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			query, err := listed.query(args)
			if err != nil {
				return err
			}
			if table {
				return sh.exportRobots(cmd.Context(), query)
			}
			var got robotList
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: "robots", query: query}, &got); err != nil {
				return err
			}
			if got.Disputed != "" {
				fmt.Fprintln(sh.Err, "fleetd: warning: "+disputeText(got.Disputed))
			}
			if err := sh.show(got, func(w io.Writer) { sh.robotTable(w, got) }); err != nil {
				return err
			}
			return missingRobots(args, got)
		}),
	}
	listed.flags(list)
	list.Flags().BoolVar(&table, "csv", false, "print a table for spreadsheets, with every column")
	watch := &cobra.Command{
		Use: "watch [ROBOT...]", Short: "tell what robots do and why, a line for each thing that happens, until interrupted",
		Long: `Tell what robots do and why, a line for each thing that happens, until interrupted: what the story
performs, what interrupts it, what life turns to, stops, modes, alerts. What comes with every act and
what follows from an earlier line is left out; fleetd event list has all of it.

The second column says what a line is about:
  world   what happens around a robot with a simulated body
  story   the story and its acts             react   an interrupt: a person, a low battery
  life    what the robot does by itself      safety  whether it may move, and why not
  mode    which mode is in charge, control   link    whether fleetd and people reach it
  alert   what needs a look                  fleet   stories and settings that reach it

If a robot plays a scenario, times are by the clock of the scenario. With -o json each line is an object with
both times, the kind, the text, and the event from which it was made.`,
		Example: "  fleetd robot watch r1\n  fleetd robot watch -l site=museum -o json",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			query, err := watched.query(args)
			if err != nil {
				return err
			}
			return sh.watch(cmd.Context(), query, args)
		}),
	}
	watched.flags(watch)
	return group("robot",
		"robots: list, get, points, documents, watch, record, records, label; enrol, identity, revoke; decommission, orphans",
		list, sh.documentsCommand(), watch, sh.labelCommand(), sh.orphansCommand())
}

// missingRobots is an error if robots were named that there are not.
func missingRobots(named []string, got robotList) error {
	missing := slices.DeleteFunc(slices.Clone(named), func(id string) bool {
		return slices.ContainsFunc(got.Robots, func(r view.Robot) bool { return r.ID == id })
	})
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("there is no robot %s; fleetd robot list shows all", strings.Join(missing, ", "))
}

func (sh *shell) robotTable(out io.Writer, l robotList) {
	if len(l.Robots) == 0 {
		fmt.Fprintln(out, "no robots")
		return
	}
	header := sh.header("ROBOT\tPRESENCE\tSEEN\tMODE\tSAFETY\tATO\tSTORY\tDESIRED\tALERTS\tLABELS", "ROUND TRIP", "CONTROL", "LIFE")
	writeTable(out, header, l.Robots, func(r view.Robot) []any {
		cells := []any{r.ID, presenceText(r), age(l.TS, r.Presence.LastSeen), dash(modeText(r)), dash(safetyText(r)), dash(autoText(r)),
			dash(storyText(r)),
			dash(convergenceText(r.Desired)), dash(alertText(r)), dash(labelText(r.Labels))}
		return append(cells, sh.wide(roundTripText(r), dash(controllerText(r)), dash(lifeState(r)))...)
	})
}

func robotDetail(_ *shell, out io.Writer, d view.Detail) {
	w := newFacts(out)
	line := func(name, value string) {
		if value != "" {
			writeRow(w, name, inCommands(value, d.ID))
		}
	}
	robotNow(line, d)
	robotWork(line, d)
	robotHolders(line, d)
	unavailableModes(line, d)
	for _, text := range alertLines(d.Alerts) { // often the same concerns several units
		line("alert", text)
	}
	robotBody(line, d)
	if d.LastEvent != nil {
		line("last event", strings.TrimSpace(d.LastEvent.TS.String()+" "+d.LastEvent.Type+" "+string(d.LastEvent.Level)))
	}
	_ = w.Flush() // a write error shows at the next write
}

// addFact adds one line to the facts about a robot, unless its value is empty.
type addFact func(name, value string)

// robotNow says which robot it is, whether it is there and whether it may move.
func robotNow(line addFact, d view.Detail) {
	line("robot", d.ID)
	line("labels", labelText(d.Labels))
	line("presence", d.Presence.Status+": "+d.Presence.Why)
	if d.Presence.LastSeen != 0 {
		line("last seen", d.Presence.LastSeen.String())
	}
	if ms := d.Presence.RoundTripMS; ms > 0 {
		line("round trip", fmt.Sprintf("%d ms", ms))
	}
	if !d.Adopted {
		line("adopted", "no: fleetd adopt "+d.ID)
	}
	line("mode", longModeText(d.Robot))
	line("safety", safetyNow(d.Robot, d.State))
	for _, l := range d.Latches {
		line("latched", l.ID+": fleetd stop release "+l.ID+" --why REASON releases it")
	}
	if d.StateOutdated {
		line("state", "out of date: the robot has published a newer one than that of "+d.StateAt.String()+
			"; mode and safety are from its heartbeat")
	}
}

// robotWork says what the robot performs and what it shall perform.
func robotWork(line addFact, d view.Detail) {
	line("ato", autoText(d.Robot))
	line("story", storyText(d.Robot))
	if d.State != nil && d.State.Life != nil {
		line("life", lifeText(d.State.Life))
		for _, why := range waitingTexts(d.State.Life) {
			line("waiting", why)
		}
	}
	line("desired", convergenceText(d.Desired))
	if r := d.Reported; r != nil && r.Reason != "" && hasRefused(d.Desired) {
		line("refused", refusalText(r))
	}
	if a := d.Activities; a != nil {
		line("activities", activitiesText(*a))
	}
}

// robotHolders says who controls or pauses the robot.
func robotHolders(line addFact, d view.Detail) {
	if k := d.Control; k != nil {
		line("controlled by", strings.TrimPrefix(k.By+" at ", " at ")+k.Holder+", "+k.Scope)
	}
	if d.State != nil && d.State.Recording != nil {
		k := d.State.Recording
		line("recording", k.Act+" by "+schema.Asker(k.Holder, k.By)+" since "+k.Since.String()+"; it is lost when the holder's control ends")
	}
	for _, p := range d.PauseHolders {
		line("paused by", pauseText(d.ID, p))
	}
	for _, i := range d.Interrupts {
		line("interrupt", "handler "+i.Handler+", requested by "+i.Interrupter+", id "+i.ID)
	}
}

// unavailableModes says which modes people cannot ask for. Often the same keeps the robot from all of them.
func unavailableModes(line addFact, d view.Detail) {
	if d.Modes == nil {
		return
	}
	unavailable, whys := map[string][]string{}, []string(nil)
	for _, m := range d.Modes.Modes {
		if len(m.WhyNot) > 0 && m.ID != schema.ModeSafe { // people cannot ask for safe
			why := orElse(m.WhyNot[0].Detail, m.WhyNot[0].Reason.Describe().Text)
			if unavailable[why] == nil {
				whys = append(whys, why)
			}
			unavailable[why] = append(unavailable[why], string(m.ID))
		}
	}
	for _, why := range whys {
		line("unavailable", "cannot go to "+strings.Join(unavailable[why], ", ")+": "+why)
	}
}

// robotBody says what the robot is, and how its units are.
func robotBody(line addFact, d view.Detail) {
	if d.Caps != nil {
		line("body", strings.TrimSpace(d.Caps.Robot.Model+" "+d.Caps.Robot.Serial))
		line("software", d.Caps.Software.Robotd)
		line("version skew", d.VersionSkew)
		units := make([]string, len(d.Caps.Units))
		for i, u := range d.Caps.Units {
			units[i] = u.ID
		}
		line("units", strings.Join(units, " "))
	}
	if d.Acts != nil {
		taught := make([]string, len(d.Acts.Acts))
		for i, a := range d.Acts.Acts {
			taught[i] = a.ID
		}
		line("taught acts", strings.Join(taught, " "))
	}
	if d.State != nil {
		for _, u := range d.State.Units {
			inAlert := func(a schema.Alert) bool { return a.Source == u.ID && strings.Contains(a.Detail, u.Detail) }
			switch {
			case faultIsOver(u, d.State.Safety.State):
				line("unit", u.ID+": in error; its fault is over: fleetd safety reset "+d.ID)
			case u.Detail != "" && !slices.ContainsFunc(d.Alerts, inAlert): // the battery's charge, or a fault
				line("unit", u.ID+": "+u.Detail)
			}
		}
	}
}
