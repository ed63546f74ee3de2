package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

var storyBenches = []bench{{
	Name:  "story",
	What:  "a story with a new sound of 96 KiB is assigned to all robots, until each one has fetched, accepted and reported it",
	Floor: "the same with a tenth of the robots",
	Run:   measureStories,
}}

// A benchStory is a story that no robot has yet.
type benchStory struct{ name string }

// soundSeconds is the length of its sound: 96 KiB at 8,000 samples of 16 bits a second.
const soundSeconds = 6

// publishStory publishes a story with an act that plays a sound. Each round has a story and a sound of its own.
func (f *fleet) publishStory(ctx context.Context, round int) (benchStory, error) {
	s := benchStory{fmt.Sprintf("bench-%d", round)}
	folder := f.path(fmt.Sprintf("story-%d-%d", f.size, round))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return s, err
	}
	sound := filepath.Join(folder, s.name+"-sound.wav")
	for name, text := range map[string][]byte{
		sound: noise(round),
		filepath.Join(folder, "act.yaml"): fmt.Appendf(nil, "act: %[1]s-act\nname: {en: Bench}\nactions:\n"+
			"  - {type: sound, start_ms: 0, end_ms: 5000, sound: %[1]s-sound, volume: 0.1}\n", s.name),
		filepath.Join(folder, "story.yaml"): fmt.Appendf(nil, "story: %[1]s\nname: {en: Bench}\nrepeat: loop\nacts:\n  - {act: %[1]s-act}\n",
			s.name),
	} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return s, err
		}
	}
	if err := f.cli(ctx, "asset", "put", sound); err != nil {
		return s, err
	}
	return s, f.cli(ctx, "publish", "-f", folder)
}

// cli runs fleetd's command line against the fleetd of the fleet.
func (f *fleet) cli(ctx context.Context, args ...string) error {
	c := f.tree("fleetd", append([]string{"--server", f.fleetd.api.url}, args...)...)
	if out, err := exec.CommandContext(ctx, c.Path, c.Args...).CombinedOutput(); err != nil {
		return fmt.Errorf("fleetd %v: %w\n%s", args, err, out)
	}
	return nil
}

// noise is a WAV file whose bytes differ with every seed.
func noise(seed int) []byte {
	const rate, sampleBytes = 8000, 2
	size := uint32(rate * sampleBytes * soundSeconds)
	le := binary.LittleEndian
	b := append([]byte("RIFF"), le.AppendUint32(nil, 36+size)...)
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(le.AppendUint16(b, 1), 1) // PCM, one channel
	b = le.AppendUint32(le.AppendUint32(b, rate), rate*sampleBytes)
	b = le.AppendUint16(le.AppendUint16(b, sampleBytes), 8*sampleBytes)
	b = le.AppendUint32(append(b, "data"...), size)
	random := uint32(seed)*2654435761 + 1
	for range size / sampleBytes {
		random = random*1664525 + 1013904223
		b = le.AppendUint16(b, uint16(random>>20)) // 4,096 of 65,536: quiet
	}
	return b
}

// The goals of a story.
const (
	smallStoryGoal = 3 * time.Second  // 1,000 robots
	storyGoal      = 60 * time.Second // 10,000 robots
)

// measureStories assigns stories to fleets of both sizes.
func measureStories(ctx context.Context, r *run) error {
	small, large := r.sizes()
	for _, size := range []int{small, large} {
		f, err := r.startFleet(ctx, size, "sqlite:"+r.path(fmt.Sprintf("story-%d.db", size)))
		if err != nil {
			return err
		}
		if err := sleep(ctx, settling); err != nil {
			return err
		}
		if err := f.measureStory(ctx); err != nil {
			return fmt.Errorf("%d robots: %w", size, err)
		}
		r.endAll()
	}
	return nil
}

func (f *fleet) measureStory(ctx context.Context) error {
	a := Arm{Name: fmt.Sprintf("story to %d robots", f.size)}
	var requests, all []time.Duration
	for round := range f.run.size(3, 2) {
		s, err := f.publishStory(ctx, round)
		if err != nil {
			return err
		}
		if err := sleep(ctx, settling); err != nil {
			return err
		}
		m := measure(append(f.programs(), f.crowd)...)
		request, took, err := f.assign(ctx, s)
		if err != nil {
			return err
		}
		requests, all = append(requests, request), append(all, took)
		a.Uses = addUses(a.Uses, m.uses())
		f.say(fmt.Sprintf("story to %d robots: answered after %v, all have it after %v", f.size, request.Round(time.Millisecond),
			took.Round(time.Millisecond)))
	}
	a.Latency = latencyOf(all)
	f.figure(&a, "answer of the API", median(requests), 0)
	f.figure(&a, "every robot has it", median(all), storyGoal)
	if f.size == 1000 && median(all) > smallStoryGoal {
		f.note("a story to 1,000 robots: %v MISSES %v", median(all).Round(time.Millisecond), smallStoryGoal)
	}
	f.step("story, answer of the API", f.size, requests...)
	f.step("story, every robot has it", f.size, all...)
	f.report(a)
	return nil
}

// assign assigns the story to all robots. It returns when fleetd answered, and when it knew that every robot has the story.
func (f *fleet) assign(ctx context.Context, s benchStory) (request, all time.Duration, err error) {
	var done struct{ Updated []string }
	began := time.Now()
	if _, err := f.fleetd.api.do(ctx, "POST", "/assignments", map[string]any{"story": s.name, "selector": everyRobot, "apply": "now",
		"why": "bench"}, &done); err != nil {
		return 0, 0, err
	}
	request = time.Since(began)
	if len(done.Updated) != f.size {
		return 0, 0, fmt.Errorf("the story is new for %d of %d robots", len(done.Updated), f.size)
	}
	for end := began.Add(fleetLimit); ; {
		var pending, current struct{ Robots []struct{ ID string } }
		asked := time.Now()
		// The short answer first: the list of those that have it is long.
		if _, err := f.fleetd.api.do(ctx, "GET", "/robots?story_state=pending&story_state=refused&story_state=none", nil, &pending); err != nil {
			return 0, 0, err
		}
		if len(pending.Robots) == 0 {
			_, err := f.fleetd.api.do(ctx, "GET", "/robots?story_state=current&story="+s.name, nil, &current)
			if err != nil || len(current.Robots) == f.size {
				return request, asked.Sub(began), err
			}
		}
		if time.Now().After(end) {
			return 0, 0, fmt.Errorf("%w: %d robots do not have the story %v after its assignment", errLost, len(pending.Robots), fleetLimit)
		}
		if err := sleep(ctx, max(countsEvery, 4*time.Since(asked))); err != nil {
			return 0, 0, err
		}
	}
}
