// Package safe is the mode in which the robot waits for an operator and does nothing.
package safe

import (
	"troupe/robotd/mode"
	"troupe/schema"
)

// Mode is the row of the mode.
var Mode = mode.Installed{
	Settings: mode.DefaultSettings(schema.ModeSafe), Name: "safe",
	New: func() mode.Mode { return waiting{} },
}

type waiting struct{ mode.Plain }
