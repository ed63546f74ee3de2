package desired

import (
	"fmt"

	"troupe/fleetd/audit"
	"troupe/schema"
	"troupe/schema/sign"
)

// documentNames name the documents for people, in the audit.
var documentNames = map[schema.TopicKind]string{
	schema.TopicDesiredConfig: "settings", schema.TopicDesiredMode: "mode", schema.TopicDesiredPlaces: "places",
	schema.TopicDesiredActivities: "activities",
}

// Renumber plans to publish the documents of a topic again with a higher revision, for robots
// that have accepted a higher one than fleetd's. A mode with apply now is published with
// apply boot, so that an old request does not move a robot now.
func Renumber(topic schema.TopicKind, rows Rows, by audit.Attribution) (Changes, []schema.Problem) {
	c := Changes{Topic: topic, Again: true}
	p := plan{rows: rows, by: by, signer: rows.Signer}
	for _, r := range rows.Robots {
		if !r.Reported.MustRenumber(r.Current.Rev) {
			continue
		}
		next, changed, err := p.renumber(topic, r)
		if err != nil {
			return c, []schema.Problem{schema.NewProblem("", "bad_value", fmt.Sprintf("%s of %s: %v", topic, r.ID, err), "")}
		}
		if changed {
			r.Current = next
			c.Updated, c.Documents = append(c.Updated, r.ID), append(c.Documents, r)
		}
	}
	c.Counter = p.signer.Counter
	c.Note = documentNames[topic] + ", published again with a higher revision"
	return c, nil
}

func (p *plan) renumber(topic schema.TopicKind, r Robot) (Document, bool, error) {
	switch topic {
	case schema.TopicDesiredConfig:
		return p.config(Config{}, r)
	case schema.TopicDesiredMode:
		was, _ := schema.Decode[schema.DesiredMode](r.Current.Payload)
		return p.mode(Mode{Mode: was.Mode, Apply: schema.ApplyModeBoot}, r)
	}
	was, _ := schema.Decode[schema.DesiredSet](r.Current.Payload)
	p.pin = was.Set
	if topic == schema.TopicDesiredPlaces {
		return p.set(sign.Places, r)
	}
	return p.set(sign.Activities, r)
}

// mustRepublish reports whether an unchanged document must be published again. The pin and its
// signature are nil for documents without a blob.
func (p *plan) mustRepublish(r Robot, sig *schema.Signature, pin *schema.ContentPin, released *schema.Signature) bool {
	return p.signer.MustSignAgain(sig, pin, released) || !r.Reported.HasSettled(r.Current.Rev)
}
