package sim_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/robotd/driver"
	"troupe/robotd/driver/drivertest"
	"troupe/robotd/driver/sim"
	"troupe/schema"
)

// mapped is a body with a directory of files.
type mapped struct {
	*sim.Sim
	t   *testing.T
	dir string
}

func newMapped(t *testing.T, c sim.Config) mapped {
	c.Assets = t.TempDir()
	return mapped{sim.New(c), t, c.Assets}
}

func (m mapped) MapFile(point string, x, y float64) driver.Map {
	return m.write(fmt.Sprintf(`{"version":1,"bounds":{"min_x_m":-5,"min_y_m":-5,"max_x_m":5,"max_y_m":5},"points":{%q:{"x_m":%v,"y_m":%v}}}`, point, x, y))
}

func (m mapped) write(text string) driver.Map {
	sum := sha256.Sum256([]byte(text))
	is := driver.Map{Name: "hall", SHA256: hex.EncodeToString(sum[:])}
	if err := os.WriteFile(filepath.Join(m.dir, is.SHA256), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	return is
}

func (m mapped) BadMapFile() driver.Map { return m.write("no map") }

func TestSimulatedBodyConforms(t *testing.T) {
	drivertest.Conform(t, func() drivertest.Body { return newMapped(t, sim.Config{At: "entrance"}) })
}

func TestSimulatedBodyWithSeveralUnitsOfAKindConforms(t *testing.T) {
	drivertest.Conform(t, func() drivertest.Body { return newMapped(t, sim.Config{At: "entrance", Pairs: true}) })
}

func TestBadMapsAreRefusedWithWhatIsWrong(t *testing.T) {
	m := newMapped(t, sim.Config{})
	for text, want := range map[string]string{
		`{"version":2,"bounds":{"max_x_m":1,"max_y_m":1},"points":{}}`:                                   "version 2, want 1",
		`{"version":1,"bounds":{},"points":{}}`:                                                          "bounds enclose nothing",
		`{"version":1,"bounds":{"max_x_m":1,"max_y_m":1},"points":{"door":{"x_m":2}}}`:                   "point door lies outside",
		`{"version":1,"bounds":{"max_x_m":1,"max_y_m":1},"points":{},"colour":"red"}`:                    "colour",
		`{"version":1,"bounds":{"max_x_m":1,"max_y_m":1},"points":` + strings.Repeat(" ", 1<<20) + `{}}`: "over 1048576",
	} {
		got := sim.ReadMapIn(m.dir, m.write(text))
		if got.Reason != schema.ReasonBadMap || !strings.Contains(got.Detail, want) {
			t.Errorf("%.80s: %+v, want %q", text, got, want)
		}
	}
}
