package page

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"troupe/schema"
)

// drawing is the picture of the robot that templates/drawn.html draws, with the shapes of the console's: what its units
// show now, and what keeps it from performing. Its left is on the right of the picture.
type drawing struct {
	Name                               string
	Head, Face, LED                    bool // what the body has
	Drive, Speaker, Screen             bool
	Expression                         string // the name of its face; empty = neutral
	Features                           features
	Color, Pattern                     string // of its light: #rrggbb; solid, blink, breathe or rainbow. Both empty = dark
	Yaw, Pitch, Roll                   float64
	Says                               string
	Sound                              string
	Forward, Left                      float64
	Charging, Muted, Driven            bool
	Over                               string // stopped, attention, paused, or empty
	InnerX, InnerY, EyeX, EyeY         string // px by which what is on the head moved
	Tilt                               string // degrees
	Lines                              []line
	BubbleX, BubbleY, BubbleW, BubbleH int
}

// line is a line of words in the bubble.
type line struct {
	Y    int
	Text string
}

// features are eyes and mouth of a face.
type features struct{ Eyes, Mouth string }

var faces = map[string]features{
	"neutral":   {"open", "line"},
	"smile":     {"open", "smile"},
	"laugh":     {"arcs", "laugh"},
	"sad":       {"half", "sad"},
	"sleepy":    {"half", "line"},
	"surprised": {"wide", "round"},
	"thinking":  {"up", "aside"},
	"wink":      {"wink", "smile"},
}

var (
	colorIn   = regexp.MustCompile(`#[0-9a-fA-F]{6}\b`)
	patternIn = regexp.MustCompile(`\b(solid|blink|breathe|rainbow)\b`)
)

// numberIn returns the number behind a name, such as 34.4 of yaw in "yaw 34.4°, pitch 0°"; 0 if there is none.
func numberIn(text, name string) float64 {
	for part := range strings.SplitSeq(text, ", ") {
		if rest, ok := strings.CutPrefix(part, name+" "); ok {
			digits := rest[:len(rest)-len(strings.TrimLeft(rest, "-.0123456789"))]
			n, _ := strconv.ParseFloat(digits, 64)
			return n
		}
	}
	return 0
}

// shows is what the first unit of a kind shows, if one shows anything.
func (p *screen) shows(kind schema.UnitKind) string {
	for _, u := range p.View.State.Units {
		if u.Kind == string(kind) && u.Shows != "" {
			return u.Shows
		}
	}
	return ""
}

// Face is the name of the face that the robot shows; empty = none since robotd started.
func (p *screen) Face() string { return p.shows(schema.UnitFace) }

// Drawing is the picture of the robot now. A robot that is stopped shows nothing of what it was told to show, as on the
// console.
func (p *screen) Drawing() *drawing {
	d := &drawing{Name: p.ID, Over: p.over(), Features: faces["neutral"]}
	for _, u := range p.View.Caps.Units {
		switch u.Kind {
		case schema.UnitHead:
			d.Head = true
		case schema.UnitFace:
			d.Face = true
		case schema.UnitLED:
			d.LED = true
		case schema.UnitDrive:
			d.Drive = true
		case schema.UnitSpeaker:
			d.Speaker = true
		case schema.UnitScreen:
			d.Screen = true
		}
	}
	for _, u := range p.View.State.Units {
		switch schema.UnitKind(u.Kind) {
		case schema.UnitBattery:
			d.Charging = strings.HasSuffix(u.Detail, "charging")
		case schema.UnitSpeaker:
			d.Muted = d.Muted || u.Detail == "volume 0 %"
		}
	}
	d.Driven = p.View.State.Control != nil
	if d.Over != "stopped" {
		d.show(p)
	}
	d.place()
	return d
}

// over names what keeps the robot from performing.
func (p *screen) over() string {
	switch p.Tone() {
	case "stop":
		return "stopped"
	case "calm":
		return "attention"
	}
	if p.Paused() {
		return "paused"
	}
	if len(p.Troubled()) > 0 || p.View.State.Auto.FailedRounds > 0 {
		return "attention"
	}
	return ""
}

