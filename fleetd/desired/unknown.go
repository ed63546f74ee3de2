package desired

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"troupe/schema"
)

// AlertNotInDatabase is the type of the alert that Unknown explains.
const AlertNotInDatabase = "not_in_database"

// Unknown describes what a robot reports to have in effect of a topic of which the database has no
// document (rev is 0), and how people take it over or clear it. There is nothing if detail is empty.
// If the database has an older document, fleetd publishes that one under a higher revision instead.
func Unknown(fleetID, robot string, topic schema.TopicKind, rev int64, report []byte) (detail, hint string) {
	if rev > 0 || !schema.ReportedRevIn(fleetID, report).InEffect {
		return "", ""
	}
	has, _ := schema.Decode[schema.InEffect](report)
	var take, clear string
	var what string
	switch topic {
	case schema.TopicDesiredStory:
		what = fmt.Sprintf("the story %s revision %d", has.Active.ID, has.Active.Rev)
		take, clear = "fleetd story assign "+quoted(has.Active.ID)+" "+robot, "fleetd story withdraw "+robot
	case schema.TopicDesiredActivities:
		what = "activities"
		take, clear = "fleetd activity assign ACTIVITY "+robot, "fleetd activity withdraw "+robot
	case schema.TopicDesiredPlaces:
		what = "the places " + has.Active.ID
		take, clear = "fleetd desired places -f FILE "+robot, "fleetd desired places --none "+robot
	case schema.TopicDesiredMode:
		what = "the mode " + string(has.Mode)
		take = "fleetd desired mode " + quoted(string(has.Mode)) + " " + robot
	case schema.TopicDesiredConfig:
		keys := slices.Sorted(maps.Keys(has.Applied))
		what = "the settings " + strings.Join(keys, ", ")
		var set, unset []string
		for _, k := range keys {
			set, unset = append(set, quoted(k+"="+string(has.Applied[k]))), append(unset, "--unset "+quoted(k))
		}
		take, clear = "fleetd desired config "+strings.Join(set, " ")+" "+robot, "fleetd desired config "+strings.Join(unset, " ")+" "+robot
	}
	detail = "the robot has " + what + ", which this database does not have: it is an older copy, or the robot has it from an earlier fleet"
	hint = take + " takes it over"
	if clear != "" {
		hint += "; " + clear + " removes it"
	}
	return detail, hint
}

// plain are the characters that mean nothing to a shell.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:/=@%+"

// quoted quotes an argument for a shell if it must be: a robot may report anything, and people paste the command.
func quoted(arg string) string {
	if strings.ContainsFunc(arg, func(r rune) bool { return !strings.ContainsRune(plain, r) }) {
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return arg
}
