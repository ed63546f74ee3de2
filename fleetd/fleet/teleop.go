package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"troupe/fleetd/auth"
	"troupe/fleetd/command"
	"troupe/fleetd/measure"
	"troupe/fleetd/selector"
	"troupe/fleetd/teleop"
)

// newTeleop makes the hub of the sessions of people who drive robots.
func (f *Fleet) newTeleop() *teleop.Hub {
	return teleop.New(teleop.Deps{
		Log: f.log, Namespace: f.ns, Name: f.cfg.Name, Now: time.Now, Open: f.open, Robot: f.view.Robot, GiveBackControl: f.releaseControl,
		WantsSpeed: func(robot string) bool { return f.measurer.WantsSpeed(robot, time.Now()) },
		Driven: func(robot string, speedMPS float64) {
			f.measurer.Observe(measure.Driven{Robot: robot, SpeedMPS: speedMPS}, time.Now())
		},
	})
}

// releaseControl gives control of a robot back for a person who drove it.
func (f *Fleet) releaseControl(ctx context.Context, p auth.Principal, robot, by, lease, why string) error {
	args, err := json.Marshal(map[string]string{"lease": lease})
	if err != nil {
		return fmt.Errorf("release control of %s: %w", robot, err)
	}
	one := selector.Selector{IDs: []string{robot}}
	targets, _ := f.view.Targets(one, false)
	x, problems := command.Expand(command.Request{Verb: "control/release", Args: args, Selector: one.String(), By: by, Why: why}, targets,
		f.Now(), func() string { return uuid.Must(uuid.NewV7()).String() })
	if len(problems) > 0 {
		return fmt.Errorf("release control of %s: %w", robot, errors.New(problems[0].String()))
	}
	x.Batch.Principal = p.ID
	_, err = f.dispatcher.Issue(ctx, x.Batch, x.Commands, false)
	return err
}
