package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"troupe/broker/link"
	"troupe/deploy/launch"
	"troupe/schema"
)

// compareCrowds connects the crowd to the three nodes, a third to each, and then to Troupe's broker, and measures both.
func (f *fleet) compareCrowds(ctx context.Context) error {
	if f.crowd < nodeCount {
		return errors.New("start with --crowd 300, or another number of simulated robots")
	}
	var programs []*launch.Program
	var urls []string
	for _, n := range f.nodes {
		programs, urls = append(programs, n.program), append(urls, "mqtt://"+n.mqtt)
	}
	if err := f.measureCrowd(ctx, link.NATS, urls, programs); err != nil {
		return err
	}
	broker, err := f.startOldBroker(ctx)
	if err != nil {
		return err
	}
	defer broker.Kill()
	return f.measureCrowd(ctx, link.Troupe, []string{f.oldBroker, f.oldBroker, f.oldBroker}, []*launch.Program{broker})
}

// measureCrowd connects a third of the crowd to each URL, and says how long that takes, what a round trip takes then, and the memory of
// the servers.
func (f *fleet) measureCrowd(ctx context.Context, engine link.Engine, urls []string, servers []*launch.Program) error {
	before := load()
	began := time.Now()
	var crowds []*launch.Program
	defer func() {
		for _, p := range crowds {
			p.Kill()
		}
	}()
	each := f.crowd / len(urls)
	for i, url := range urls {
		p, err := launch.Start(launch.Command{Name: fmt.Sprint("crowd", i+1), Path: filepath.Join(f.programs, "robotd"), Args: []string{"sim", "--count", strconv.Itoa(each),
			"--first", strconv.Itoa(1 + i*each), "--engine", string(engine), "--broker", url, "--password-file", f.passwordFile(), "--every", "100ms", "--spread", "16"}})
		if err != nil {
			return err
		}
		crowds = append(crowds, p)
	}
	for _, p := range crowds {
		want := fmt.Sprintf(" connected=%d ", each)
		if _, err := p.Await(ctx, "that all are connected", func(line string) bool { return strings.Contains(line, want) }); err != nil {
			return err
		}
	}
	connected := time.Since(began)
	if err := sleep(ctx, 5*time.Second); err != nil {
		return err
	}
	trips, err := f.roundTrips(ctx, engine, urls[0], urls[1])
	if err != nil {
		return err
	}
	var memory []string
	for _, p := range servers {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
		memory = append(memory, fmt.Sprintf("%s %d MiB", p.Name, residentMiB(string(text))))
	}
	f.say("%s: %d robots were connected after %.1f s; round trip %.1f ms, slowest of 100 %.1f ms; memory: %s; load %s to %s", engine, each*len(urls), connected.Seconds(),
		ms(trips[len(trips)/2]), ms(trips[len(trips)-1]), strings.Join(memory, ", "), before, load())
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// roundTrips sends 100 messages of QoS 0 between two addresses, and returns how long each took, the fastest first.
func (f *fleet) roundTrips(ctx context.Context, engine link.Engine, from, to string) (trips []time.Duration, err error) {
	topic := schema.DefaultNamespace.Topic(schema.TopicSim, "load", "trip")
	came := make(chan struct{}, 1)
	c := link.Config{URL: to, Engine: engine, Name: "admin", Suffix: "ear", Password: f.password, Subscribe: []link.Subscription{{Filter: topic, QoS: 0}},
		OnMessage: func(link.Message) { came <- struct{}{} }}
	ear, err := link.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = ear.Close(context.Background()) }()
	c.URL, c.Suffix, c.Subscribe, c.OnMessage = from, "mouth", nil, nil
	mouth, err := link.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = mouth.Close(context.Background()) }()
	limit, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := errors.Join(ear.WaitUp(limit), mouth.WaitUp(limit)); err != nil {
		return nil, err
	}
	for range 100 {
		began := time.Now()
		if err := mouth.Publish(limit, link.Message{Topic: topic, Payload: []byte("{}")}); err != nil {
			return nil, err
		}
		select {
		case <-came:
		case <-limit.Done():
			return nil, fmt.Errorf("a message from %s did not arrive at %s", from, to)
		}
		trips = append(trips, time.Since(began))
	}
	slices.Sort(trips)
	return trips, nil
}

// residentMiB reads the memory of a process from its file status of /proc.
func residentMiB(status string) int {
	_, after, _ := strings.Cut(status, "VmRSS:")
	kib, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	n, _ := strconv.Atoi(kib) // 0 on a system without /proc
	return n / 1024
}
