package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"troupe/robotd/robot"
)

// errFindings is the error of an examination that found something that fails.
var errFindings = errors.New("the robot does not work as it is")

func doctorCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "doctor", Short: "look for the usual mistakes around this robot", Args: cobra.NoArgs,
		Long: `Look for the usual mistakes around this robot: in its settings, its clock, how busy it is, its disk, its
identity, whether robotd runs and what keeps the robot at rest, the way to its broker, the
adapters of its body, its sound device and its page. Each finding is ok, warn or fail, and says what to do. The flags, the environment and the
file of settings are those of robotd. It changes nothing, and may run beside robotd. Its
exit status is 1 if something fails.`,
		Example: "  robotd doctor --data /var/lib/troupe/robotd\n  robotd doctor --config robot.yaml -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "" && output != "json" {
				return fmt.Errorf("output %q: want json, or none", output)
			}
			cfg, _, err := robot.Load(cmd.Flags())
			found := robot.Examine(cmd.Context(), cfg, err, robot.ThisComputer())
			if err := found.Write(cmd.OutOrStdout(), output == "json"); err != nil {
				return err
			}
			if found.Fails() {
				return errFindings
			}
			return nil
		},
	}
	robot.Flags(c.Flags())
	c.Flags().StringVarP(&output, "output", "o", "", "json: findings as a JSON list")
	return c
}
