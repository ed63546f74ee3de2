package notify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/schema"
)

// Language is the language of texts.
type Language string

// The languages that the console has, too.
const (
	English Language = "en"
	German  Language = "de"
	French  Language = "fr"
)

// Languages are all languages.
var Languages = []Language{English, German, French}

// words are the texts of a language.
type words struct {
	levels                                     map[schema.AlertLevel]string
	over, event, test, testBody, more, andMore string
	repeat, escalation                         string
	alertsAt, since, after, times, id          string
	robots                                     func(n int) string
	alerts                                     func(n int) string
}

var allWords = map[Language]words{
	English: {
		levels: map[schema.AlertLevel]string{schema.AlertInfo: "note", schema.AlertWarn: "warning", schema.AlertError: "error",
			schema.AlertCritical: "critical"},
		over: "over", event: "event", test: "test", testBody: "This is a test. Nothing happened.",
		more: "%d more are left out", andMore: "%d more", repeat: "still", escalation: "nobody acknowledged",
		alertsAt: "%s at %s", since: "since %s", after: "after %s", times: "%d times", id: "notification %s",
		robots: func(n int) string { return plural(n, "robot", "robots") },
		alerts: func(n int) string { return plural(n, "alert", "alerts") },
	},
	German: {
		levels: map[schema.AlertLevel]string{schema.AlertInfo: "Hinweis", schema.AlertWarn: "Warnung", schema.AlertError: "Fehler",
			schema.AlertCritical: "kritisch"},
		over: "vorbei", event: "Ereignis", test: "Test", testBody: "Das ist ein Test. Es ist nichts geschehen.",
		more: "%d weitere sind weggelassen", andMore: "%d weitere", repeat: "noch immer", escalation: "niemand hat bestätigt",
		alertsAt: "%s an %s", since: "seit %s", after: "nach %s", times: "%d-mal", id: "Benachrichtigung %s",
		robots: func(n int) string { return plural(n, "Roboter", "Robotern") },
		alerts: func(n int) string { return plural(n, "Alarm", "Alarme") },
	},
	French: {
		levels: map[schema.AlertLevel]string{schema.AlertInfo: "note", schema.AlertWarn: "avertissement", schema.AlertError: "erreur",
			schema.AlertCritical: "critique"},
		over: "fini", event: "événement", test: "essai", testBody: "Ceci est un essai. Il ne s’est rien passé.",
		more: "%d autres sont omis", andMore: "%d autres", repeat: "toujours", escalation: "personne n’a confirmé",
		alertsAt: "%s chez %s", since: "depuis %s", after: "après %s", times: "%d fois", id: "notification %s",
		robots: func(n int) string { return plural(n, "robot", "robots") },
		alerts: func(n int) string { return plural(n, "alerte", "alertes") },
	},
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Title is the name of a type of alerts; one that is new is readable.
func Title(l Language, kind string) string {
	return cmp.Or(titles[orEnglish(l)][kind], strings.ReplaceAll(kind, "_", " "))
}

// EventTitle is the name of a type of events.
func EventTitle(l Language, kind string) string {
	if title := eventTitles[l][kind]; title != "" {
		return withoutMarks(title)
	}
	i := slices.IndexFunc(schema.Events, func(r schema.EventRow) bool { return r.Type == kind })
	if i < 0 {
		return strings.ReplaceAll(kind, "_", " ")
	}
	return withoutMarks(schema.Events[i].Text)
}

// withoutMarks removes the marks of fields and buttons.
func withoutMarks(text string) string {
	return strings.NewReplacer("`", "", "[[", "", "]]", "").Replace(text)
}

func orEnglish(l Language) Language {
	if slices.Contains(Languages, l) {
		return l
	}
	return English
}

// Group is what has one cause at several robots: alerts of one type and state, or events of one type.
type Group struct {
	Type  string
	Event bool
	State EntryState        // of alerts
	Level schema.AlertLevel // the highest of its alerts
	Of    []string          // each name once, in the order in which they came
	N     int               // alerts or events
	First Entry             // of alerts
}

// Groups returns what a notification has, the worst first, what is over last.
func (n Notification) Groups() []Group {
	type key struct {
		kind  string
		event bool
		state EntryState
	}
	groups := map[key]*Group{}
	var order []*Group
	named := map[key]map[string]bool{}
	add := func(k key, name string) *Group {
		g := groups[k]
		if g == nil {
			g = &Group{Type: k.kind, Event: k.event, State: k.state}
			groups[k], named[k] = g, map[string]bool{}
			order = append(order, g)
		}
		if g.N++; !named[k][name] {
			named[k][name] = true
			g.Of = append(g.Of, name)
		}
		return g
	}
	for _, e := range n.Alerts {
		g := add(key{e.Type, false, e.State}, e.Of())
		if g.N == 1 {
			g.First, g.Level = e, e.Level
		}
		if rank(e.Level) > rank(g.Level) {
			g.Level = e.Level
		}
	}
	for _, e := range n.Events {
		add(key{e.Type, true, ""}, e.Robot)
	}
	place := func(g *Group) int {
		switch {
		case g.Event:
			return 1
		case g.State == Over:
			return 2
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b *Group) int {
		return cmp.Or(place(a)-place(b), rank(b.Level)-rank(a.Level), cmp.Compare(a.Type, b.Type))
	})
	out := make([]Group, len(order))
	for i, g := range order {
		out[i] = *g
	}
	return out
}

// Level is the highest level of what is the case; empty if there is nothing of that.
func (n Notification) Level() (l schema.AlertLevel) {
	for _, e := range n.Alerts {
		if e.State == Firing && (l == "" || rank(e.Level) > rank(l)) {
			l = e.Level
		}
	}
	return l
}

// namesInLine bounds the parts of a list of names.
const (
	namesInLine  = 20
	namesInTitle = 5
)

func (w words) names(of []string, most int) string {
	parts, others := Names(of, most)
	if others > 0 {
		parts = append(parts, fmt.Sprintf(w.andMore, others))
	}
	return strings.Join(parts, ", ")
}

// line is a group in one line: "warning: a unit is slow: r1-r5".
func (w words) line(l Language, g Group, most int) string {
	what := w.event
	switch {
	case g.Event:
		text := fmt.Sprintf("%s: %s: %s", what, EventTitle(l, g.Type), w.names(g.Of, most))
		if g.N > len(g.Of) {
			text += " (" + fmt.Sprintf(w.times, g.N) + ")"
		}
		return text
	case g.State == Over:
		what = w.over
	default:
		what = w.levels[g.Level]
	}
	return fmt.Sprintf("%s: %s: %s", what, Title(l, g.Type), w.names(g.Of, most))
}

// Subject says a notification in one line.
func (n Notification) Subject(l Language) string {
	l = orEnglish(l)
	w := allWords[l]
	groups := n.Groups()
	var text string
	switch {
	case n.Kind == KindTest:
		return w.test
	case len(groups) == 0:
		text = fmt.Sprintf(w.more, n.More)
	case len(groups) == 1:
		text = w.line(l, groups[0], namesInTitle)
	default:
		of := map[string]bool{}
		total := n.More
		for _, g := range groups {
			total += g.N
			for _, name := range g.Of {
				of[name] = true
			}
		}
		text = w.line(l, groups[0], namesInTitle) + " (+" + fmt.Sprint(total-groups[0].N) + ")"
		if len(of) > namesInTitle {
			text = fmt.Sprintf(w.alertsAt, w.alerts(total), w.robots(len(of))) + ": " + Title(l, groups[0].Type)
		}
	}
	switch n.Kind {
	case KindRepeat:
		text = w.repeat + ": " + text
	case KindEscalation:
		text = w.escalation + ": " + text
	}
	return text
}

// Body says a notification in lines. link is where the console is; empty if that is not known.
func (n Notification) Body(l Language, link string) string {
	l = orEnglish(l)
	w := allWords[l]
	var b strings.Builder
	if n.Kind == KindTest {
		fmt.Fprintln(&b, w.testBody)
	}
	for _, g := range n.Groups() {
		fmt.Fprintln(&b, w.line(l, g, namesInLine))
		if g.Event {
			continue
		}
		switch e := g.First; {
		case g.State == Over && g.N == 1:
			fmt.Fprintf(&b, "  "+w.after+"\n", short(e.EndedAt.Sub(e.Since)))
		case g.State == Firing:
			if g.N == 1 || e.Detail != "" && !slices.ContainsFunc(n.Alerts,
				func(o Entry) bool { return o.Type == g.Type && o.State == g.State && o.Detail != e.Detail }) {
				for _, text := range []string{e.Detail, e.Hint} {
					if text != "" {
						fmt.Fprintln(&b, "  "+text)
					}
				}
			}
			fmt.Fprintf(&b, "  "+w.since+"\n", e.Since.Time().Format("2006-01-02 15:04:05 UTC"))
		}
	}
	if n.More > 0 {
		fmt.Fprintf(&b, w.more+"\n", n.More)
	}
	if link != "" {
		fmt.Fprintln(&b, strings.TrimSuffix(link, "/")+"/events")
	}
	return b.String()
}

// short is a duration without what nobody needs: 12m, 3h5m.
func short(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
}

// TypesOf lists the types of a notification, for lists.
func (n Notification) TypesOf() []string {
	types := map[string]bool{}
	for _, g := range n.Groups() {
		types[g.Type] = true
	}
	return slices.Sorted(maps.Keys(types))
}
