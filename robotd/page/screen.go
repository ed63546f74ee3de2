package page

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"

	"troupe/schema"
)

//go:embed templates
var templates embed.FS

// pages are the templates in each language.
var pages = func() map[string]*template.Template {
	all := map[string]*template.Template{}
	for lang, words := range texts {
		t := template.New("").Option("missingkey=error").Funcs(template.FuncMap{
			"t":        func(key string) string { return words.of(key) },
			"button":   func(p *screen, action string) button { return button{p, action, p.WhyNot(action), p.Note(action)} },
			"word":     func(group string, value any) string { return words.word(group, value) },
			"named":    words.named,
			"code":     words.ofCode,
			"said":     words.said,
			"own":      words.own,
			"holder":   words.holder,
			"why":      words.why,
			"about":    words.about,
			"capital":  capital,
			"sentence": words.sentence,
		})
		all[lang] = template.Must(t.ParseFS(templates, "templates/*.html"))
	}
	return all
}()

// capital begins a word on a button or in a heading.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// languages matches the languages that a browser asks for; the first one is the default.
var languages = language.NewMatcher([]language.Tag{language.English, language.German, language.French})

func languageOf(r *http.Request) string {
	tag, _ := language.MatchStrings(languages, r.Header.Get("Accept-Language"))
	base, _ := tag.Base()
	return base.String()
}

// screen is what the templates show.
type screen struct {
	ID, Lang, Broker string
	Wrong            string // why nobody was signed in: a word of the texts
	NotSent          string // the action that was not sent, because nobody was signed in
	AtRobot          bool
	Silent           string // why the robot says nothing; then there is no view
	Answer           answer
	View             View
	Now              time.Time
}

func (s *Server) screen(r *http.Request) *screen {
	return &screen{ID: s.ID, Lang: languageOf(r), Broker: s.Broker, AtRobot: atRobot(r), Now: s.Now()}
}

// show shows the robot. Who looks at it counts as an operator.
func (s *Server) show(w http.ResponseWriter, r *http.Request, token string, last answer) {
	page := s.screen(r)
	page.Answer = last
	s.Robot.Heartbeat(r.Context())
	view, err := s.Robot.View(r.Context())
	if err != nil {
		page.Silent = err.Error()
		s.render(w, http.StatusServiceUnavailable, "robot", page)
		return
	}
	page.View, page.Answer = view, s.sessions.currentAnswer(token, s.Now(), view.situation())
	s.render(w, http.StatusOK, "robot", page)
}

