package mode

import (
	"strings"
	"testing"

	"troupe/schema"
)

func TestRefusalListsOnlyModesThatCanBeSelected(t *testing.T) {
	c := Defaults()
	s := Boot(&c)
	for _, m := range []schema.ModeID{"", "dance"} {
		why := s.WhyNot(&c, Facts{}, m, nil)
		if len(why) == 0 || !strings.HasSuffix(why[0].Detail, ": str, mnl, ato") && !strings.HasSuffix(why[0].Detail, "are str, mnl, ato") {
			t.Errorf("mode/set %q: %+v", m, why)
		}
	}
}
