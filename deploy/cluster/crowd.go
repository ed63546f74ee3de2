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
	"sync"
	"sync/atomic"
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
	crowd, err := f.startCrowd(ctx, engine, schema.DefaultNamespace, "s", urls)
	defer endAll(crowd)
	if err != nil {
		return err
	}
	connected := time.Since(began)
	if err := sleep(ctx, 5*time.Second); err != nil {
		return err
	}
	p, err := f.newPair(ctx, engine, schema.DefaultNamespace, urls[0], urls[1])
	if err != nil {
		return err
	}
	defer p.close()
	trips, err := p.trips(ctx, 0)
	if err != nil {
		return err
	}
	var memory []string
	for _, server := range servers {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", server.PID))
		memory = append(memory, fmt.Sprintf("%s %d MiB", server.Name, residentMiB(string(text))))
	}
	f.say("%s: %d robots were connected after %.1f s; round trip %.1f ms, slowest of 100 %.1f ms; memory: %s; load %s to %s",
		engine, f.crowd/len(urls)*len(urls), connected.Seconds(), ms(trips[len(trips)/2]), ms(trips[len(trips)-1]), strings.Join(memory, ", "),
		before, load())
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// startCrowd connects a third of the crowd to each URL, and waits until all are connected.
func (f *fleet) startCrowd(
	ctx context.Context, engine link.Engine, ns schema.Namespace, prefix string, urls []string,
) (crowd []*launch.Program, err error) {
	each := f.crowd / len(urls)
	for i, url := range urls {
		p, err := launch.Start(launch.Command{Name: fmt.Sprint(prefix, i+1), Path: filepath.Join(f.programs, "robotd"), Args: []string{
			"sim", "--count", strconv.Itoa(each), "--prefix", prefix, "--first", strconv.Itoa(1 + i*each), "--engine", string(engine), "--namespace",
			string(ns), "--broker", url,
			"--password-file", f.passwordFile(), "--every", "100ms", "--spread", "16",
		}})
		if err != nil {
			return crowd, err
		}
		crowd = append(crowd, p)
	}
	for _, p := range crowd {
		want := fmt.Sprintf(" connected=%d ", each)
		if _, err := p.Await(ctx, "that all are connected", func(line string) bool { return strings.Contains(line, want) }); err != nil {
			return crowd, err
		}
	}
	return crowd, nil
}

func endAll(programs []*launch.Program) {
	for _, p := range programs {
		p.Kill()
	}
}

// A pair is two clients of an administrator, of which one sends to the other.
type pair struct {
	mouth, ear *link.Link
	topic      string
	came       chan struct{}
}

func (f *fleet) newPair(ctx context.Context, engine link.Engine, ns schema.Namespace, from, to string) (p *pair, err error) {
	p = &pair{topic: ns.Topic(schema.TopicSim, "load", "trip"), came: make(chan struct{}, 1)}
	c := link.Config{
		URL: to, Engine: engine, Name: "admin", Suffix: "ear", Password: f.password,
		Subscribe: []link.Subscription{{Filter: p.topic, QoS: 0}}, OnMessage: func(link.Message) { p.came <- struct{}{} },
	}
	if ns == neighbour {
		c.Name = "admin-t"
	}
	if p.ear, err = link.Open(ctx, c); err != nil {
		return nil, err
	}
	c.URL, c.Suffix, c.Subscribe, c.OnMessage = from, "mouth", nil, nil
	if p.mouth, err = link.Open(ctx, c); err != nil {
		_ = p.ear.Close(ctx)
		return nil, err
	}
	limit, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := errors.Join(p.ear.WaitUp(limit), p.mouth.WaitUp(limit)); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *pair) close() {
	_ = p.mouth.Close(context.Background())
	_ = p.ear.Close(context.Background())
}

