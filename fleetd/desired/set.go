package desired

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// Set is published places; without a Body and a digest the desired places are cleared.
type Set struct {
	ID   string         `json:"id,omitempty"`
	Rev  int64          `json:"rev,omitempty" minimum:"0"` // revision by its author; 0 = 1
	Body jsontext.Value `json:"body,omitempty" doc:"the places, as JSON"`
	// SHA256 names a set to Desired of package change; Plan wants its Body.
	SHA256 string `json:"sha256,omitempty" doc:"instead of a body: digest of places that were published before"`

	Added []string `json:"-"` // points that the set before does not have, for the audit
}

// file is a file that a set names, with the pointer to it.
type file struct {
	pointer string
	score.Asset
}

func parsePlaces(body []byte) ([]file, []schema.Problem) {
	v, found := score.ParsePlaces(body)
	if len(schema.Errors(found)) > 0 {
		return nil, found
	}
	var files []file
	if v.Map != nil {
		files = []file{{"/map", *v.Map}}
	}
	return files, score.ValidatePlaces(v)
}

func (p *plan) pinPlaces(set *Set) []schema.Problem {
	const pointer = "/places"
	if len(set.Body) == 0 {
		return nil
	}
	if !schema.ValidID(set.ID) {
		return []schema.Problem{schema.NewProblem(pointer+"/id", "bad_id", fmt.Sprintf("%q cannot name a set", set.ID),
			"use a-z, 0-9 and hyphens, at most 63")}
	}
	if limit := schema.TopicOf(schema.TopicBlob).MaxBytes; len(set.Body) > limit {
		return []schema.Problem{schema.NewProblem(pointer+"/body", "too_long", fmt.Sprintf("it has %d bytes, robots accept at most %d",
			len(set.Body), limit), "make it smaller")}
	}
	files, problems := parsePlaces(set.Body)
	found := schema.Errors(problems)
	if len(found) > 0 {
		files = nil // check files only if there are no other errors
	}
	for _, f := range files {
		if size, ok := p.rows.Files[f.SHA256]; !ok || size != f.Size {
			found = append(found, schema.NewProblem(f.pointer+"/sha256", "not_found",
				fmt.Sprintf("fleetd has no file of %d bytes with this digest", f.Size),
				"upload it with fleetd asset put; fleetd asset get shows its digest and size"))
		}
		p.files = append(p.files, f.Asset)
	}
	if len(found) > 0 {
		for i := range found {
			found[i].Pointer = pointer + "/body" + found[i].Pointer
		}
		return found
	}
	sum := sha256.Sum256(set.Body)
	p.body = set.Body
	p.pin = &schema.ContentPin{ID: set.ID, Rev: max(1, set.Rev), SHA256: hex.EncodeToString(sum[:]), Size: int64(len(set.Body))}
	return nil
}

func (p *plan) set(kind sign.Kind, r Robot) (Document, bool, error) {
	was, _ := schema.Decode[schema.DesiredSet](r.Current.Payload)
	same := p.pin == nil && was.Set == nil || p.pin != nil && was.Set != nil && *p.pin == *was.Set
	switch {
	case p.pin == nil && r.Current.Rev == 0 && !r.Reported.Overtook(0): // no document, here or on the robot
		return r.Current, false, nil
	case same && r.Current.Rev > 0 && !p.mustRepublish(r, was.Sig, was.Set, was.Released):
		return r.Current, false, nil
	}
	d := schema.DesiredSet{Rev: r.Reported.NextRev(r.Current.Rev), FleetID: p.rows.FleetID, Set: p.pin, By: p.by.Who,
		TS: schema.TimeOf(p.by.At), Counter: p.signer.Next(p.by.At)}
	var err error
	if d.Released, err = p.signer.SignContent(kind, p.pin); err != nil {
		return Document{}, false, err
	}
	d.Sig, err = p.signer.Sign(kind, r.ID, d)
	return newDocument(d.Rev, d, err)
}
