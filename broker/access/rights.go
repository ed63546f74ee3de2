package access

import (
	"fmt"
	"slices"
	"strings"

	"troupe/schema"
)

// Rights are what one identity may say and hear, made from the topic and verb
// tables once, when it connects. They do not change and may be asked from many
// goroutines.
type Rights struct {
	id   Identity
	ns   schema.Namespace
	read *tree
}

// Compile makes the rights of id below name space ns.
func Compile(id Identity, ns schema.Namespace) *Rights {
	return &Rights{id: id, ns: ns, read: treeOf(readable(id, ns))}
}

// readable lists the filters of what id may read.
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

// filterOf fills the pattern of row with the name where the grant asks for one's own
// topics, with a console's robot, and with + elsewhere.
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

// MayRead answers for a filter (may it be subscribed to: yes, if anything that
// it admits may be read) and for a topic (may it be delivered). So people may
// subscribe broadly and get what is theirs.
func (r *Rights) MayRead(filter string) bool { return r.read.meets(filter) }

// MaxQoS is the most that a subscription of this identity is granted. Observers
// get 0, because the server keeps what it delivers with QoS 1 until it is
// acknowledged: who only looks on must not cost it that. So do robots' blob
// connections; a blob proves by its digest whether it is whole.
func (r *Rights) MaxQoS() byte {
	if r.id.Role == schema.RoleObserver || r.id.Blobs {
		return 0
	}
	return 2
}

// Publish is what the broker knows of a message before it routes it. Its QoS is
// not judged: a command sent with QoS 0 from a shell is a command.
type Publish struct {
	Topic  string
	Retain bool
	Size   int
}

// Do is what shall happen to a message.
type Do uint8

const (
	Refuse Do = iota // acknowledged, not routed, not kept
	Strip            // routed, but not kept
	Pass
)

// Verdict is what shall happen to a message, and why unless it just passes.
type Verdict struct {
	Do     Do
	Reason schema.Reason
	Detail string
	// Urgent messages, which are stops, the documents that hold them, and presence,
	// are subject to no rate, and there is always room to keep them. A stop that is
	// refused is urgent too: who presses again and again is not to be cut off for it.
	Urgent bool
}

// Judge decides about a message.
//
// A stop passes whatever it carries and however it is flagged; only its sender
// must be allowed to stop. A retained command is refused: whoever listens now
// cannot see the flag and would obey, and whoever comes later would obey again.
// A document that is not retained is refused too: it would be one thing to those
// who listen now and another to those who come later. An event that is retained
// is passed on without the flag: it is true now and would be a lie later.
func (r *Rights) Judge(p Publish) Verdict {
	row, params, ok := r.ns.Match(p.Topic)
	if !ok {
		return refusal(schema.ReasonForbidden, "there is no such topic")
	}
	v := r.judge(p, row, params)
	v.Urgent = v.Urgent || stops(row, params)
	return v
}

func (r *Rights) judge(p Publish, row schema.Topic, params schema.TopicParams) Verdict {
	switch {
	case r.id.Blobs:
		return refusal(schema.ReasonForbidden, "this connection only reads blobs")
	case !r.mayPublish(row, params) && !r.mayDelete(row, p):
		return refusal(schema.ReasonForbidden, fmt.Sprintf("role %s does not publish there", r.id.Role))
	}
	if row.Kind == schema.TopicCmd {
		verb, known := schema.VerbOf(params.Group, params.Verb)
		switch {
		case !known && !schema.MayAskUnknown(params.Group, r.id.Role):
			// It might be an administrator's verb of a newer robot, which asks no
			// more: who may what is decided here.
			return refusal(schema.ReasonUnknownVerb, fmt.Sprintf("no verb %s/%s is known here", params.Group, params.Verb))
		case known && !verb.Allows(r.id.Role):
			return refusal(schema.ReasonForbidden, fmt.Sprintf("role %s may not %s", r.id.Role, verb.ID()))
		}
	}
	switch {
	case stops(row, params) && p.Retain:
		return Verdict{Do: Strip, Reason: schema.ReasonRetainedCommand, Detail: "the stop was passed on; commands are not retained"}
	case stops(row, params):
		return Verdict{Do: Pass}
	case p.Retain && (row.Kind == schema.TopicCmd || row.Kind == schema.TopicTeleop):
		return refusal(schema.ReasonRetainedCommand, "commands are never retained; send it without the retain flag")
	case p.Size > row.MaxBytes:
		return refusal(schema.ReasonTooBig, fmt.Sprintf("%d bytes, at most %d are taken there", p.Size, row.MaxBytes))
	case row.Retain && !p.Retain:
		return refusal(schema.ReasonBadRequest, "this topic holds a document: send it with the retain flag")
	case !row.Retain && p.Retain:
		return Verdict{Do: Strip, Reason: schema.ReasonBadRequest, Detail: "passed on, but nothing is retained there"}
	}
	return Verdict{Do: Pass, Urgent: outranks(row.Kind)}
}

