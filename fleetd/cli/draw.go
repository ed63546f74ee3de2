package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"troupe/schema/score"
)

// drawing is how timelines are drawn in a terminal.
type drawing struct {
	width int // columns
	ascii bool
}

// ink is the characters of a drawing, each one column wide.
type ink struct {
	begin, estimatedBegin, fill, end  string // of a bar with a fixed end
	estimatedFill, estimatedEnd       string // of one that ends with its unit
	short, estimatedShort, mark       string // bars of one column; an action at once
	axis, tick, first, last, gridMark string // gridMark: in the rows below a tick
	cut                               string // after a text that is too long
}

var (
	boxes = ink{"┣", "┋", "━", "┫", "╌", "▷", "┃", "╎", "◆", "─", "┼", "├", "┤", "·", "…"}
	ascii = ink{"[", "(", "=", "]", "-", ">", "|", "!", "*", "-", "+", "+", "+", ".", "~"}
)

const (
	minWidth  = 60
	labelGap  = 2
	tickSpace = 9 // columns between two ticks, at least
)

// row is one line of a drawing.
type row struct {
	label string
	bars  []bar
}

// bar is what a row shows from one time to another; a text alone if they are equal.
type bar struct {
	from, to                      int64
	fromEstimated, lastsEstimated bool
	text                          string
	waits                         int64
}

// draw writes a timeline: a line with the length, the ticks, and a row for each unit.
func (d drawing) draw(w io.Writer, title string, t score.Timeline) {
	signs := boxes
	if d.ascii {
		signs = ascii
	}
	rows := rowsOf(t)
	labels := 0
	for _, r := range rows {
		labels = max(labels, uniseg.StringWidth(r.label))
	}
	c := chart{ink: signs, columns: max(d.width, minWidth) - labels - labelGap, length: max(t.LengthMS, 1)}
	fmt.Fprintf(w, "%s: %s\n", title, lengthText(t))
	numbers, rule := c.ruler()
	indent := strings.Repeat(" ", labels+labelGap)
	fmt.Fprintln(w, strings.TrimRight(indent+numbers, " "))
	fmt.Fprintln(w, indent+rule)
	for _, r := range rows {
		fmt.Fprintln(w, strings.TrimRight(pad(r.label, labels+labelGap)+c.line(r.bars), " "))
	}
	fmt.Fprintln(w, indent+c.legend(rows))
	if len(t.Frozen) > 0 {
		fmt.Fprintln(w, indent+exclusiveLabel+": other actions of its list wait")
	}
}

func lengthText(t score.Timeline) string {
	if t.LeastMS == t.MostMS && t.LengthMS == t.MostMS {
		return seconds(t.LengthMS)
	}
	return fmt.Sprintf("about %s (%s to %s)", seconds(t.LengthMS), seconds(t.LeastMS), seconds(t.MostMS))
}

// seconds formats a duration: 7.5 s, or 1:05 min.
func seconds(ms int64) string {
	if ms >= 60_000 {
		ms += 500
		return fmt.Sprintf("%d:%02d min", ms/60_000, ms/1000%60)
	}
	return fmt.Sprintf("%.1f s", float64(ms)/1000)
}

func rowsOf(t score.Timeline) []row {
	var rows []row
	if len(t.Acts) > 0 {
		acts := row{label: "act"}
		for _, a := range t.Acts {
			acts.bars = append(acts.bars, bar{from: a.StartMS, to: a.EndMS, lastsEstimated: a.Estimated, text: a.Act})
		}
		rows = append(rows, acts)
	}
	for _, lane := range t.Lanes {
		r := row{label: cmp.Or(lane.Unit, string(lane.Class))}
		if lane.Unit != "" && lane.Unit != string(lane.Class) {
			r.label = string(lane.Class) + " " + lane.Unit
		}
		for _, b := range lane.Bars {
			r.bars = append(r.bars, bar{b.StartMS, b.EndMS, b.StartEstimated, b.Estimated, b.Text, b.WaitsMS})
		}
		rows = append(rows, r)
	}
	return append(rows, exclusiveRows(t.Frozen)...)
}

// exclusiveLabel labels the rows of exclusive actions.
const exclusiveLabel = "exclusive"

// exclusiveRows puts exclusive actions, during which the other actions of their list wait, into as
// few rows as possible.
func exclusiveRows(exclusive []score.Freeze) []row {
	var rows []row
	for _, f := range exclusive {
		b := bar{f.StartMS, f.EndMS, f.StartEstimated, f.Estimated, f.Text, 0}
		i := slices.IndexFunc(rows, func(r row) bool { return r.bars[len(r.bars)-1].to <= f.StartMS })
		if i < 0 {
			rows = append(rows, row{label: exclusiveLabel})
			i = len(rows) - 1
		}
		rows[i].bars = append(rows[i].bars, b)
	}
	return rows
}

// chart maps times to columns.
type chart struct {
	ink
	columns int
	length  int64
}

func (c chart) column(ms int64) int {
	return int((ms*int64(c.columns-1) + c.length/2) / c.length)
}

// step returns the time between two ticks.
func (c chart) step() int64 {
	for _, s := range []int64{100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000} {
		if c.column(s) >= tickSpace {
			return s
		}
	}
	return 1_800_000
}

// ruler returns the numbers of the ticks and the line below them.
func (c chart) ruler() (numbers, rule string) {
	step := c.step()
	cells := make([]string, c.columns)
	for i := range cells {
		cells[i] = c.axis
	}
	for ms := int64(0); ms <= c.length; ms += step {
		at, text := c.column(ms), tickText(ms, step)
		if cells[at] = c.tick; at+len(text) <= c.columns {
			numbers = pad(numbers, at) + text
		}
	}
	cells[0], cells[c.columns-1] = c.first, c.last
	return numbers, strings.Join(cells, "")
}

