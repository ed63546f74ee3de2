package sim

import (
	"slices"
	"strings"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

var screenKind = kind{
	unit: schema.Unit{ID: screen, Kind: schema.UnitScreen, Views: views, Images: images}, pairs: true, shows: "home",
	start: (*Sim).startScreen,
}

var (
	views  = []string{"clock", "home", "map"}
	images = []string{"logo"}
)

func (s *Sim) startScreen(c driver.Command) {
	do, _ := c.Do.Do.(score.Screen)
	what := do.View
	switch {
	case do.View != "" && !slices.Contains(views, do.View):
		s.failed(c.Key, schema.ReasonOutOfRange, "there is no view "+do.View)
		return
	case do.Image != "" && !slices.Contains(images, do.Image) && c.Asset == "":
		s.failed(c.Key, schema.ReasonOutOfRange, "there is no image "+do.Image)
		return
	case do.View == "" && do.Image == "" && c.Text == "" && len(do.Choices) == 0:
		s.failed(c.Key, schema.ReasonBadRequest, "the screen knows no "+string(c.Do.Type())+" that shows nothing")
		return
	case do.Image != "":
		what = do.Image
	case do.View == "":
		what = c.Text
	}
	if len(c.Choices) > 0 {
		what = strings.TrimSpace(what + " [" + strings.Join(c.Choices, " | ") + "]")
	}
	l := s.displays[c.Unit]
	s.setDisplay(l, c, what)
	if l.key != c.Key {
		return
	}
	for _, choice := range do.Choices {
		l.choices = append(l.choices, choice.ID)
	}
}

// choose ends the command that offers a choice, and reports whether a screen offers it.
func (s *Sim) choose(id string) bool {
	for _, u := range s.units {
		if l := s.displays[u.ID]; l != nil && slices.Contains(l.choices, id) {
			s.emit(driver.Event{Kind: driver.Done, Key: l.key, Name: id})
			l.release(l.key)
			return true
		}
	}
	return false
}
