package api

import (
	"cmp"
	"context"
	"slices"

	"troupe/fleetd/auth"
	"troupe/fleetd/command"
	"troupe/fleetd/presence"
	"troupe/schema"
)

// Batch is the commands of one request and their results.
type Batch struct {
	ID          string                `json:"id,omitempty"`
	DryRun      bool                  `json:"dry_run,omitempty"`
	Verb        string                `json:"verb"`
	Args        map[string]any        `json:"args,omitempty"`
	Selector    string                `json:"selector" doc:"as written on a command line"`
	At          schema.Time           `json:"at,omitzero"`
	By          string                `json:"by,omitempty"`
	Why         string                `json:"why,omitempty"`
	Total       int                   `json:"total"`
	Counts      map[command.State]int `json:"counts"`
	Outcome     command.Outcome       `json:"outcome,omitempty" enum:"running,succeeded,partial,failed,unanswered"`
	Commands    []Command             `json:"commands" doc:"a batch that is read has none for robots outside the fleet, to which stops by name or of all robots are sent too; total counts them, and counts as UNKNOWN"`
	Waiting     []string              `json:"waiting,omitempty" doc:"robots that are not connected; the command is sent if they are back in time"`
	Skipped     []command.Skip        `json:"skipped,omitempty"`
	NeverSeen   []string              `json:"never_seen,omitempty" doc:"names to which the stop was sent although fleetd never saw such a robot"`
	Latch       string                `json:"latch,omitempty" doc:"id of the latched stop, with which it is released"`
	Dup         bool                  `json:"dup,omitempty" doc:"the stop repeats an earlier request and is latched under its id"`
	Unspooled   bool                  `json:"unspooled,omitempty" doc:"fleetd could not write the stop to its disk; robots hold it, and fleetd may have to restore it from their reports"`
	Unpersisted bool                  `json:"unpersisted,omitempty" doc:"the stop was sent, but the database does not have it yet"`
}

// Command is one command to one robot and its state.
type Command struct {
	ID       string        `json:"id,omitempty"`
	Batch    string        `json:"batch,omitempty"`
	Robot    string        `json:"robot"`
	Instance string        `json:"fleetd,omitempty" doc:"name of the fleetd instance that received the request: only that instance sends it, and the robot answers to it"`
	Verb     string        `json:"verb"`
	State    command.State `json:"state,omitempty"`
	Because  string        `json:"because,omitempty"`
	At       schema.Time   `json:"at,omitzero"`
	Expires  schema.Time   `json:"expires,omitzero"`
	Sends    int           `json:"sends,omitempty"`
	Ended    schema.Time   `json:"ended,omitzero"`
	Answer   *schema.Ack   `json:"answer,omitempty" doc:"the robot's newest answer"`

	By        string `json:"by,omitempty" doc:"the person who asked for it; in lists and for one command"`
	Why       string `json:"why,omitempty" doc:"their reason"`
	Principal string `json:"principal,omitempty" doc:"as whom fleetd authenticated them"`
}

// storedBatch reads a batch with its commands.
func (s *server) storedBatch(ctx context.Context, p auth.Principal, id string) (Batch, error) {
	b, rows, err := s.Commands.Batch(ctx, id)
	if err != nil {
		return Batch{}, s.fail(err, "batch "+id)
	}
	if !p.SeesAll() {
		all := rows
		rows = slices.DeleteFunc(slices.Clone(all), func(c command.Command) bool { return s.outside(p, c.Robot) != nil })
		if len(rows) == 0 && len(all) > 0 {
			return Batch{}, s.outside(p, all[0].Robot)
		}
		b.Total, b.Selector = len(rows), s.visibleSelector(p, b.Selector)
	}
	out := batchOf(b, rows)
	s.explainQueued(out.Commands)
	return out, nil
}

func batchOf(b command.Batch, rows []command.Command) Batch {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b command.Command) int { return cmp.Compare(a.Robot, b.Robot) })
	states := make([]command.State, max(b.Total, len(rows)))
	for i := range states {
		states[i] = command.Unknown // of a stop to a robot outside the fleet the database has no command
		if i < len(rows) {
			states[i] = rows[i].State
		}
	}
	sum := command.Summarise(states)
	return Batch{
		ID: b.ID, Verb: b.Verb, Args: b.Args, Selector: b.Selector, At: schema.TimeOf(b.CreatedAt), By: b.By, Why: b.Why,
		Total: b.Total, Counts: sum.By, Outcome: sum.Outcome, Commands: toCommands(rows),
	}
}

// withAuthors adds to commands who asked for them, and why.
func (s *server) withAuthors(ctx context.Context, commands []Command) error {
	var ids []string
	for _, c := range commands {
		ids = append(ids, c.Batch)
	}
	slices.Sort(ids)
	batches, err := s.Commands.BatchesByID(ctx, slices.Compact(ids))
	if err != nil {
		return s.fail(err, "commands")
	}
	by := map[string]command.Batch{}
	for _, b := range batches {
		by[b.ID] = b
	}
	for i := range commands {
		b := by[commands[i].Batch]
		commands[i].By, commands[i].Why, commands[i].Principal = b.By, b.Why, b.Principal
	}
	return nil
}

func toCommands(rows []command.Command) []Command {
	out := make([]Command, len(rows))
	for i, c := range rows {
		out[i] = toCommand(c)
	}
	return out
}

func toCommand(c command.Command) Command {
	return Command{
		ID: c.ID, Batch: c.Batch, Robot: c.Robot, Instance: c.Owner, Verb: c.Verb, State: c.State, Because: c.Because, Sends: c.Sends,
		At: timeOf(c.CreatedAt), Expires: timeOf(c.ExpiresAt), Ended: timeOf(c.EndedAt), Answer: c.Answer,
	}
}

// explainQueued sets the reason why commands were not sent yet. The reason depends on the
// present state, so it is computed per request and never stored.
func (s *server) explainQueued(commands []Command) {
	var fleetd *Status
	for i := range commands {
		c := &commands[i]
		if c.State != command.Queued || c.ID == "" {
			continue
		}
		if fleetd == nil {
			now := s.Status()
			fleetd = &now
		}
		c.Because = s.waitReason(c, fleetd)
	}
}

func (s *server) waitReason(c *Command, fleetd *Status) string {
	if c.Instance != "" && c.Instance != fleetd.Name {
		return "not sent: fleetd instance " + c.Instance + " received the request and has not sent it yet"
	}
	if !fleetd.Broker.OK {
		why := waitsForBroker
		if fleetd.Broker.Why != "" {
			why += " (" + fleetd.Broker.Why + ")"
		}
		return why
	}
	r, seen := s.View.Robot(c.Robot)
	if status := presence.Status(r.Presence.Status); !seen || !status.Reachable() {
		if !seen {
			status = presence.Unknown
		}
		return waitsForRobot(status)
	}
	return waitsItsTurn
}

const (
	waitsItsTurn   = "saved; fleetd sends it now, or when earlier commands to the robot are done"
	waitsForBroker = "not sent: fleetd is not connected to the broker; it is sent if the connection is back in time"
)

func waitsForRobot(s presence.Status) string {
	return "not sent: the robot is " + string(s) + "; it is sent if the robot is back in time"
}

// WaitReasons lists why a command can be unsent. The console has them in its languages.
func WaitReasons() []string {
	all := []string{waitsItsTurn, waitsForBroker}
	for _, s := range []presence.Status{presence.Unknown, presence.Lost, presence.Offline, presence.Sleeping} {
		all = append(all, waitsForRobot(s))
	}
	return all
}
