package recorder

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// SampleTopic is the channel with a record of each tick, which has most of the records.
const SampleTopic = "/sample"

// maxLine is the longest line of a record; a longer one is cut off.
const maxLine = 1 << 10

// Lines formats records for people, each in one line, in the order in which they were recorded.
type Lines struct {
	units map[uint64]string // of the actions that have begun
}

// Of returns a record in one line. A record that it cannot read, such as one of a later
// release, is shown as it is.
func (l *Lines) Of(topic string, message []byte) string {
	text, err := l.text(topic, message)
	if err != nil || text == "" {
		text = string(message)
	}
	short := schema.SanitizeTextWithin(text, maxLine)
	if utf8.RuneCountInString(short) < utf8.RuneCountInString(text) {
		short += " ..."
	}
	return short
}

func (l *Lines) text(topic string, message []byte) (string, error) {
	switch topic {
	case SampleTopic:
		return as(message, sampleLine)
	case "/unit":
		return as(message, unitLine)
	case "/action":
		return as(message, l.actionLine)
	case "/order":
		return as(message, func(o Order) string { return string(o.Order) })
	case "/command":
		return as(message, func(c Command) string {
			line := words(c.Client, c.Verb, string(c.Payload))
			if c.Retained {
				line += " (retained)"
			}
			return line
		})
	case "/answer":
		return as(message, answerLine)
	case "/event":
		return as(message, func(e schema.Event) string {
			return words(string(e.Level), e.Type, e.Source, e.Cause, e.ReqID, string(e.Data))
		})
	case "/transition":
		return as(message, func(t Transition) string {
			return sentence(t.Machine, t.From+" -> "+t.To, because(t.Why, t.Cause))
		})
	case "/alert":
		return as(message, func(a Alert) string {
			return sentence(words(string(a.Level), a.Type, a.Source), strings.TrimSuffix(a.Detail+"; "+a.Hint, "; "), "")
		})
	case "/signal":
		return as(message, signalLine)
	case droppedTopic:
		return as(message, func(d Dropped) string {
			return fmt.Sprintf("%d records are missing here: the disk was too slow or refused them, or they could not be encoded", d.Records)
		})
	}
	return "", nil
}

// as decodes a message and formats it.
func as[T any](message []byte, line func(T) string) (string, error) {
	var v T
	if err := json.Unmarshal(message, &v); err != nil {
		return "", err
	}
	return line(v), nil
}

// words joins what is not empty.
func words(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, " ")
}

// sentence is what something is about, what is said of it, and why in parentheses.
func sentence(about, said, why string) string {
	if said != "" {
		about += ": " + said
	}
	if why != "" {
		about += " (" + why + ")"
	}
	return about
}

// because joins a reason and its detail.
func because(reason, detail string) string {
	if reason != "" && detail != "" {
		return reason + "; " + detail
	}
	return reason + detail
}

func sampleLine(s Sample) string {
	ato := string(s.Auto)
	if s.Auto == schema.AutoPerforming { // the word of the contract is idle
		ato = "performing"
	}
	said := []string{words(string(s.Safety), string(s.Mode), ato)}
	for _, u := range s.Units {
		said = append(said, words(u.Unit, string(u.State)))
	}
	for _, v := range []struct {
		name  string
		speed *Velocity
	}{{"demanded", s.Demanded}, {"sent", s.Sent}, {"measured", s.Measured}} {
		if v.speed != nil {
			said = append(said, fmt.Sprintf("%s %.2f m/s %.2f rad/s", v.name, v.speed.VXMPS, v.speed.WZRadPS))
		}
	}
	return strings.Join(said, ", ")
}

func unitLine(u Unit) string {
	line := sentence(u.Unit, string(u.State), u.Detail)
	if a := u.Angles; a != nil {
		line += fmt.Sprintf(", yaw %.2f pitch %.2f roll %.2f rad", a.YawRad, a.PitchRad, a.RollRad)
	}
	return line
}

// shownAction is an Action whose set-points stay as they were recorded.
type shownAction struct {
	What     string         `json:"what"`
	Key      uint64         `json:"key"`
	Unit     string         `json:"unit"`
	Demanded jsontext.Value `json:"demanded"`
	Sent     jsontext.Value `json:"sent"`
	Text     string         `json:"text"`
	Reason   string         `json:"reason"`
	Detail   string         `json:"detail"`
}

// actionLine names the unit also at the end of an action, whose record has its key only.
func (l *Lines) actionLine(a shownAction) string {
	switch a.What {
	case "start":
		if l.units == nil {
			l.units = map[uint64]string{}
		}
		l.units[a.Key] = a.Unit
	case "done", "failed":
		if a.Unit == "" {
			a.Unit = l.units[a.Key]
		}
		delete(l.units, a.Key)
	}
	did := string(a.Sent)
	if len(a.Demanded) > 0 && !sameJSON(a.Demanded, a.Sent) {
		did = words(did, "demanded", string(a.Demanded))
	}
	if a.Text != "" {
		did = words(fmt.Sprintf("%q", a.Text), did)
	}
	return sentence(words(a.What, a.Unit), did, because(a.Reason, a.Detail))
}

// sameJSON reports whether two values differ at most in the order of their members, which is
// random for the languages of a text.
func sameJSON(a, b jsontext.Value) bool {
	a, b = a.Clone(), b.Clone()
	return a.Canonicalize() == nil && b.Canonicalize() == nil && string(a) == string(b)
}

func answerLine(a Answer) string {
	var ack schema.Ack
	if json.Unmarshal(a.Ack, &ack) != nil {
		return words(a.Client, string(a.Ack))
	}
	id := ""
	if ack.ID != nil {
		id = *ack.ID
	}
	at := ack.Detail
	if ack.Pointer != "" {
		at = strings.TrimSuffix(ack.Pointer+": "+ack.Detail, ": ")
	}
	return sentence(words(a.Client, ack.Verb, id, string(ack.Status), string(ack.Reason)), "", at)
}

func signalLine(s Signal) string {
	on := "on"
	if !s.On {
		on = "off"
	}
	line := words(s.Signal, s.Name, on)
	if s.Heard != nil {
		heard, err := json.Marshal(s.Heard)
		if err == nil {
			line = words("heard", string(heard))
		}
	}
	if s.Level != 0 {
		line += fmt.Sprintf(", level %.2f", s.Level)
	}
	if s.Bearing != 0 {
		line += fmt.Sprintf(", bearing %.2f rad", s.Bearing)
	}
	return line
}