// trips sends messages of QoS 0, one every 10 ms, for so long, at least 100, and returns how long each took, the fastest first.
func (p *pair) trips(ctx context.Context, during time.Duration) (trips []time.Duration, err error) {
	limit, cancel := context.WithTimeout(ctx, during+startLimit)
	defer cancel()
	for end := time.Now().Add(during); len(trips) < 100 || time.Now().Before(end); {
		began := time.Now()
		if err := p.mouth.Publish(limit, link.Message{Topic: p.topic, Payload: []byte("{}")}); err != nil {
			return nil, err
		}
		select {
		case <-p.came:
		case <-limit.Done():
			return nil, errors.New("a message did not arrive at the other node")
		}
		trips = append(trips, time.Since(began))
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return nil, err
		}
	}
	slices.Sort(trips)
	return trips, nil
}

// neighbours connects the crowds of two fleets, and says what one notices of a burst in the other one, and of the loss of the node that
// leads messages there.
func (f *fleet) neighbours(ctx context.Context) error {
	if f.crowd < nodeCount {
		return errors.New("start with --crowd 300, or another number of simulated robots of each fleet")
	}
	lost, err := f.leaderOf(ctx, "MQTT_msgs")
	if err != nil {
		return err
	}
	var urls []string
	var others []*node
	for _, n := range f.nodes {
		urls = append(urls, "mqtt://"+n.mqtt)
		if n != lost {
			others = append(others, n)
		}
	}
	for prefix, ns := range map[string]schema.Namespace{"s": schema.DefaultNamespace, "t": neighbour} {
		crowd, err := f.startCrowd(ctx, link.NATS, ns, prefix, urls)
		defer endAll(crowd)
		if err != nil {
			return err
		}
	}
	f.say("%d robots of each of two fleets are connected; load %s", f.crowd/len(urls)*len(urls), load())
	p, err := f.newPair(ctx, link.NATS, neighbour, "mqtt://"+others[0].mqtt, "mqtt://"+others[1].mqtt)
	if err != nil {
		return err
	}
	defer p.close()
	measure := func(what string, during time.Duration) error {
		trips, err := p.trips(ctx, during)
		if err == nil {
			f.say("%s: a round trip in the other fleet takes %.2f ms, the slowest of %d %.1f ms; load %s",
				what, ms(trips[len(trips)/2]), len(trips), ms(trips[len(trips)-1]), load())
		}
		return err
	}
	const during = 10 * time.Second
	if err := measure("in quiet", during); err != nil {
		return err
	}
	ended, end := context.WithCancel(ctx)
	burst := make(chan int)
	go func() { burst <- f.burst(ended, lost) }()
	err = measure("in a burst", during)
	end()
	f.say("the burst had %d messages that were acknowledged", <-burst)
	if err != nil {
		return err
	}
	if err := f.kill(ctx, lost.name); err != nil {
		return err
	}
	return measure("after the loss of "+lost.name, during)
}

// burst sends messages of QoS 1 to a node until ctx ends, as fast as they are acknowledged, 64 at a time, and counts them.
func (f *fleet) burst(ctx context.Context, to *node) (acknowledged int) {
	l, err := f.client(ctx, "burst", to, link.Config{})
	if err != nil {
		f.say("burst: %v", err)
		return 0
	}
	defer func() { _ = l.Close(context.Background()) }()
	var count atomic.Int64
	var senders sync.WaitGroup
	for range 64 {
		senders.Go(func() {
			for ctx.Err() == nil {
				m := link.Message{Topic: schema.DefaultNamespace.Topic(schema.TopicSim, "load", "burst"), Payload: make([]byte, 1024), QoS: 1}
				if l.PublishWait(ctx, m) == nil {
					count.Add(1)
				}
			}
		})
	}
	senders.Wait()
	return int(count.Load())
}

// residentMiB reads the memory of a process from its file status of /proc.
func residentMiB(status string) int {
	_, after, _ := strings.Cut(status, "VmRSS:")
	kib, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	n, _ := strconv.Atoi(kib) // 0 on a system without /proc
	return n / 1024
}
