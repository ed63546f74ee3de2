package stop

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"troupe/schema"
	"troupe/schema/sign"
)

// maxLatched bounds the stops in one robot's document, the oldest first. Further ones are
// latched on the robot all the same, and are listed when there is room. A release before that
// does not last: the robot releases only what a document has named, so it goes on reporting
// the stop, and fleetd latches it again. Of so many, older ones have to be released first.
const maxLatched = 56

// document makes the document with the latched stops of one robot, or of all. Its revision
// is fleetd's time in milliseconds and higher than the last one, so that robots still obey
// after the database was restored from a backup. released are the stops that the plan releases on it.
func (p *plan) document(robot string, held []*Latch, released []schema.StopRelease) (Document, error) {
	slices.SortFunc(released, func(a, b schema.StopRelease) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(held, func(a, b *Latch) int {
		if c := a.RequestedAt.Compare(b.RequestedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	d := Document{Robot: robot, Rev: max(p.rows.Revs[robot]+1, p.now.UnixMilli())}
	ts := schema.TimeOf(p.now)
	var err error
	if robot == "" {
		doc := schema.FleetStop{Rev: d.Rev, FleetID: p.rows.FleetID, TS: ts, Released: released, Counter: p.rows.Signer.Next(p.now)}
		if n := len(held); n > 0 {
			l := held[n-1] // the topic has room for one, the newest; Persist latches each on all known robots too, so their own documents name them
			doc.Active, doc.ID, doc.Level, doc.By, doc.Client, doc.Why = true, l.ID, l.Level, l.By, l.Client, l.Why
		}
		d.Payload, err = encodeFitting(schema.TopicFleetStop, &doc, func() (err error) {
			doc.Sig = nil
			doc.Sig, err = p.rows.Signer.Sign(sign.FleetStop, "", doc)
			return err
		}, func() { doc.Why, doc.By, doc.Released = "", truncated(doc.By, 63), nil })
		return d, err
	}
	doc := schema.DesiredStop{Rev: d.Rev, FleetID: p.rows.FleetID, Stops: []schema.StopLatch{}, TS: ts, Released: released,
		Counter: p.rows.Signer.Next(p.now)}
	for _, l := range held[:min(len(held), maxLatched)] {
		doc.Stops = append(doc.Stops, schema.StopLatch{ID: l.ID, Level: l.Level, By: l.By, Client: l.Client, Why: l.Why,
			Since: schema.TimeOf(l.RequestedAt)})
	}
	d.Payload, err = encodeFitting(schema.TopicDesiredStop, &doc, func() (err error) {
		doc.Sig = nil
		doc.Sig, err = p.rows.Signer.Sign(sign.Stop, robot, doc)
		return err
	}, func() {
		doc.Released = nil
		for i := range doc.Stops {
			doc.Stops[i].Why, doc.Stops[i].By, doc.Stops[i].Client = "", "", ""
		}
	})
	return d, err
}

// encodeFitting signs and encodes a document; if it is too big, without the fields for people.
func encodeFitting(topic schema.TopicKind, doc any, sign func() error, shorten func()) ([]byte, error) {
	for short := false; ; short = true {
		err := sign()
		if err != nil {
			return nil, fmt.Errorf("sign %s: %w", topic, err)
		}
		payload, err := schema.Encode(doc)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", topic, err)
		}
		if short || len(payload) <= schema.TopicOf(topic).MaxBytes {
			return payload, nil
		}
		shorten()
	}
}

// validText replaces what databases and documents do not accept, so that no text prevents a
// stop from being persisted.
func validText(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "?"), "?")
}

// truncated limits a text to most bytes and cuts it between characters.
func truncated(s string, most int) string {
	s = validText(s)
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}
