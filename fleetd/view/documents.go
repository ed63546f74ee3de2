package view

import (
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// RobotDocument is the newest document that a robot published on one retained topic, as it is.
type RobotDocument struct {
	Topic    string           `json:"topic"`
	Kind     schema.TopicKind `json:"kind"`
	Received schema.Time      `json:"received" doc:"when fleetd received it, by fleetd's clock"`
	Bytes    int              `json:"bytes"`
	Body     jsontext.Value   `json:"body"`
}

// Documents lists the retained documents of a robot, in the order of the topic table. It
// reports whether the robot is known.
func (v *View) Documents(id string) (list []RobotDocument, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.robots[id]
	if e == nil {
		return nil, false
	}
	for _, row := range schema.Topics {
		d, ok := e.documents[row.Kind]
		if !ok {
			continue
		}
		list = append(list, RobotDocument{
			Topic: v.deps.Namespace.Topic(row.Kind, id), Kind: row.Kind, Received: wireTime(d.ReceivedAt), Bytes: len(d.Body), Body: d.Body,
		})
	}
	return list, true
}
