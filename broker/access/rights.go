package access

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"troupe/schema"
	"troupe/schema/verb"
)

// Rights are the topics that one identity may publish and read, compiled from the topic
// and verb tables once, when it connects. They do not change and are safe for concurrent
// use.
type Rights struct {
	id    Identity
	ns    schema.Namespace
	bus   bool // a client of a robot's bus, see Bus
	read  *tree
	names names
}

// Compile returns the rights of id in namespace ns.
func Compile(id Identity, ns schema.Namespace) *Rights {
	return &Rights{id: id, ns: ns, read: readTree(id.Role, id.Blobs, ns), names: names{id.Name, id.Robot}}
}

// readTrees holds a tree for each readTreeKey: there are thousands of robots.
var readTrees sync.Map

type readTreeKey struct {
	role  schema.Role
	blobs bool
	ns    schema.Namespace
}

// readTree returns the filters of the topics that clients of a role may read.
func readTree(role schema.Role, blobs bool, ns schema.Namespace) *tree {
	key := readTreeKey{role, blobs, ns}
	t, known := readTrees.Load(key)
	if !known {
		t, _ = readTrees.LoadOrStore(key, treeOf(readable(Identity{Name: ownLevel, Role: role, Robot: robotLevel, Blobs: blobs}, ns)))
	}
	return t.(*tree)
}

// readable lists the filters of the topics that id may read.
func readable(id Identity, ns schema.Namespace) []string {
	switch id.Role {
	case schema.RoleFleetd:
		return []string{ns.Root() + "#"}
	case schema.RoleAdmin:
		return []string{ns.Root() + "#", "$SYS/#"}
	}
	var read []string
	for _, row := range schema.Topics {
		if id.Blobs && row.Kind != schema.TopicBlob {
			continue
		}
		for _, g := range row.Read {
			if g.Role == id.Role {
				read = append(read, id.filterOf(ns, row, g))
			}
		}
	}
	return read
}

// filterOf fills the pattern of row: the parameter that the grant binds to the identity
// becomes its name, {rid} of a console its robot, and any other parameter +.
func (id Identity) filterOf(ns schema.Namespace, row schema.Topic, g schema.Grant) string {
	levels := strings.Split(row.Pattern, "/")
	for i, l := range levels {
		switch {
		case l[0] != '{':
		case l == "{"+g.Own+"}":
			levels[i] = id.Name
		case l == "{rid}":
			levels[i] = id.anyRobot()
		default:
			levels[i] = "+"
		}
	}
	return ns.Root() + strings.Join(levels, "/")
}

// MayRead decides about a subscription (filter: whether any matching topic may be read)
// and about a delivery (topic). So a client may subscribe broadly and is delivered only
// what it may read.
func (r *Rights) MayRead(filter string) bool { return r.read.intersects(filter, &r.names) }

// RefusesFilter returns why a subscription is refused, or nothing.
func (r *Rights) RefusesFilter(filter string) (why string) {
	switch {
	case !ValidFilter(filter):
		return "invalid or unsupported topic filter"
	case !r.MayRead(filter):
		return fmt.Sprintf("role %s may not read any topic of this filter", r.id.Role)
	}
	return ""
}

// MaxQoS is the highest QoS that a subscription is granted. Observers get 0, because the
// server keeps each QoS 1 delivery until it is acknowledged, and a passive reader must not
// cost it that. Robots' blob connections get 0 as well; the digest proves that a blob is
// complete.
func (r *Rights) MaxQoS() byte {
	if r.id.Role == schema.RoleObserver || r.id.Blobs {
		return 0
	}
	return 2
}

// Publish holds what the broker knows of a message before it routes it. The QoS does not
// count: a command that a shell script sends with QoS 0 is a command.
type Publish struct {
	Topic  string
	Retain bool
	Size   int
}

// Decision is what happens to a message.
type Decision uint8

const (
	Refuse Decision = iota // acknowledged, not routed, not retained
	Strip                  // routed, not retained
	Pass
)

// Verdict is what happens to a message, with the reason unless it simply passes.
type Verdict struct {
	Decision Decision
	Reason   schema.Reason
	Detail   string
	// Exempt exempts the message from rate limits and from the limit of retained bytes.
	// Stops, documents that latch stops, and the presence of robots and of fleetd are. A
	// refused stop is exempt too, so that a client that keeps pressing stop is not
	// disconnected for it.
	Exempt bool
}

// Judge decides about a message.
//
// A stop passes whatever its payload and flags are; only its sender must be allowed to
// stop. A retained command is refused: current subscribers cannot see the flag and would
// obey, and later subscribers would obey it again. A document without the retain flag is
// refused, because current and later subscribers would then have different states. A
// retained event is passed on without the flag: it is true now and would be false later.
func (r *Rights) Judge(p Publish) Verdict {
	if r.bus {
		return judgeBus(p)
	}
	row, params, ok := r.ns.Match(p.Topic)
	if !ok {
		return refusal(schema.ReasonForbidden, "the topic is not in the topic table")
	}
	stop := isStop(row, params)
	v := r.judge(p, row, params, stop)
	v.Exempt = v.Exempt || stop
	return v
}

