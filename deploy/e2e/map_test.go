package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/schema"
)

// calibrationCheck returns what calibration has checked and loads next, by its name.
func calibrationCheck(m schema.Modes, name string) schema.CalibrationCheck {
	for _, mode := range m.Modes {
		for _, c := range mode.CalibrationChecks {
			if c.Name == name {
				return c
			}
		}
	}
	return schema.CalibrationCheck{}
}

// TestCalibrationLoadsTheMapOfTheDesiredPlaces assigns places with a map to a robot in mnl,
// and then a map that the body cannot read.
func TestCalibrationLoadsTheMapOfTheDesiredPlaces(t *testing.T) {
	runIn(t, anyFleetd, func(w *world) {
		w.recorder.Allow(robotTopic("r1", "cmd/#"))
		w.startFleetd()
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.awaitAdopted("r1")
		assign := func(id, chart string) {
			w.t.Helper()
			sum := sha256.Sum256([]byte(chart))
			file, places := filepath.Join(w.folder, id+".json"), filepath.Join(w.folder, id+".yaml")
			text := fmt.Sprintf("schema: 1\nmap: {name: %s, kind: map, sha256: %s, size: %d}\npoints:\n  door: {x_m: -0.9, y_m: 0}\n", id, hex.EncodeToString(sum[:]), len(chart))
			for path, body := range map[string]string{file: chart, places: text} {
				if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w.mustRunCLI("asset", "put", file)
			w.mustRunCLI("desired", "places", "-f", places, "--id", id, "r1")
		}
		modes := func(what string, holds func(schema.Modes) bool) {
			w.t.Helper()
			awaitDocument(w, robotTopic("r1", "modes"), what, holds)
		}

		assign("hall", `{"version":1,"bounds":{"min_x_m":-2,"min_y_m":-2,"max_x_m":2,"max_y_m":2},"points":{"corner":{"x_m":-0.8,"y_m":0}}}`)
		modes("the map to wait for calibration", func(m schema.Modes) bool {
			c := calibrationCheck(m, "map")
			return c.Value == "the body's own map" && strings.HasPrefix(c.Pending, "hall (sha256 ")
		})
		w.awaitState("r1", "an alert that says so", func(s schema.State) bool {
			return len(s.Alerts) == 1 && s.Alerts[0].Type == "map_pending" && strings.Contains(s.Alerts[0].Hint, "mode/set str")
		})
		w.mustRequest("op1", "r1", "mode/set", "str")
		modes("the map in force", func(m schema.Modes) bool {
			c := calibrationCheck(m, "map")
			return strings.HasPrefix(c.Value, "hall (sha256 ") && c.Pending == ""
		})
		w.mustRequest("op1", "r1", "mode/set", "mnl")
		w.mustRequest("op1", "r1", "safety/enable", "")
		w.mustRequest("op1", "r1", "control/acquire", `{"args":{"ttl_ms":60000}}`)
		for _, point := range []string{"door", "corner"} { // of the places, and of the map itself
			w.mustRequest("op1", "r1", "manual/goto", point)
		}
		mark := w.observer.mark()
		w.request("op1", "r1", "manual/goto", `{"id":"far","args":{"x_m":9,"y_m":9}}`)
		if a := w.awaitFinalAck(mark, "op1", "r1", "far"); a.Status != schema.StatusFailed || a.Reason != schema.ReasonOutOfRange || !strings.Contains(a.Detail, "outside the map") {
			t.Errorf("beyond the map: %s", jsonText(a))
		}

		assign("cellar", `{"version":7}`)
		modes("the next map to wait", func(m schema.Modes) bool { return strings.HasPrefix(calibrationCheck(m, "map").Pending, "cellar ") })
		if a := w.request("op1", "r1", "mode/set", "str"); a.Status != schema.StatusFailed || a.Reason != schema.ReasonBadMap || !strings.Contains(a.Detail, "version 7") {
			t.Errorf("calibration with a bad map: %s", jsonText(a))
		}
		w.awaitState("r1", "an alert with a way out", func(s schema.State) bool {
			for _, a := range s.Alerts {
				if a.Type == "calibration_failed" && strings.Contains(a.Detail, "version 7") && strings.Contains(a.Hint, "assign places") {
					return true
				}
			}
			return false
		})
		modes("the reason at every mode", func(m schema.Modes) bool {
			why := calibrationCheck(m, "map")
			for _, mode := range m.Modes {
				if mode.ID == schema.ModeMnl {
					return why.Reason == schema.ReasonBadMap && len(mode.WhyNot) > 0 && strings.Contains(mode.WhyNot[0].Detail, "version 7")
				}
			}
			return false
		})
		w.mustRunCLI("desired", "places", "--none", "r1")
		modes("its own map to wait", func(m schema.Modes) bool { return calibrationCheck(m, "map").Pending == "the body's own map" })
		w.mustRequest("op1", "r1", "mode/set", "str")
		w.mustRequest("op1", "r1", "mode/set", "mnl")
	})
}
