package brain

import "troupe/schema"

// shrinkState takes the step-th thing off a state that is too big, the least
// important first, and reports whether there was a step. No byte is ever cut.
func shrinkState(d *schema.State, step int) bool {
	switch step {
	case 0: // what people read
		for i := range d.Units {
			d.Units[i].Detail = ""
		}
		for i := range d.Queue.Failed {
			d.Queue.Failed[i].Detail = ""
		}
		for i := range d.Alerts {
			d.Alerts[i].Hint = ""
		}
	case 1:
		for i := range d.Auto.PauseHolders {
			d.Auto.PauseHolders[i].Why = ""
		}
		for i := range d.Safety.Latches {
			d.Safety.Latches[i].Why = ""
		}
		d.Queue.Completed, d.Queue.Waiting = []string{}, []string{}
		d.Running = newest(d.Running, 8)
	case 2:
		d.Alerts = newest(d.Alerts, 16)
	case 3:
		d.Alerts, d.Queue.Failed = newest(d.Alerts, 4), []schema.Failed{}
	case 4:
		d.Alerts, d.Units = []schema.Alert{}, []schema.UnitState{}
	default:
		return false
	}
	return true
}

// newest leaves the last n: the list is in the order of their coming.
func newest[T any](a []T, n int) []T {
	if len(a) > n {
		return a[len(a)-n:]
	}
	return a
}
