// Package mnl is the manual mode: people drive the robot and send commands to its units.
package mnl

import (
	"troupe/robotd/mode"
	"troupe/schema"
)

// Mode is the row of the mode.
var Mode = mode.Installed{
	Settings: mode.DefaultSettings(schema.ModeMnl), Name: "manual", Manual: true,
	New: func() mode.Mode { return manual{} },
}

type manual struct{ mode.Plain }
