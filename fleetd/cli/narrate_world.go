package cli

import (
	"fmt"

	"troupe/schema"
)

func (n *narrator) world(e schema.Event, d eventFields) (kind, string) {
	n.setClock(e)
	switch {
	case d.Note != "":
		n.note = d.Note
		return kindWorld, d.Note
	case d.At != "": // an entry of a scenario about which its author says nothing
		return "", ""
	}
	in, problems := schema.DecodeSimInput(d.Name, d.Fields)
	if len(problems) > 0 {
		return "", ""
	}
	return kindWorld, worldText(d, in)
}

// worldText says what an input of the simulated body means.
func worldText(d eventFields, in schema.SimInput) string {
	switch in := in.(type) {
	case schema.SimPeople:
		switch in.Count {
		case 0:
			return "nobody is near any more"
		case 1:
			return "one person is near"
		}
		return fmt.Sprintf("%d people are near", in.Count)
	case schema.SimTouch:
		return begins(in.On, "somebody touches its "+in.Area, "nobody touches its "+in.Area+" any more")
	case schema.SimSound:
		return begins(in.On, "somebody speaks", "it is silent again")
	case schema.SimPush:
		return begins(in.On, "somebody pushes it", "nobody pushes it any more")
	case schema.SimLift:
		return begins(in.On, "somebody lifts it", "it is set down")
	case schema.SimFall:
		return begins(in.On, "it falls", "it is upright again")
	case schema.SimBattery:
		return fmt.Sprintf("its battery is at %.0f %% now", 100*in.Level)
	case schema.SimHeat:
		return fmt.Sprintf("its %s has %g °C now", in.Unit, in.Celsius)
	case schema.SimIntent:
		return "somebody says: " + orElse(in.Text, in.Name)
	}
	return fmt.Sprintf("its simulated body gets %s %s", d.Name, d.Fields)
}

func begins(on bool, begin, end string) string {
	if on {
		return begin
	}
	return end
}
