package robot

import (
	"slices"
	"strings"

	"troupe/robotd/mode"
	"troupe/robotd/mode/ato"
	"troupe/robotd/mode/follow"
	"troupe/robotd/mode/mnl"
	"troupe/robotd/mode/safe"
	"troupe/robotd/mode/str"
)

// modes lists the modes of a robot, in the order of their numbers. A new mode is a package
// below robotd/mode and a line here.
var modes = []mode.Installed{
	str.Mode,
	mnl.Mode,
	ato.Mode,
	safe.Mode,
}

// Modes lists the modes of every robot.
func Modes() []mode.Installed { return slices.Clone(modes) }

// optional lists the modes that a robot has if its setting modes names them.
var optional = []mode.Installed{follow.Mode}

func optionalNames() string {
	names := make([]string, len(optional))
	for i, m := range optional {
		names[i] = string(m.ID)
	}
	return strings.Join(names, ", ")
}
