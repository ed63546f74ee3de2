package robot

import (
	"troupe/robotd/mode"
	"troupe/robotd/mode/ato"
	"troupe/robotd/mode/mnl"
	"troupe/robotd/mode/safe"
	"troupe/robotd/mode/str"
)

// modes is the table of the modes that a robot has, in the order of their numbers. A new
// mode is a package below robotd/mode and a line here.
var modes = []mode.Installed{
	str.Mode,
	mnl.Mode,
	ato.Mode,
	safe.Mode,
}
