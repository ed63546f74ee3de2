package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"troupe/deploy/launch"
	"troupe/schema"
)

var restBenches = []bench{{
	Name: "rest",
	What: "a fleet in which nothing happens: bytes and processor time of each robot in the broker, fleetd and robotd, and what a " +
		"console gets",
	Floor: "as many clients with one subscription, which send only PINGREQs, at the broker's library alone and at Mosquitto",
	Run:   measureRest,
}}

// restFor is how long nothing happens while it is measured. States are published once a minute or more often.
const restFor = 60 * time.Second

func measureRest(ctx context.Context, r *run) error {
	small, large := r.sizes()
	period := r.size(int(restFor/time.Second), 10)
	if err := r.restOfClients(ctx, small, time.Duration(period)*time.Second); err != nil {
		return fmt.Errorf("clients: %w", err)
	}
	r.endAll()
	for _, size := range []int{small, large} {
		if err := r.restOfFleet(ctx, size, time.Duration(period)*time.Second); err != nil {
			return fmt.Errorf("%d robots: %w", size, err)
		}
		r.endAll()
	}
	return r.restOfRobot(ctx, time.Duration(period)*time.Second)
}

// perRobot turns what a program used in a time into figures of one robot. before is its memory without robots.
func perRobot(u Use, before float64, size int, period time.Duration) Arm {
	n := float64(size)
	a := Arm{Name: fmt.Sprintf("%s, %d robots", u.Program, size), Values: []Value{
		{"memory of a robot", "B", (u.RSSBytes - before) / n},
		{"CPU of a robot", "µs/s", 1e6 * u.CPUSeconds / period.Seconds() / n},
		{"CPU", "cores", u.CPUSeconds / period.Seconds()},
		{"memory", "B", u.RSSBytes},
	}}
	if u.WrittenBytes > 0 {
		a.Values = append(a.Values, Value{"written", "B/s", u.WrittenBytes / period.Seconds()})
	}
	return a
}

// restOfClients measures what connections alone cost a broker.
func (r *run) restOfClients(ctx context.Context, size int, period time.Duration) error {
	mochi, err := r.startMochi(ctx)
	if err != nil {
		return err
	}
	mosquitto, err := r.startMosquitto(ctx)
	if err != nil {
		return err
	}
	brokers := []*launch.Program{mochi.Program, mosquitto.Program}
	empty := measure(brokers...).from
	var clients []*client
	for _, b := range []*broker{mochi, mosquitto} {
		for i, id := range crowdNames(size) {
			c, err := dial(b.addr, clientOptions{id: id, user: id, from: i})
			if err != nil {
				return err
			}
			r.atEnd(c.close)
			if err := c.subscribe(1, topics.Topic(schema.TopicCmd, id, "+", "+", "+")); err != nil {
				return err
			}
			clients = append(clients, c)
		}
	}
	r.say(fmt.Sprintf("%d clients of each broker rest for %v", size, period))
	m := measure(brokers...)
	// One PINGREQ of each client within ten seconds, as robots send them.
	for range int(period / (10 * time.Second)) {
		for _, c := range clients {
			if err := c.ping(); err != nil {
				return err
			}
		}
		if err := sleep(ctx, 10*time.Second); err != nil {
			return err
		}
	}
	for i, u := range m.uses() {
		a := perRobot(u, empty[i].rssBytes, size, period)
		a.Name = fmt.Sprintf("%s, %d clients", u.Program, size)
		r.report(a)
	}
	return nil
}

