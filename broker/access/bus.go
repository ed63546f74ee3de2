package access

import (
	"strings"

	"troupe/schema"
)

// The bus of a robot: its units are served by processes on the same machine, under topics
// of their own.
const (
	busRoot     = "bus/"
	busPresence = "/presence"
	maxBusBytes = 64 << 10
)

// Bus returns the rights of every client of a robot's bus: all topics of the bus, and no
// others.
func Bus() *Rights { return &Rights{bus: true, read: treeOf([]string{busRoot + "#"})} }

// judgeBus decides about a message on a robot's bus. Only presences are retained, because
// anything else would be obeyed again by the next client that subscribes.
func judgeBus(p Publish) Verdict {
	switch presence := strings.HasSuffix(p.Topic, busPresence); {
	case !strings.HasPrefix(p.Topic, busRoot):
		return refusal(schema.ReasonForbidden, "the topic is not one of the bus")
	case p.Size > maxBusBytes:
		return refusal(schema.ReasonTooBig, "at most 64 KiB are allowed on the bus")
	case p.Retain && !presence:
		return refusal(schema.ReasonRetainedCommand, "only a presence is retained on the bus")
	}
	return Verdict{Decision: Pass}
}
