package fleet

import "troupe/schema"

// TakenBy says who goes by a name, so that no robot can; empty: nobody that is
// known here. What the database knows is not looked at.
func (f *Fleet) TakenBy(name string) string {
	switch {
	case name == f.cfg.Name:
		return "this instance"
	case schema.ReservedName(name):
		return "fleetd instances or people's tools"
	case f.view.IsClient(name):
		return "a client of the broker"
	}
	return ""
}