// restOfFleet measures the broker, fleetd, and the stream of one console.
func (r *run) restOfFleet(ctx context.Context, size int, period time.Duration) error {
	b, err := r.startBroker(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	database := "sqlite:" + r.path(fmt.Sprintf("rest-%d.db", size))
	d, err := r.startFleetd(ctx, database, b.addr)
	if err != nil {
		return err
	}
	empty := measure(b.Program, d.Program).from
	crowd, err := r.startCrowd(ctx, size, b.addr, "--spread", fmt.Sprint(crowdAddresses))
	if err != nil {
		return err
	}
	if err := d.api.awaitRobots(ctx, size, fleetLimit, r.say); err != nil {
		return err
	}
	// What adoption needed is collected as garbage before the memory is measured.
	r.say(fmt.Sprintf("%d robots settle", size))
	if err := sleep(ctx, max(period/2, settling)); err != nil {
		return err
	}
	stream, err := r.countStream(ctx, d.api)
	if err != nil {
		return err
	}
	r.say(fmt.Sprintf("%d robots rest for %v", size, period))
	before, err := b.traffic(ctx)
	if err != nil {
		return err
	}
	m := measure(b.Program, d.Program, crowd)
	streamed := stream()
	if err := sleep(ctx, period); err != nil {
		return err
	}
	streamed = stream() - streamed
	uses := m.uses()
	after, err := b.traffic(ctx)
	if err != nil {
		return err
	}
	n, seconds := float64(size), period.Seconds()
	for i, u := range uses {
		var without float64
		if i < len(empty) {
			without = empty[i].rssBytes
		}
		a := perRobot(u, without, size, period)
		switch i {
		case 0:
			a.Values = append(a.Values, Value{"MQTT from a robot", "B/s", (after.received - before.received) / seconds / n},
				Value{"MQTT to it and to fleetd of it", "B/s", (after.sent - before.sent) / seconds / n})
		case 1:
			a.Values = append(a.Values, Value{"stream of a console", "B/s", streamed / seconds})
		}
		r.report(a)
	}
	r.step("CPU of the broker at rest", size, processorTime(uses[0].CPUSeconds))
	r.step("CPU of fleetd at rest", size, processorTime(uses[1].CPUSeconds))
	return nil
}

// processorTime is seconds of it as a duration.
func processorTime(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second))
}

// countStream opens the stream of a console, and returns what counts the bytes that came.
func (r *run) countStream(ctx context.Context, a *api) (bytes func() float64, err error) {
	ctx, stop := context.WithCancel(ctx)
	r.atEnd(stop)
	body, err := a.stream(ctx)
	if err != nil {
		return nil, err
	}
	var came atomic.Int64
	total := func() float64 { return float64(came.Load()) }
	go func() {
		defer body.Close()
		block := make([]byte, 64<<10)
		for err := error(nil); err == nil; { // until the bench ends
			var n int
			n, err = body.Read(block)
			came.Add(int64(n))
		}
	}()
	// The snapshot comes first; what is counted is what follows.
	for {
		had := total()
		if err := sleep(ctx, time.Second); err != nil {
			return nil, err
		}
		if now := total(); now > 0 && now-had < now/10 {
			return total, nil
		}
	}
}

// brokerTraffic is what a broker has read and written, in bytes of MQTT packets.
type brokerTraffic struct{ received, sent float64 }

func (b *broker) traffic(ctx context.Context) (t brokerTraffic, err error) {
	counters, err := b.counters(ctx)
	if err != nil {
		return t, err
	}
	received, ok1 := counters["bytes_received"].(float64)
	sent, ok2 := counters["bytes_sent"].(float64)
	if !ok1 || !ok2 {
		return t, errors.New("the broker's counters lack bytes_received or bytes_sent")
	}
	return brokerTraffic{received, sent}, nil
}

// counters reads the broker's counters.
func (b *broker) counters(ctx context.Context) (map[string]any, error) {
	request, err := http.NewRequestWithContext(ctx, "GET", b.http+"/status", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("read the broker's counters: %w", err)
	}
	defer response.Body.Close()
	var counters map[string]any
	if err := json.NewDecoder(response.Body).Decode(&counters); err != nil {
		return nil, fmt.Errorf("read the broker's counters: %w", err)
	}
	return counters, nil
}

// restOfRobot measures robotd itself, which has its disk and its body.
func (r *run) restOfRobot(ctx context.Context, period time.Duration) error {
	b, err := r.startBroker(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	d, err := r.startFleetd(ctx, "sqlite:"+r.path("rest-robotd.db"), b.addr)
	if err != nil {
		return err
	}
	robot, err := r.startRobot(ctx, steadyRobot, b.addr)
	if err != nil {
		return err
	}
	if err := d.api.awaitRobots(ctx, 1, fleetLimit, r.say); err != nil {
		return err
	}
	if err := sleep(ctx, settling); err != nil {
		return err
	}
	r.say(fmt.Sprintf("robotd rests for %v", period))
	m := measure(robot)
	if err := sleep(ctx, period); err != nil {
		return err
	}
	a := perRobot(m.uses()[0], 0, 1, period)
	a.Name = "robotd, a program of its own"
	r.report(a)
	return nil
}
