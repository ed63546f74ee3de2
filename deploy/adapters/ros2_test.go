package adapters

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"troupe/schema"
	"troupe/schema/bus"
)

// bridged is one topic of mqtt_client's parameters.
type bridged struct {
	ROSTopic  string `json:"ros_topic"`
	MQTTTopic string `json:"mqtt_topic"`
	ROSType   string `json:"ros_type"`
	Advanced  struct {
		MQTT struct {
			QoS      byte `json:"qos"`
			Retained bool `json:"retained"`
		} `json:"mqtt"`
		ROS map[string]any `json:"ros"`
	} `json:"advanced"`
}

// parameters reads a file of ROS parameters of a node.
func parameters[T any](t *testing.T, path, node string) T {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]struct {
		Parameters T `json:"ros__parameters"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	p, ok := file[node]
	if !ok {
		t.Fatalf("%s has no parameters of %s", path, node)
	}
	return p.Parameters
}

// TestROSBridgeHasEveryTopicOfTheBus compares the topics of mqtt_client with the contract.
func TestROSBridgeHasEveryTopicOfTheBus(t *testing.T) {
	p := parameters[struct {
		Client struct {
			LastWill struct {
				Topic, Message string
				QoS            byte
				Retained       bool
			} `json:"last_will"`
		}
		Bridge struct{ MQTT2ROS, ROS2MQTT map[string]any }
	}](t, "ros2/mqtt_client.yaml", "/**/*")
	will, problems := schema.Decode[bus.Presence]([]byte(p.Client.LastWill.Message))
	if len(problems) > 0 || will.Present || p.Client.LastWill.Topic != bus.Out("ros", bus.OutPresence) || p.Client.LastWill.QoS != 1 ||
		!p.Client.LastWill.Retained {
		t.Errorf("the will is %+v: %v", p.Client.LastWill, problems)
	}
	missing := map[string]bus.Topic{}
	for _, topic := range bus.Topics {
		missing[strings.ReplaceAll(topic.Pattern, "{adapter}", "ros")] = topic
	}
	for list, entries := range map[string]map[string]any{"mqtt_topics": p.Bridge.MQTT2ROS, "ros_topics": p.Bridge.ROS2MQTT} {
		text, err := yaml.Marshal(entries)
		if err != nil {
			t.Fatal(err)
		}
		var listed map[string]any
		var topics map[string]bridged
		if err := yaml.Unmarshal(text, &listed); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, name := range listed[list].([]any) {
			names = append(names, name.(string))
		}
		delete(entries, list)
		if text, err = yaml.Marshal(entries); err == nil {
			err = yaml.UnmarshalStrict(text, &topics)
		}
		slices.Sort(names)
		if err != nil || !slices.Equal(names, slices.Sorted(maps.Keys(topics))) {
			t.Errorf("%s lists %v, and there are parameters of %v: %v", list, names, slices.Sorted(maps.Keys(topics)), err)
		}
		for name, b := range topics {
			mqtt := b.MQTTTopic
			if list == "mqtt_topics" {
				mqtt = name
			}
			want, ok := missing[mqtt]
			if !ok {
				t.Errorf("%s is no topic of the bus, or is there twice", mqtt)
				continue
			}
			delete(missing, mqtt)
			if b.ROSType != "std_msgs/msg/String" || b.Advanced.MQTT.QoS != want.QoS || list == "ros_topics" &&
				b.Advanced.MQTT.Retained != want.Retained {
				t.Errorf("%s is bridged as %+v, want QoS %d, retained %v", mqtt, b, want.QoS, want.Retained)
			}
		}
	}
	for topic := range missing {
		t.Errorf("%s is not bridged", topic)
	}
}

// TestROSParametersAreThoseOfTheNode compares units.yaml with what the node declares.
func TestROSParametersAreThoseOfTheNode(t *testing.T) {
	p := parameters[map[string]any](t, "ros2/units.yaml", "troupe_units")
	text, err := os.ReadFile("ros2/troupe_ros.py")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "PARAMETERS = {")
	table, _, _ = strings.Cut(table, "\n}")
	var declared []string
	for _, m := range regexp.MustCompile(`"(\w+)": `).FindAllStringSubmatch(table, -1) {
		declared = append(declared, m[1])
	}
	points := p["points"].(map[string]any)
	delete(p, "points")
	slices.Sort(declared)
	if got := slices.Sorted(maps.Keys(p)); !slices.Equal(got, declared) {
		t.Errorf("units.yaml has %v, the node declares %v", got, declared)
	}
	for _, name := range p["point_names"].([]any) {
		if at, ok := points[name.(string)].([]any); !ok || len(at) != 3 {
			t.Errorf("point %s is at %v, want x, y and the heading", name, points[name.(string)])
		}
	}
}
