package rollout

import "fmt"

// A healthRule compares one measure of the updated robots with the others.
type healthRule struct {
	Name string
	Of   func(Health) (n, of int)
	// The updated robots are worse off if at least AtLeast of n happened, and their share n/of exceeds that of the others
	// times Factor by more than Margin.
	AtLeast        int
	Factor, Margin float64
	Why            string
}

// healthRules say when updated robots are worse off than the others. Their margins are wide, because a canary has few
// robots and five minutes are short: what they miss, people see; what they find is real.
var healthRules = []healthRule{
	{
		Name: "offline", Of: func(h Health) (int, int) { return h.Offline, h.Robots },
		AtLeast: 1, Factor: 1, Margin: 0.1,
		Why: "a robot that disappears after an update may have crashed, and one of a small canary is enough to look",
	},
	{
		Name: "with a critical alert", Of: func(h Health) (int, int) { return h.Critical, h.Robots },
		AtLeast: 1, Factor: 1, Margin: 0.05,
		Why: "an alert of level critical keeps a robot from moving, so none may come from an update",
	},
	{
		Name: "with a latched stop", Of: func(h Health) (int, int) { return h.Latched, h.Robots },
		AtLeast: 2, Factor: 1, Margin: 0.25,
		Why: "somebody stops a robot now and then, whatever it performs; several of the same update are a sign",
	},
	{
		Name: "failed acts", Of: func(h Health) (int, int) { return h.ActErrors, h.Acts },
		AtLeast: 3, Factor: 2, Margin: 0.05,
		Why: "a story that does not fit a body fails act by act; some acts fail everywhere, as when somebody is in the way",
	},
	{
		Name: "interrupts for each robot", Of: func(h Health) (int, int) { return h.Interrupts, h.Robots },
		AtLeast: 3, Factor: 2, Margin: 1,
		Why: "visitors interrupt every story; one that they interrupt far more often is not understood, or bothers them",
	},
}

// Health compares the robots that have the content active with the rest; why says in which way they are worse off,
// empty if they are not.
func (r *Run) Health(f Facts) (updated, rest Health, why string) {
	for i := range r.robots {
		if b := &r.robots[i]; b.updated() {
			if fact, there := f.robot(b.ID); there {
				updated = updated.Add(fact.Health)
			}
		}
	}
	return updated, f.Rest, worse(updated, f.Rest)
}

// worse says in which way updated robots are worse off than the rest. If there is no rest, the margins alone count.
func worse(updated, rest Health) string {
	for _, rule := range healthRules {
		n, of := rule.Of(updated)
		m, from := rule.Of(rest)
		share, other := share(n, of), share(m, from)
		if n >= rule.AtLeast && share > rule.Factor*other+rule.Margin {
			return fmt.Sprintf("%s: %d of %d, and %d of %d of the others", rule.Name, n, of, m, from)
		}
	}
	return ""
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}
