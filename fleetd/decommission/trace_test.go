package decommission

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/fsm/fsmtest"
	"troupe/schema/golden"
)

func TestTableIsSound(t *testing.T) {
	fsmtest.Check(t, Table, Begun, Steps, Archived, Cancelled)
}

func TestTableMatchesDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/decommission.md", Table, Begun)
}

// TestTraces plays each script of testdata: a line is what fleetd observes, the indented
// line below it is the decision.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		d, f := Decommission{Robot: "r7", Step: Begun}, Facts{Connection: Disconnected, NameRevoked: true}
		return func(line string) string {
			switch line {
			case "connected":
				f.Connection = Connected
			case "disconnected":
				f.Connection = Disconnected
			case "no broker":
				f.Connection = NotKnown
			case "confirmed":
				f.Confirmed = true
			case "enrolled again":
				f.NameRevoked = false
			case "2 s later":
				f.InStep = StopTime
			case "next", "fleetd restarts":
			default:
				t.Fatalf("unknown event %q", line)
			}
			next := Next(d, f)
			if next.On == "" {
				return fmt.Sprintf("  %s: %s\n", d.Step, next.Why)
			}
			out := fmt.Sprintf("  %s -> %s on %s", d.Step, next.To, next.On)
			if next.Stop {
				out += ", and a stop"
			}
			d.Step, f.Confirmed, f.InStep = next.To, false, 0
			return out + fmt.Sprintf(" (%s)\n", next.Why)
		}
	})
}

// For any observations in any order: no document is deleted while the robot may be
// connected, and no row is archived before the documents are deleted.
func TestNothingIsDeletedBeforeRobotIsRevokedAndDisconnected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Decommission{Step: Begun}
		var taken []Step
		for range rapid.IntRange(1, 30).Draw(t, "looks") {
			f := Facts{
				Connection:  rapid.SampledFrom([]Connection{Connected, Disconnected, NotKnown}).Draw(t, "where"),
				InStep:      time.Duration(rapid.IntRange(0, 4).Draw(t, "seconds in the step")) * time.Second,
				Confirmed:   rapid.Bool().Draw(t, "told"),
				NameRevoked: rapid.IntRange(0, 9).Draw(t, "name revoked") > 0,
			}
			next := Next(d, f)
			if next.On == "" {
				if next.To != d.Step {
					t.Fatalf("step %s changes to %s without an event", d.Step, next.To)
				}
				continue
			}
			if next.To == Revoked && f.Connection != Disconnected && f.InStep < StopTime {
				t.Fatalf("revoked %v after the stop while the robot is %s", f.InStep, f.Connection)
			}
			if next.To == DeletingDesired && (d.Step != Revoked || f.Connection != Disconnected) {
				t.Fatalf("documents deleted at step %s while the robot is %s", d.Step, f.Connection)
			}
			if (next.To == DeletingDocuments || next.To == Archived) && !f.Confirmed {
				t.Fatalf("%s before the broker confirmed the step before", next.To)
			}
			d.Step = next.To
			taken = append(taken, next.To)
		}
		want := []Step{StopSent, Revoked, DeletingDesired, DeletingDocuments, Archived}
		if n := len(taken); n > 0 && taken[n-1] == Cancelled {
			taken = taken[:n-1]
		}
		if !slices.Equal(taken, want[:len(taken)]) {
			t.Fatalf("the steps were %v", taken)
		}
	})
}

func TestPresenceIsDeletedFirstAndAllTopicsAre(t *testing.T) {
	documents, desired := Documents(), DesiredTopics()
	if documents[0] != schema.TopicPresence {
		t.Errorf("%s is deleted first", documents[0])
	}
	all := slices.Concat(documents, desired)
	for _, row := range schema.Topics {
		ofRobot := row.Retain && len(row.Pattern) > len(robotPattern) && row.Pattern[:len(robotPattern)] == robotPattern
		if slices.Contains(all, row.Kind) != ofRobot {
			t.Errorf("%s: deleted %v", row.Pattern, !ofRobot)
		}
	}
	if slices.Contains(documents, schema.TopicDesiredStory) || !slices.Contains(desired, schema.TopicDesiredStory) ||
		slices.Contains(all, schema.TopicCmd) {
		t.Errorf("%v and %v", documents, desired)
	}
}
