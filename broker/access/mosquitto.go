package access

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"troupe/schema"
)

// WriteMosquittoACL writes the rules of these users as an acl_file of Mosquitto
// 2: the same rows of the topic and verb tables that Compile reads, one block a
// user and no pattern, since Mosquitto knows no roles and would give a pattern to
// everybody. What a file of topics cannot say is not there: see the head it
// writes.
func WriteMosquittoACL(w io.Writer, users []User, ns schema.Namespace) error {
	out := &strings.Builder{}
	fmt.Fprint(out, mosquittoHead)
	users = slices.Clone(users)
	slices.SortFunc(users, func(a, b User) int { return strings.Compare(a.Name, b.Name) })
	for _, u := range users {
		if u.Name == "" {
			continue // rules before the first user would be those of clients without a name
		}
		fmt.Fprintf(out, "\n# %s\nuser %s\n", u.roleWord(), u.Name)
		for _, rule := range mosquittoRules(u, ns) {
			fmt.Fprintf(out, "topic %s\n", rule)
		}
	}
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("write rules for mosquitto: %w", err)
	}
	return nil
}

const mosquittoHead = `# Who may say and hear what, for Mosquitto's acl_file. Made by troupe's broker from
# the users file; make it anew when that changes, then send mosquitto a SIGHUP.
#
# Mosquitto does not do what a list of topics cannot say: it tells no sender that
# something was refused, it keeps a command that was sent with the retain flag
# (robots refuse it), it limits no rate, it does not hold clients to their own
# client id, it lets fleetd write, not only empty, documents of robots and what
# clients command, for fleetd removes what was kept of it, and it sends any will
# that its owner could have said himself.
`

// mosquittoRules are "read FILTER" and "write FILTER", each once.
func mosquittoRules(u User, ns schema.Namespace) []string {
	id := Identity{Name: u.Name, Role: u.Role, Robot: u.Robot}
	var rules []string
	add := func(access, filter string) {
		if rule := access + " " + filter; !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	for _, filter := range readable(id, ns) {
		add("read", filter)
	}
	for _, row := range schema.Topics {
		for _, g := range row.Publish {
			if g.Role != u.Role {
				continue
			}
			if row.Kind != schema.TopicCmd {
				add("write", id.filterOf(ns, row, g))
				continue
			}
			for _, v := range schema.Verbs {
				switch {
				case schema.MayAskUnknown(v.Group, u.Role): // so also those that are known
					add("write", ns.Topic(schema.TopicCmd, id.anyRobot(), u.Name, v.Group, "+"))
				case v.Allows(u.Role):
					add("write", ns.Topic(schema.TopicCmd, id.anyRobot(), u.Name, v.Group, v.Name))
				}
			}
			for _, group := range schema.OpenGroups { // one of them has no verb in this release
				if schema.MayAskUnknown(group, u.Role) {
					add("write", ns.Topic(schema.TopicCmd, id.anyRobot(), u.Name, group, "+"))
				}
			}
		}
		// Our own broker keeps no command, so nobody has to remove one there.
		if id.deletes(row) || id.serves() && (row.Kind == schema.TopicCmd || row.Kind == schema.TopicFleetStopCmd) {
			add("write", id.filterOf(ns, row, schema.Grant{}))
		}
	}
	return rules
}
