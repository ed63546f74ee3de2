package access

import "testing"

func TestClientsOfABusUseItsTopicsAndNoOthers(t *testing.T) {
	r := Bus()
	for topic, want := range map[string]bool{"bus/base/out/state": true, "bus/robotd/presence": true, "bus/+/out/#": true, "#": true,
		"troupe/v1/robots/r1/state": false, "buses/x": false} {
		if got := r.MayRead(topic); got != want {
			t.Errorf("may read %s: %v", topic, got)
		}
	}
	if r.MayRead("$SYS/x") {
		t.Error("may read what belongs to the broker")
	}
	for _, c := range []struct {
		what string
		p    Publish
		want Decision
	}{
		{"a tick", Publish{Topic: "bus/base/in/tick", Size: 40}, Pass},
		{"a retained presence", Publish{Topic: "bus/base/out/presence", Retain: true, Size: 400}, Pass},
		{"a retained start would be obeyed by a later subscriber", Publish{Topic: "bus/base/in/start", Retain: true}, Refuse},
		{"a payload over the limit", Publish{Topic: "bus/base/out/state", Size: 64<<10 + 1}, Refuse},
		{"a command of the fleet", Publish{Topic: "troupe/v1/robots/r1/cmd/op1/safety/stop"}, Refuse},
	} {
		if got := r.Judge(c.p).Decision; got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
		if got := r.JudgeWill(c.p).Decision; got != c.want {
			t.Errorf("%s as a will: %v, want %v", c.what, got, c.want)
		}
	}
	if r.MaxQoS() < 1 {
		t.Error("starts and stops need QoS 1")
	}
}
