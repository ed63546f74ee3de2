// Package str is the start-up mode: it calibrates the robot, at boot and whenever
// somebody asks for it.
package str

import (
	"troupe/robotd/mode"
	"troupe/schema"
)

// Mode is the row of the mode.
var Mode = mode.Installed{
	Settings: mode.DefaultSettings(schema.ModeStr), Name: "start-up",
	New: func() mode.Mode { return startUp{} },
}

type startUp struct{ mode.Plain }

func (startUp) Stop(h *mode.Host) {
	h.Do(mode.EndCalibration{})
	h.Stopped()
}

func (startUp) Kill(h *mode.Host) { h.Do(mode.EndCalibration{}) }

func (startUp) Step(h *mode.Host, n mode.Notice) {
	switch n := n.(type) {
	case mode.CalibrationOrdered:
		h.Do(mode.Calibrate{})
	case mode.CalibrationCancelled:
		h.Do(mode.EndCalibration{})
	case mode.CalibrationEnded:
		h.Calibrated(n.Refusal)
	}
}
