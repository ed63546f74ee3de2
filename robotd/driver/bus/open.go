package bus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/broker/link"
	"troupe/schema/bus"
)

const (
	// waitForAdapters is how long Open waits for them if the configuration says nothing else.
	waitForAdapters = 30 * time.Second
	// Open reports adapters that are missing first when the retained presences of all others
	// have come, and then again and again.
	firstReport, reportEvery = 500 * time.Millisecond, 5 * time.Second
)

// Open connects to the bus and waits until every adapter is there.
func (b *Bus) Open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkNames(b.config.Adapters); err != nil {
		return err
	}
	b.mu.Lock()
	if b.opened || b.shut {
		b.mu.Unlock()
		return errors.New("it was opened before")
	}
	b.opened = true
	b.mu.Unlock()
	loop, quit := context.WithCancel(context.Background())
	b.quit = quit
	l, err := link.Open(loop, b.linkConfig())
	if err != nil {
		quit()
		close(b.events)
		close(b.closed)
		return err
	}
	b.link = l
	go b.run(loop)
	enough, report := time.NewTimer(b.config.Wait), time.NewTimer(firstReport)
	defer enough.Stop()
	defer report.Stop()
	for {
		select {
		case <-b.ready:
			return nil
		case <-ctx.Done():
			return errors.Join(ctx.Err(), b.Close())
		case <-report.C:
			b.enqueue(false, b.reportMissing)
			report.Reset(reportEvery)
			continue
		case <-enough.C:
		}
		missing := make(chan string, 1)
		b.enqueue(false, func() { missing <- b.missing() })
		return errors.Join(fmt.Errorf("after %v %s; robotd ends, start it again when this is done", b.config.Wait, <-missing), b.Close())
	}
}

func checkNames(names []string) error {
	if len(names) == 0 {
		return errors.New("no adapter: name those that serve its units (--bus-adapters)")
	}
	for i, name := range names {
		if !bus.ValidName(name) {
			return fmt.Errorf("%q is no name of an adapter: want 1 to 32 of a-z, 0-9 and hyphens, and not robotd", name)
		}
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("adapter %s is named twice", name)
		}
	}
	return nil
}

// reportMissing logs each adapter that Open waits for.
func (b *Bus) reportMissing() {
	log := b.log.With("on_the_bus", strings.Join(b.present(), ","))
	waits := false
	for _, a := range b.adapters {
		if a.watch.health == good {
			continue
		}
		if waits = true; a.wrong() != "" {
			log.Warn("waiting for adapter: correct what it sends", "adapter", a.name, "problem", a.wrong())
		} else {
			log.Warn("waiting for adapter: start it", "adapter", a.name)
		}
	}
	if !waits && !b.isReady {
		log.Warn("the adapters do not fit together", "why", b.refused())
	}
	if b.config.Waiting != nil && !b.isReady {
		b.config.Waiting(b.missing())
	}
}

// present lists the adapters that are on the bus, those of the body or not.
func (b *Bus) present() []string {
	names := slices.Collect(maps.Keys(b.unused))
	for _, a := range b.adapters {
		if a.watch.present {
			names = append(names, a.name)
		}
	}
	slices.Sort(names)
	return names
}

// missing says which adapters are not there, and what is known about why.
func (b *Bus) missing() string {
	var list []string
	for _, a := range b.adapters {
		switch {
		case a.watch.health == good:
		case a.wrong() != "":
			list = append(list, "adapter "+a.name+" is wrong: "+a.wrong()+"; correct it, and try it with robotd driver check")
		default:
			on := "no adapter"
			if names := b.present(); len(names) > 0 {
				on = strings.Join(names, ", ")
			}
			list = append(list, "adapter "+a.name+" is not there: start it, or leave it out of --bus-adapters (on the bus: "+on+")")
		}
	}
	if len(list) == 0 {
		return b.refused()
	}
	return strings.Join(list, "; ")
}
