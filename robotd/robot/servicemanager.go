package robot

import (
	"context"
	"fmt"
	"strings"
	"time"

	"troupe/schema"
)

// ServiceManager is the service manager that has started robotd. The zero value is none.
type ServiceManager struct {
	Tell     func(state string) error // as sd_notify(3)
	Watchdog time.Duration            // within which it wants to be told that robotd is alive; 0 = never
}

// Notifications to the service manager.
const (
	tellReady    = "READY=1"
	tellStopping = "STOPPING=1"
	tellAlive    = "WATCHDOG=1"
	tellStatus   = "STATUS="
)

const (
	attendEvery = time.Second     // at most; an idle loop makes several steps in it
	statusEvery = 5 * time.Second // the pause between two looks at the robot
)

// ready says that the loop runs.
func (c *Config) ready() {
	if c.Ready != nil {
		c.Ready()
	}
	c.ServiceManager.tell(tellReady)
}

// tell does not fail: without its service manager the robot goes on.
func (s ServiceManager) tell(state string) {
	if s.Tell != nil {
		_ = s.Tell(state)
	}
}

// notifyServiceManager tells the service manager how the robot is, until the loop has ended. It says that
// robotd is alive only after the loop has made a step since it said so last.
func (s ServiceManager) notifyServiceManager(ctx, running context.Context, l *loop, robot *local) {
	if s.Tell == nil {
		return
	}
	period := attendEvery
	if s.Watchdog > 0 {
		period = min(period, s.Watchdog/4)
	}
	every := time.NewTicker(period)
	defer every.Stop()
	var seen time.Duration // of the pulse
	var looked time.Time
	status := ""
	asked := ctx.Done()
	for {
		select {
		case <-asked:
			asked = nil
			s.tell(tellStopping)
			continue
		case <-running.Done():
			if asked != nil {
				s.tell(tellStopping)
			}
			return
		case <-every.C:
		}
		if pulse := l.pulse.last(); pulse != seen {
			seen = pulse
			if s.Watchdog > 0 {
				s.tell(tellAlive)
			}
		}
		if time.Since(looked) < statusEvery {
			continue
		}
		looked = time.Now()
		if now := robot.status(running); now != status {
			status = now
			s.tell(tellStatus + now)
		}
	}
}

// status is the robot in one line.
func (l *local) status(ctx context.Context) string {
	v, err := l.View(ctx)
	if err != nil {
		return err.Error()
	}
	broker := "no broker"
	if v.State.Session != "" {
		broker = "connected to the broker"
	}
	link := string(v.State.Link.State)
	if v.State.Link.State == schema.LinkNever {
		link = "never up"
	}
	status := fmt.Sprintf("%s, %s, %s, link %s", v.State.Mode.Active, v.State.Safety.State, broker, link)
	var held []string
	for _, latch := range v.State.Safety.Latches {
		held = append(held, latch.Asker())
	}
	if len(held) > 0 {
		status += ", stopped by " + strings.Join(held, ", ")
	}
	return schema.SanitizeText(status)
}