func tickText(ms, step int64) string {
	switch {
	case ms == 0:
		return "0 s"
	case step >= 10_000 && ms >= 60_000:
		return fmt.Sprintf("%d:%02d", ms/60_000, ms/1000%60)
	case step < 1000:
		return fmt.Sprintf("%.1f", float64(ms)/1000)
	}
	return fmt.Sprint(ms / 1000)
}

// line draws bars whose times do not overlap. Later bars are drawn over earlier ones if
// they have the same columns.
func (c chart) line(bars []bar) string {
	cells := make([]string, c.columns)
	step := c.step()
	for ms := int64(0); ms <= c.length; ms += step {
		cells[c.column(ms)] = c.gridMark
	}
	for i, b := range bars {
		free := c.columns // the first column that the text of b may not use
		if i+1 < len(bars) {
			free = c.column(bars[i+1].from)
		}
		c.bar(cells, b, free)
	}
	for i := range cells {
		if cells[i] == "" {
			cells[i] = " "
		}
	}
	return strings.Join(slices.DeleteFunc(cells, func(s string) bool { return s == covered }), "")
}

// covered is in the column behind a character that is two columns wide.
const covered = "\x00"

func (c chart) bar(cells []string, b bar, free int) {
	from, to := c.column(b.from), max(c.column(b.to), c.column(b.from)+1)
	begin, fill, end, short := c.begin, c.fill, c.end, c.short
	if b.fromEstimated {
		begin = c.estimatedBegin
	}
	if b.lastsEstimated {
		fill, end, short = c.estimatedFill, c.estimatedEnd, c.estimatedShort
	}
	switch {
	case b.from == b.to:
		cells[from] = c.mark
	case to-from == 1:
		cells[from] = short
	default:
		for i := from; i < to; i++ {
			cells[i] = fill
		}
		cells[from], cells[to-1] = begin, end
	}
	inside, behind := to-from-3, free-to-2
	switch {
	case uniseg.StringWidth(b.text) <= inside || inside >= behind:
		c.write(cells, from+2, inside, b.text)
	default:
		c.write(cells, to+1, behind, b.text)
		if to < free && cells[to] == c.gridMark {
			cells[to] = ""
		}
	}
}

// minText is how much of a text makes sense.
const minText = 3

// write writes a text of at most so many columns, cut if it is longer.
func (c chart) write(cells []string, from, columns int, text string) {
	whole := uniseg.StringWidth(text) <= columns
	if !whole {
		if columns--; columns < minText {
			return
		}
	}
	at := from
	for graphemes := uniseg.NewGraphemes(text); graphemes.Next(); {
		width := graphemes.Width()
		if at+width-from > columns {
			break
		}
		cells[at] = graphemes.Str()
		for i := 1; i < width; i++ {
			cells[at+i] = covered
		}
		at += width
	}
	if !whole {
		cells[at] = c.cut
	}
}

// legend explains the signs that rows use.
func (c chart) legend(rows []row) string {
	var fixed, estimated, mark bool
	for _, r := range rows {
		for _, b := range r.bars {
			mark = mark || b.from == b.to
			estimated = estimated || b.from < b.to && b.lastsEstimated
			fixed = fixed || b.from < b.to && !b.lastsEstimated
		}
	}
	var parts []string
	if fixed {
		parts = append(parts, c.begin+c.fill+c.end+" fixed")
	}
	if estimated {
		parts = append(parts, c.begin+c.estimatedFill+c.estimatedEnd+" until done, estimated")
	}
	if mark {
		parts = append(parts, c.mark+" instant")
	}
	return strings.Join(parts, "   ")
}

func pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(columns-uniseg.StringWidth(s), 0))
}

// list writes the acts of a story, or else each action, with their times.
func (d drawing) list(w io.Writer, t score.Timeline) {
	if len(t.Acts) > 0 {
		fmt.Fprintf(w, "%8s  %8s  %s\n", "START", "LASTS", "ACT")
		estimated := false
		for _, a := range t.Acts {
			fmt.Fprintf(w, "%8s  %8s  %s\n", clock(a.StartMS, estimated), clock(a.EndMS-a.StartMS, a.Estimated), a.Act)
			estimated = estimated || a.Estimated
		}
		return
	}
	var rows []listed
	for _, r := range rowsOf(t) {
		for _, b := range r.bars {
			rows = append(rows, listed{r.label, b})
		}
	}
	slices.SortStableFunc(rows, func(x, y listed) int { return cmp.Compare(x.from, y.from) })
	fmt.Fprintf(w, "%7s  %7s  %-9s  %s\n", "START", "END", "UNIT", "ACTION")
	for _, r := range rows {
		end := ""
		if r.from < r.to {
			end = clock(r.to, r.fromEstimated || r.lastsEstimated)
		}
		text := r.text
		if r.waits > 0 {
			text = strings.TrimLeft(text+" (due at "+clock(r.from-r.waits, false)+", waits)", " ")
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%7s  %7s  %-9s  %s", clock(r.from, r.fromEstimated), end, r.label, text), " "))
	}
}

// listed is a bar with the label of its row.
type listed struct {
	label string
	bar
}

// clock formats a time; ~ marks an estimate.
func clock(ms int64, estimated bool) string {
	text := fmt.Sprintf("%.1f", float64(ms)/1000)
	if ms >= 60_000 {
		text = fmt.Sprintf("%d:%04.1f", ms/60_000, float64(ms%60_000)/1000)
	}
	if estimated {
		text = "~" + text
	}
	return text
}
