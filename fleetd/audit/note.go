package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Via is the program through which something was done.
type Via string

const (
	ViaWeb      Via = "web"      // the console
	ViaCLI      Via = "cli"      // the command line of fleetd
	ViaToken    Via = "token"    // another program, with a token; also a robot that enrols
	ViaAPI      Via = "api"      // another program, without a token
	ViaMQTT     Via = "mqtt"     // a client of the broker, not through fleetd
	ViaRobot    Via = "robot"    // a robot, by its certificate, or by its messages over MQTT
	ViaFleetd   Via = "fleetd"   // fleetd itself
	ViaSchedule Via = "schedule" // a schedule, in the name of who saved it
)

// Outcome is how something ended.
type Outcome string

const (
	Done     Outcome = "done"     // it was carried out
	Accepted Outcome = "accepted" // it was passed on; another entry says how it ended
	Partly   Outcome = "partly"   // some of the robots did it
	Refused  Outcome = "refused"  // nothing was done
	Failed   Outcome = "failed"   // it was tried and failed, or it is unknown whether it was done
)

// Assignments are what entries about assignments to robots say in Note.What.
var Assignments = []string{string(ActionAssign), string(ActionWithdraw), string(ActionRevert), string(ActionDesired)}

// Source is who made a request, as fleetd authenticated them, and from where.
type Source struct {
	Principal string `json:"principal,omitempty" doc:"as whom fleetd or the broker authenticated them; left out for what fleetd did itself"`
	Address   string `json:"address,omitempty" doc:"network address that the request came from"`
	Via       Via    `json:"via,omitempty" enum:"web,cli,token,api,mqtt,robot,fleetd,schedule" doc:"the program through which it was done, as that program says"`
}

// Note is what an entry of the audit log says.
type Note struct {
	Source
	Who     string  `json:"who,omitempty" doc:"the person, by the name that they gave"`
	What    Action  `json:"what" doc:"what was done; command GROUP/VERB is a command to robots" example:"label"`
	Target  string  `json:"target" doc:"what it was done to" example:"robot r1"`
	Why     string  `json:"why,omitempty" doc:"the reason that the person gave, or why it was refused or failed"`
	Detail  string  `json:"detail,omitempty" doc:"what changed, in words"`
	Before  string  `json:"before,omitempty" doc:"what was there before, as JSON"`
	After   string  `json:"after,omitempty" doc:"what is there now, as JSON"`
	Outcome Outcome `json:"outcome" enum:"done,accepted,partly,refused,failed"`
	Of      string  `json:"of,omitempty" doc:"id of the entry whose end this one records"`
}

// Entry is one row of the audit log: a note with its time and its place in the chain.
type Entry struct {
	Seq int64     `json:"seq" doc:"place in the chain, from 1 without gaps"`
	ID  string    `json:"id"`
	At  time.Time `json:"at"`
	Note
	Prev string `json:"prev" doc:"hash of the entry before; empty in the first entry"`
	Hash string `json:"hash" doc:"SHA-256 of this entry with prev"`
}

// maxJSON bounds what changed, in bytes. Rows stay small enough to keep for a year.
const maxJSON = 2048

// JSON encodes a value for Note.Before and Note.After. If the result is too long, it is an object
// with the beginning of the text and its number of bytes.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	if len(b) > maxJSON {
		b, _ = json.Marshal(map[string]any{"beginning": Text(string(b), maxJSON/2), "bytes": len(b)})
	}
	return string(b)
}

// mostNames is how many robots an entry names.
const mostNames = 20

// Robots encodes what robots had or got for Note.Before and Note.After: their names by what it
// is, the largest group first. Of many robots it names some, and counts the others.
func Robots(groups map[string][]string) string {
	order := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(len(groups[b])-len(groups[a]), cmp.Compare(a, b))
	})
	out, left := map[string][]string{}, mostNames
	others := 0
	for _, what := range order {
		robots := groups[what]
		if left == 0 {
			others += len(robots)
			continue
		}
		named := min(left, len(robots))
		left -= named
		out[what] = slices.Clone(robots[:named])
		if more := len(robots) - named; more > 0 {
			out[what] = append(out[what], fmt.Sprintf("and %d more", more))
		}
	}
	if others > 0 {
		out["others"] = []string{fmt.Sprintf("%d more", others)}
	}
	return JSON(out)
}

// Text makes untrusted text fit for an entry: valid UTF-8 without control characters, and of
// at most so many bytes.
func Text(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
