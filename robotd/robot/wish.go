package robot

import (
	"troupe/robotd/brain"
	"troupe/schema"
	"troupe/schema/sign"
)

// wishOf turns a desired document into an event; an empty one was deleted.
func wishOf(k schema.TopicKind, payload []byte) brain.Event {
	emptied := len(payload) == 0
	switch k {
	case schema.TopicDesiredActivities, schema.TopicDesiredPlaces:
		ev := brain.WishedSet{Kind: sign.Activities, Emptied: emptied}
		if k == schema.TopicDesiredPlaces {
			ev.Kind = sign.Places
		}
		if !emptied {
			ev.Wish, ev.Problems = schema.Decode[schema.DesiredSet](payload)
		}
		return ev
	case schema.TopicDesiredConfig:
		ev := brain.WishedConfig{Emptied: emptied}
		if !emptied {
			ev.Wish, ev.Problems = schema.Decode[schema.DesiredConfig](payload)
		}
		return ev
	case schema.TopicDesiredMode:
		ev := brain.WishedMode{Emptied: emptied}
		if !emptied {
			ev.Wish, ev.Problems = schema.Decode[schema.DesiredMode](payload)
		}
		return ev
	}
	ev := brain.Wished{Emptied: emptied}
	if !emptied {
		ev.Wish, ev.Problems = schema.Decode[schema.DesiredStory](payload)
	}
	return ev
}
