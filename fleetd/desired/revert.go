package desired

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// noDocument is the previous document of a robot that had none.
const noDocument = "{}"

// noModeBefore is why a robot's first desired mode stays.
const noModeBefore = "it had no desired mode before, and a desired mode cannot be taken away"

// NotReverted is a robot that a revert leaves as it is, and why.
type NotReverted struct {
	Robot string
	Why   schema.Problem
}

// RevertRequests turns a request to revert robots into requests for what they had before: one
// for each group of robots that get the same. sets are the published sets that they had, by digest. A second
// revert gives them again what they have now.
func RevertRequests(rows Rows, a Request, sets map[string][]byte) (parts []SubRequest, kept []NotReverted, found []schema.Problem) {
	if found := checkCount(rows, a.Expected); len(found) > 0 {
		return nil, nil, found
	}
	at := map[string]int{}
	for _, r := range rows.Robots {
		request, why := revertRequest(a.Revert, r, sets)
		if why != "" {
			kept = append(kept, NotReverted{r.ID, schema.NewProblem("", CodeNotRevertible, why, "set it explicitly")})
			continue
		}
		key, _ := json.Marshal(request) // cannot fail: it has been JSON before
		i, known := at[string(key)]
		if !known {
			i = len(parts)
			at[string(key)] = i
			part := SubRequest{Rows: rows, Request: request}
			part.Rows.Robots = nil
			parts = append(parts, part)
		}
		parts[i].Rows.Robots = append(parts[i].Rows.Robots, r)
	}
	return parts, kept, nil
}

// revertRequest is the request for what a robot had before; why says why it cannot be reverted.
func revertRequest(topic schema.TopicKind, r Robot, sets map[string][]byte) (request Request, why string) {
	if len(r.Previous) == 0 {
		return request, "nothing is known of what it had before"
	}
	switch topic {
	case schema.TopicDesiredConfig:
		was, _ := schema.Decode[schema.DesiredConfig](r.Previous)
		now, _ := schema.Decode[schema.DesiredConfig](r.Current.Payload)
		return revertSettings(was.Values, now.Values)
	case schema.TopicDesiredMode:
		was, _ := schema.Decode[schema.DesiredMode](r.Previous)
		if was.Mode == "" {
			return request, noModeBefore
		}
		now, _ := schema.Decode[schema.DesiredMode](r.Current.Payload)
		return Request{Mode: &Mode{Mode: was.Mode, Apply: now.Apply}}, ""
	}
	was, _ := schema.Decode[schema.DesiredSet](r.Previous)
	if was.Set == nil {
		return Request{Places: &Set{}}, ""
	}
	body := sets[was.Set.SHA256]
	if len(body) == 0 {
		return request, "its earlier places are not stored any more"
	}
	return Request{Places: &Set{ID: was.Set.ID, Rev: was.Set.Rev, Body: body}}, ""
}

// revertSettings names the settings that differ. Labels are left out: they are not set as settings.
func revertSettings(was, now map[string]jsontext.Value) (request Request, why string) {
	c := &Config{Set: map[string]jsontext.Value{}}
	for key, value := range was {
		if key != LabelsKey && !same(map[string]jsontext.Value{key: value}, pick(now, key)) {
			c.Set[key] = value
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if _, had := was[key]; !had && key != LabelsKey {
			c.Unset = append(c.Unset, key)
		}
	}
	if len(c.Set)+len(c.Unset) == 0 {
		return request, "its settings are those that it had before"
	}
	return Request{Config: c}, ""
}

func pick(values map[string]jsontext.Value, key string) map[string]jsontext.Value {
	if v, ok := values[key]; ok {
		return map[string]jsontext.Value{key: v}
	}
	return nil
}

// PreviousPlaces lists the digests of the places that robots had before.
func PreviousPlaces(rows Rows) (sums []string) {
	for _, r := range rows.Robots {
		if sum := PlacesDigest(r.Previous); sum != "" {
			sums = append(sums, sum)
		}
	}
	slices.Sort(sums)
	return slices.Compact(sums)
}