// show takes what the units show.
func (d *drawing) show(p *screen) {
	d.Expression = p.Face()
	if f, known := faces[strings.ToLower(d.Expression)]; known {
		d.Features = f
	}
	light := p.shows(schema.UnitLED)
	d.Color, d.Pattern = strings.ToLower(colorIn.FindString(light)), patternIn.FindString(light)
	if d.Color == "#000000" || d.Color == "" && d.Pattern != "rainbow" {
		d.Color, d.Pattern = "", ""
	}
	head := p.shows(schema.UnitHead)
	d.Yaw, d.Pitch, d.Roll = numberIn(head, "yaw"), numberIn(head, "pitch"), numberIn(head, "roll")
	d.Says = p.shows(schema.UnitSpeaker)
	for _, u := range p.View.Caps.Units {
		if u.Kind == schema.UnitSpeaker && slices.Contains(u.Sounds, d.Says) {
			d.Says, d.Sound = "", d.Says
		}
	}
	way := p.shows(schema.UnitDrive)
	d.Forward, d.Left = numberIn(way, "vx"), numberIn(way, "wz")
	if d.Left == 0 {
		d.Left = numberIn(way, "vy")
	}
}

// The bubble ends above the head.
const (
	bubbleBottom, bubbleWidest = 46, 140
	charWidth, lineHeight      = 6, 12
	charsInLine, maxLines      = 21, 3
	aside, upDown              = 11.0, 10.0 // the most px by which eyes move when the head turns
)

// place computes where things are in the picture.
func (d *drawing) place() {
	rad := func(deg float64) float64 { return deg * math.Pi / 180 }
	px := func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
	x, y := aside*math.Sin(rad(d.Yaw)), -upDown*math.Sin(rad(d.Pitch))
	d.InnerX, d.InnerY, d.EyeX, d.EyeY, d.Tilt = px(x/2), px(y/2), px(x), px(y), px(-d.Roll)
	lines := linesOf(d.Says)
	widest := 0
	for _, l := range lines {
		widest = max(widest, len([]rune(l)))
	}
	d.BubbleW, d.BubbleH = min(bubbleWidest, widest*charWidth+18), len(lines)*lineHeight+8
	d.BubbleX, d.BubbleY = 80-d.BubbleW/2, bubbleBottom-d.BubbleH
	for i, l := range lines {
		d.Lines = append(d.Lines, line{d.BubbleY + 13 + i*lineHeight, l})
	}
}

// linesOf splits words into lines; the last one ends with … if there is more.
func linesOf(words string) (lines []string) {
	for word := range strings.FieldsSeq(words) {
		w := []rune(word)
		for len(w) > 0 {
			if last := len(lines) - 1; last >= 0 && len([]rune(lines[last]))+1+len(w) <= charsInLine {
				lines[last] += " " + string(w)
				break
			}
			n := min(len(w), charsInLine)
			lines = append(lines, string(w[:n]))
			w = w[n:]
		}
	}
	if len(lines) > maxLines {
		last := []rune(lines[maxLines-1])
		lines = append(lines[:maxLines-1], string(last[:min(len(last), charsInLine-1)])+"…")
	}
	return lines
}

// sentence says what the picture shows, for those who do not see it.
func (w words) sentence(d *drawing) string {
	const seen = 3 // degrees of a turn that is seen as one
	var parts []string
	add := func(is bool, key string, more ...any) {
		if is {
			parts = append(parts, fmt.Sprintf(w["drawn."+key], more...))
		}
	}
	turn := func(deg float64, one, other string) {
		add(deg >= seen, one, math.Round(deg))
		add(deg <= -seen, other, math.Round(-deg))
	}
	way := func(speed float64, one, other string) {
		add(d.Drive && speed > 0, one)
		add(d.Drive && speed < 0, other)
	}
	add(d.Over != "", d.Over)
	add(d.Driven, "driven")
	if d.Face && d.Expression != "" {
		parts = append(parts, w.word("face", d.Expression))
	}
	add(d.LED && d.Color+d.Pattern != "", "light", strings.TrimSpace(d.Color+" "+w["drawn."+d.Pattern]))
	if d.Head {
		turn(d.Yaw, "left", "right")
		turn(d.Pitch, "up", "down")
	}
	way(d.Forward, "forward", "back")
	way(d.Left, "turns-left", "turns-right")
	add(d.Says != "", "says", d.Says)
	add(d.Sound != "", "sound", d.Sound)
	add(d.Charging, "charging")
	add(d.Muted, "muted")
	if len(parts) == 0 {
		return d.Name
	}
	return d.Name + ": " + strings.Join(parts, ", ")
}
