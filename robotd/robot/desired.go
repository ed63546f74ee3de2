package robot

import (
	"troupe/robotd/brain"
	"troupe/schema"
	"troupe/schema/sign"
)

// readDesired turns a desired document into an event; an empty one was deleted.
func readDesired(k schema.TopicKind, payload []byte) brain.Event {
	emptied := len(payload) == 0
	switch k {
	case schema.TopicDesiredActivities, schema.TopicDesiredPlaces:
		ev := brain.DesiredSet{Kind: sign.Activities, Emptied: emptied}
		if k == schema.TopicDesiredPlaces {
			ev.Kind = sign.Places
		}
		if !emptied {
			ev.Document, ev.Digest, ev.Problems = read[schema.DesiredSet](payload)
		}
		return ev
	case schema.TopicDesiredConfig:
		ev := brain.DesiredConfig{Emptied: emptied}
		if !emptied {
			ev.Document, ev.Digest, ev.Problems = read[schema.DesiredConfig](payload)
		}
		return ev
	case schema.TopicDesiredMode:
		ev := brain.DesiredMode{Emptied: emptied}
		if !emptied {
			ev.Document, ev.Digest, ev.Problems = read[schema.DesiredMode](payload)
		}
		return ev
	}
	ev := brain.DesiredStory{Emptied: emptied}
	if !emptied {
		ev.Document, ev.Digest, ev.Problems = read[schema.DesiredStory](payload)
	}
	return ev
}

// read reads a document and what its signature has to be of: both of the same
// bytes, so that nothing is obeyed that was not signed.
func read[T any](payload []byte) (T, string, []schema.Problem) {
	v, problems := schema.Decode[T](payload)
	if len(problems) > 0 {
		return v, "", problems
	}
	sum, err := sign.Digest(payload)
	if err != nil {
		return v, "", []schema.Problem{schema.Fault("", "syntax", err.Error(), "send one well-formed JSON object")}
	}
	return v, sum, nil
}