// outranks reports whether documents on a topic are taken however many others
// there are: a robot that is away learns only from these that it is held.
func outranks(k schema.TopicKind) bool {
	return k == schema.TopicPresence || k == schema.TopicDesiredStop || k == schema.TopicFleetStop
}

// JudgeWill decides about a will when it is left, since the server asks nobody
// when it sends it. Whatever the role, a will says that its sender is lost, or it
// is a live stop: a lost connection is nobody's desired state that a robot moves, and no
// document is newer for it. The documents that hold stops are none of it, for they
// release as well: what is not in them.
func (r *Rights) JudgeWill(w Publish) Verdict {
	v := r.Judge(w)
	if v.Do == Strip {
		v.Do = Refuse
	}
	row, params, _ := r.ns.Match(w.Topic)
	presence := (row.Kind == schema.TopicPresence || row.Kind == schema.TopicFleetPresence) && w.Size > 0 && r.mayPublish(row, params)
	if v.Do == Pass && !presence && !stops(row, params) {
		return refusal(schema.ReasonForbidden, "a will may only say that its sender is lost, or stop robots")
	}
	return v
}

// stops reports whether messages on a topic are stops.
func stops(row schema.Topic, at schema.TopicParams) bool {
	verb, known := schema.VerbOf(at.Group, at.Verb)
	return row.Kind == schema.TopicFleetStopCmd || row.Kind == schema.TopicCmd && known && verb.Class == schema.ClassStop
}

func refusal(r schema.Reason, detail string) Verdict {
	return Verdict{Do: Refuse, Reason: r, Detail: detail}
}

func (r *Rights) mayPublish(row schema.Topic, params schema.TopicParams) bool {
	return slices.ContainsFunc(row.Publish, func(g schema.Grant) bool {
		return g.Role == r.id.Role && (g.Own == "" || params.Get(g.Own) == r.id.Name) && r.id.mayMean(params.RID)
	})
}

// anyRobot is the level of a filter for every robot that it may mean.
func (id Identity) anyRobot() string {
	if id.Role == schema.RoleConsole {
		return id.Robot
	}
	return "+"
}

// mayMean reports whether a topic of robot rid, or of none, concerns it at all.
func (id Identity) mayMean(rid string) bool {
	return id.Role != schema.RoleConsole || rid == "" || rid == id.Robot
}

// mayDelete: the fleet's side may empty any document, for robots that are gone.
func (r *Rights) mayDelete(row schema.Topic, p Publish) bool {
	return p.Retain && p.Size == 0 && r.id.deletes(row)
}

// serves reports whether it acts for the whole fleet.
func (id Identity) serves() bool {
	return id.Role == schema.RoleFleetd || id.Role == schema.RoleAdmin
}

func (id Identity) deletes(row schema.Topic) bool {
	return row.Retain && id.serves()
}

// NoticeTopic is where the broker tells the client of that name what it did not
// take.
func NoticeTopic(ns schema.Namespace, name string) string { return ns.Topic(schema.TopicNotice, name) }
