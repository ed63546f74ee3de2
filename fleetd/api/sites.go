package api

import (
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"troupe/fleetd/auth"
	"troupe/fleetd/command"
	"troupe/fleetd/latch"
	"troupe/fleetd/retained"
	"troupe/fleetd/selector"
	"troupe/fleetd/view"
)

// withinSites is middleware that refuses requests about a robot of another site, by the path.
func (s *server) withinSites(ctx huma.Context, next func(huma.Context)) {
	p, o := auth.Of(ctx.Context()), ctx.Operation()
	var no *Problem
	switch {
	case len(p.Sites) == 0: // or nobody is signed in
	case rowOf(o).FleetWide:
		no = KindNotAllowed.Problem(fmt.Sprintf("%s: this is about the whole fleet, and %s has the sites %s", o.Summary, p.ID,
			strings.Join(p.Sites, ", ")), "somebody with every site can, such as an administrator")
	case strings.HasPrefix(o.Path, Prefix+"/robots/{id}"):
		no = s.outside(p, ctx.Param("id"))
	}
	if no != nil {
		_, w := humago.Unwrap(ctx)
		refuse(w, no)
		return
	}
	next(ctx)
}

// outside says why a principal may not use a robot; nil = it may.
func (s *server) outside(p auth.Principal, robot string) *Problem {
	if p.SeesAll() {
		return nil
	}
	loaded := s.View.Loaded() // before the look-up: labels that are read in between must not count as known
	d, _ := s.View.Robot(robot)
	switch {
	case p.Sees(d.Labels):
		return nil
	case !loaded:
		return s.loading("whether " + robot + " belongs to a site of " + p.ID)
	}
	return KindNotAllowed.Problem(fmt.Sprintf("robot %s belongs to no site of %s, who has %s", robot, p.ID, strings.Join(p.Sites, ", ")),
		"an administrator can give you its site, which is its label "+auth.SiteLabel)
}

// narrow restricts a selector to the sites of a principal. It refuses names and sites outside of them. A stop
// is not refused while the labels of robots are not known: it may then reach other sites, too.
func (s *server) narrow(p auth.Principal, sel selector.Selector, stop bool) (selector.Selector, error) {
	unknown := stop && !s.View.Loaded()
	switch {
	case p.SeesAll():
		return sel, nil
	case len(sel.IDs) > 0:
		for _, id := range sel.IDs {
			if no := s.outside(p, id); no != nil && !unknown {
				return sel, no
			}
		}
		return sel, nil
	}
	for _, l := range sel.Labels {
		switch {
		case l.Key != auth.SiteLabel:
		case !slices.Contains(p.Sites, l.Value):
			return sel, notTheirSite(p, l.Value)
		default:
			return sel, nil
		}
	}
	if len(p.Sites) > 1 && unknown {
		return sel, nil
	}
	if len(p.Sites) > 1 {
		var ids []string
		for _, r := range selected(s.View.Robots(), sel) {
			if p.Sees(r.Labels) {
				ids = append(ids, r.ID)
			}
		}
		if len(ids) > 0 {
			return selector.IDs(ids...), nil
		}
	}
	if len(p.Sites) == 0 {
		return sel, signInRequired("nobody is signed in")
	}
	sel.All = false
	sel.Labels = append(slices.Clone(sel.Labels), selector.Label{Key: auth.SiteLabel, Value: p.Sites[0]})
	return sel, nil
}

// robotsFor narrows a selector to the robots that a principal may change, and replaces terms that the database does not
// know by the names of the robots for which they hold now. It refuses what narrow refuses.
func (s *server) robotsFor(p auth.Principal, sel selector.Selector) (selector.Selector, error) {
	if found := sel.Problems(); len(found) > 0 {
		return sel, refusal(inBody("/selector", found))
	}
	robots, err := s.narrow(p, sel, false)
	if err != nil {
		return sel, err
	}
	return s.View.Resolve(robots), nil
}

// sitesOf returns the sites whose robots a list is about: the one that was asked for, or those of the
// principal; none = every site. It refuses a site that the principal does not have.
func sitesOf(p auth.Principal, asked string) ([]string, error) {
	switch {
	case asked == "":
		return p.Sites, nil
	case !p.SeesAll() && !slices.Contains(p.Sites, asked):
		return nil, notTheirSite(p, asked)
	}
	return []string{asked}, nil
}

// notTheirSite refuses a site that a principal does not have.
func notTheirSite(p auth.Principal, site string) *Problem {
	return KindNotAllowed.Problem(fmt.Sprintf("%s does not have the site %s, but %s", p.ID, site, strings.Join(p.Sites, ", ")),
		"an administrator can give it to you")
}