func (r *Rights) judge(p Publish, row schema.Topic, params schema.TopicParams, stop bool) Verdict {
	switch {
	case r.id.Blobs:
		return refusal(schema.ReasonForbidden, "this connection may only read blobs")
	case !r.mayPublish(row, params) && !r.mayDelete(row, p):
		return refusal(schema.ReasonForbidden, fmt.Sprintf("role %s may not publish on this topic", r.id.Role))
	}
	if row.Kind == schema.TopicCmd {
		v, known := verb.Of(params.Group, params.Verb)
		switch {
		case !known && !verb.AllowsUnknown(params.Group, r.id.Role):
			// It might be a verb of a newer robot that only administrators may use, and the
			// robot does not check roles: the broker does.
			return refusal(schema.ReasonUnknownVerb, fmt.Sprintf("verb %s/%s is not in the verb table", params.Group, params.Verb))
		case known && !v.Allows(r.id.Role):
			return refusal(schema.ReasonForbidden, fmt.Sprintf("role %s may not %s", r.id.Role, v.ID()))
		}
	}
	switch {
	case stop && p.Retain:
		return Verdict{Decision: Strip, Reason: schema.ReasonRetainedCommand,
			Detail: "the stop was passed on without the retain flag: commands are not retained"}
	case stop:
		return Verdict{Decision: Pass}
	case p.Retain && (row.Kind == schema.TopicCmd || row.Kind == schema.TopicTeleop):
		return refusal(schema.ReasonRetainedCommand, "commands are never retained; send it without the retain flag")
	case p.Size > row.MaxBytes:
		return refusal(schema.ReasonTooBig, fmt.Sprintf("%d bytes: at most %d are allowed on this topic", p.Size, row.MaxBytes))
	case row.Retain && !p.Retain:
		return refusal(schema.ReasonBadRequest, "messages on this topic are documents: send them with the retain flag")
	case !row.Retain && p.Retain:
		return Verdict{Decision: Strip, Reason: schema.ReasonBadRequest,
			Detail: "the message was passed on without the retain flag: nothing is retained on this topic"}
	}
	return Verdict{Decision: Pass, Exempt: exemptFromLimits(row.Kind)}
}

// exemptFromLimits reports whether documents on a topic are accepted regardless of rates
// and of the limit of retained bytes. A robot that was offline learns only from the
// documents that latch stops that it is stopped. Presence has to be accepted before them: the
// connections of robots and of the leading fleetd are not up until their own presence has
// come back, and over such a connection the leader publishes those documents.
func exemptFromLimits(k schema.TopicKind) bool {
	switch k {
	case schema.TopicPresence, schema.TopicFleetPresence, schema.TopicDesiredStop, schema.TopicFleetStop:
		return true
	}
	return false
}

// JudgeWill decides about a will at CONNECT, since the server library does not check when
// it sends one. For every role, a will may only be the sender's presence, or a stop: of
// one robot, or a live stop. A lost connection must not set a robot in motion, and it is no reason
// to replace another document. The documents that latch stops are not allowed, because they also release every
// stop that they do not contain.
func (r *Rights) JudgeWill(w Publish) Verdict {
	v := r.Judge(w)
	if r.bus {
		return v
	}
	if v.Decision == Strip {
		v.Decision = Refuse
	}
	row, params, _ := r.ns.Match(w.Topic)
	presence := (row.Kind == schema.TopicPresence || row.Kind == schema.TopicFleetPresence) && w.Size > 0 && r.mayPublish(row, params)
	if v.Decision == Pass && !presence && !isStop(row, params) {
		return refusal(schema.ReasonForbidden, "a will may only report its sender as lost, or stop robots")
	}
	return v
}

// isStop reports whether messages on a topic are stops.
func isStop(row schema.Topic, at schema.TopicParams) bool {
	if row.Kind != schema.TopicCmd {
		return row.Kind == schema.TopicFleetStopCmd
	}
	v, known := verb.Of(at.Group, at.Verb)
	return known && v.Class == verb.ClassStop
}

func refusal(r schema.Reason, detail string) Verdict {
	return Verdict{Decision: Refuse, Reason: r, Detail: detail}
}

func (r *Rights) mayPublish(row schema.Topic, params schema.TopicParams) bool {
	return slices.ContainsFunc(row.Publish, func(g schema.Grant) bool {
		return g.Role == r.id.Role && (g.Own == "" || params.Get(g.Own) == r.id.Name) && r.id.mayAddress(params.RID)
	})
}

// anyRobot is the {rid} level of a filter for all robots that the identity may address.
func (id Identity) anyRobot() string {
	if id.Role == schema.RoleConsole {
		return id.Robot
	}
	return "+"
}

// mayAddress reports whether the identity may address robot rid; an empty rid is a topic
// without a robot.
func (id Identity) mayAddress(rid string) bool {
	return id.Role != schema.RoleConsole || rid == "" || rid == id.Robot
}

// mayDelete reports whether the message deletes a document on behalf of the fleet, which
// may delete any document, for robots that were removed.
func (r *Rights) mayDelete(row schema.Topic, p Publish) bool {
	return p.Retain && p.Size == 0 && r.id.mayDelete(row)
}

// isFleetSide reports whether the identity acts for the whole fleet.
func (id Identity) isFleetSide() bool {
	return id.Role == schema.RoleFleetd || id.Role == schema.RoleAdmin
}

func (id Identity) mayDelete(row schema.Topic) bool {
	return row.Retain && id.isFleetSide()
}

// NoticeTopic is the topic on which the broker notifies clients of that name about refused
// messages.
func NoticeTopic(ns schema.Namespace, name string) string { return ns.Topic(schema.TopicNotice, name) }