func (s *Server) render(w http.ResponseWriter, status int, name string, page *screen) {
	var b bytes.Buffer
	if err := pages[page.Lang].ExecuteTemplate(&b, name, page); err != nil {
		s.Logger.Error("page not rendered", "name", name, "error", err)
		http.Error(w, "this page cannot be drawn; robotd's log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", page.Lang)
	w.WriteHeader(status)
	_, _ = b.WriteTo(w) // an error means that the browser is gone
}

// Waited is for how long the robot has waited for its body, in s.
func (p *screen) Waited() int { return int(p.Now.Sub(p.View.Waiting.Since).Seconds()) }

// Connected reports whether the robot has a session with the broker.
func (p *screen) Connected() bool { return p.View.State.Session != "" }

// Latches are the stops that hold the robot.
func (p *screen) Latches() []schema.StopLatch { return p.View.State.Safety.Latches }

// button is a button of the safety core, with why it would be refused.
type button struct {
	Page           *screen
	Action, WhyNot string
	Note           string // what else it does: a word of the texts, or empty
}

// WhyNot names why a button of the safety core would be refused now: a word of the texts, or
// empty. The robot decides anyway.
func (p *screen) WhyNot(action string) string {
	at, latched := p.View.State.Safety.State, len(p.Latches()) > 0
	switch action {
	case "release":
		switch {
		case !latched:
			return "not-latched"
		case !p.AtRobot:
			return "not-at-robot"
		case len(p.FleetHolds()) == len(p.Latches()):
			return "fleet-holds"
		}
	case "reset":
		switch {
		case at != schema.SafetyEStop:
			return "nothing-to-reset"
		case p.View.State.Safety.LocalReset:
			return "button-on-body"
		}
	case "continue":
		switch {
		case p.EnableContinues():
			return "enable-continues"
		case at != schema.SafetyEnabled:
			return "enable-first"
		}
	case "enable":
		switch {
		case latched:
			return "release-first"
		case at == schema.SafetyEnabled:
			return "enabled"
		case at == schema.SafetyEStop:
			return "reset-first"
		case at == schema.SafetyReset:
			return "resetting"
		case at != schema.SafetyDisabled:
			return "stopping"
		}
	}
	return ""
}

// Note says that a button does more than its name says.
func (p *screen) Note(action string) string {
	if action == "enable" && p.EnableContinues() && p.WhyNot(action) == "" {
		return "story-goes-on"
	}
	return ""
}

// EnableContinues reports whether the story goes on as soon as the robot is enabled, because
// nothing else pauses it.
func (p *screen) EnableContinues() bool {
	otherPause := func(h schema.Pause) bool { return h.Token != "safety" || h.NeedsContinue }
	return p.Paused() && !slices.ContainsFunc(p.View.State.Auto.PauseHolders, otherPause)
}

// FleetHolds are the ids of the latched stops that only the fleet releases.
func (p *screen) FleetHolds() []string { return p.View.FleetStops }

// Paused reports whether ato waits for the end of pauses.
func (p *screen) Paused() bool { return p.View.State.Auto.Status == schema.AutoPaused }

// Tone is the colour of the safety state; words say the same.
func (p *screen) Tone() string {
	switch p.View.State.Safety.State {
	case schema.SafetyEnabled:
		return "go"
	case schema.SafetyDisabled:
		if len(p.Latches()) == 0 {
			return "calm"
		}
	}
	return "stop"
}

// Percent is the volume.
func (p *screen) Percent() int { return int(math.Round(p.View.Volume * 100)) }

// ModeInCharge is the mode in charge.
func (p *screen) ModeInCharge() schema.Mode {
	i := slices.IndexFunc(p.View.Modes, func(m schema.Mode) bool { return m.ID == p.View.State.Mode.Active })
	if i < 0 {
		return schema.Mode{}
	}
	return p.View.Modes[i]
}

// SecondsWithoutLink is for how long the mode in charge goes on without the link.
func (p *screen) SecondsWithoutLink() int64 { return p.ModeInCharge().LinkTimeoutMS / 1000 }

// StopsMoving is after how many seconds without an operator the robot stops moving before the
// mode ends; 0 if it does not.
func (p *screen) StopsMoving() int64 {
	if at := p.View.State.Auto.Status; at == schema.AutoNotActive || at == "" {
		return 0
	}
	return int64(p.View.LinkBudget.Seconds())
}

// Faces are the faces that the robot can show.
func (p *screen) Faces() []string {
	u, ok := schema.FindUnit(p.View.Caps.Units, schema.UnitFace, "")
	if !ok {
		return nil
	}
	return u.Faces
}

// HasVolume reports whether the robot has a volume that people can set.
func (p *screen) HasVolume() bool { return schema.HasVolume(p.View.Caps.Units) }

// Battery is what the battery says, or empty.
func (p *screen) Battery() string {
	for _, u := range p.View.State.Units {
		if u.Kind == string(schema.UnitBattery) {
			return cmp.Or(u.Detail, u.State)
		}
	}
	return ""
}

// Troubled are the units that are in error or halt.
func (p *screen) Troubled() (all []schema.UnitState) {
	for _, u := range p.View.State.Units {
		if u.State == "error" || u.State == "halt" {
			all = append(all, u)
		}
	}
	return all
}

// Clock is the time of day of an event, in the robot's time zone.
func (p *screen) Clock(t schema.Time) string {
	zone := time.Local
	if p.View.Caps != nil {
		if named, err := schema.ZoneOf(p.View.Caps.TimeZone); err == nil {
			zone = named
		}
	}
	return t.Time().In(zone).Format("15:04:05")
}

// By is who caused an event, if that was a command.
func (p *screen) By(e schema.Event) string {
	client, _, _ := strings.Cut(e.ReqID, "/")
	return client
}