// visible keeps the rows of robots that a principal sees.
func visible(p auth.Principal, rows []*view.Row) []*view.Row {
	if p.SeesAll() {
		return rows
	}
	return slices.DeleteFunc(rows, func(r *view.Row) bool { return !p.Sees(r.Labels) })
}

// visibleIDs keeps the robots that a principal sees, and is never nil.
func (s *server) visibleIDs(p auth.Principal, robots []string) []string {
	if p.SeesAll() {
		return nonNil(robots)
	}
	return slices.DeleteFunc(nonNil(slices.Clone(robots)), func(id string) bool { return s.outside(p, id) != nil })
}

// visibleSelector is the text of a selector without the names of robots that a principal does not see.
func (s *server) visibleSelector(p auth.Principal, text string) string {
	if sel, problems := selector.Parse(strings.Fields(text)...); !p.SeesAll() && len(problems) == 0 && len(sel.IDs) > 0 {
		return strings.Join(s.visibleIDs(p, sel.IDs), " ")
	}
	return text
}

// outsideCommand says why a principal may not see a command; nil = it may.
func (s *server) outsideCommand(p auth.Principal, c command.Command) error {
	if no := s.outside(p, c.Robot); no != nil {
		return no
	}
	return nil
}

// refuseDelete says why a principal may not delete what robots of other sites have; nil = it may.
func (s *server) refuseDelete(p auth.Principal, what string, robots ...[]string) error {
	for _, ids := range robots {
		if len(s.visibleIDs(p, ids)) < len(ids) {
			return KindNotAllowed.Problem(fmt.Sprintf("%s belongs to robots of other sites, too, and %s has the sites %s", what, p.ID,
				strings.Join(p.Sites, ", ")),
				"somebody with every site can delete it; or ask them to assign something else to these robots")
		}
	}
	return nil
}

// visibleStops keeps the latched stops that hold, or by their labels may hold, a robot of the principal's sites,
// with these robots only.
func (s *server) visibleStops(p auth.Principal, stops []latch.LatchedStop) []latch.LatchedStop {
	if p.SeesAll() {
		return stops
	}
	out := []latch.LatchedStop{}
	for _, l := range stops {
		l.Robots = s.visibleIDs(p, l.Robots)
		l.Count = len(l.Robots)
		if len(l.Robots) > 0 || l.All || mayHoldSite(l.Labels, p.Sites) {
			out = append(out, l)
		}
	}
	return out
}

// mayHoldSite reports whether a stop by these labels may hold robots of one of the sites.
func mayHoldSite(labels map[string]string, sites []string) bool {
	site, named := labels[auth.SiteLabel]
	return len(labels) > 0 && (!named || slices.Contains(sites, site))
}

// refuseRelease says why a principal may not release these stops, because they hold robots of other sites; nil = it may.
func (s *server) refuseRelease(p auth.Principal, ids []string) error {
	if p.SeesAll() {
		return nil
	}
	for _, l := range s.Stops.Latched() {
		if !slices.Contains(ids, l.ID) {
			continue
		}
		if l.All {
			return KindNotAllowed.Problem("stop "+l.ID+" is latched on the whole fleet, and "+p.ID+" has the sites "+strings.Join(p.Sites, ", "),
				"ask somebody with all sites to release it")
		}
		if site := l.Labels[auth.SiteLabel]; len(l.Labels) > 0 && !slices.Contains(p.Sites, site) {
			return KindNotAllowed.Problem("stop "+l.ID+" is latched by labels, so it may hold robots of other sites, and "+p.ID+" has the sites "+
				strings.Join(p.Sites, ", "), "try again when the stop is persisted, or ask somebody with all sites to release it")
		}
		for _, id := range l.Robots {
			if no := s.outside(p, id); no != nil {
				return no
			}
		}
	}
	return nil
}

// statusFor is the state of this instance as a principal may see it.
func (s *server) statusFor(p auth.Principal) Status {
	status := s.Status()
	if !p.SeesAll() {
		status.Latched = s.visibleStops(p, s.Stops.Latched())
		for i := range status.Latched {
			status.Latched[i].Robots = []string{}
		}
		status.RetainedCommands = slices.DeleteFunc(slices.Clone(status.RetainedCommands), func(c retained.Command) bool {
			at, ofRobot := strings.CutPrefix(c.Topic, "robots/")
			robot, _, _ := strings.Cut(at, "/")
			return ofRobot && s.outside(p, robot) != nil
		})
	}
	return status
}
