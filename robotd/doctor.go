package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"troupe/robotd/robot"
	"troupe/schema/envfile"
)

// settingsFile has robotd's settings where the package installed it.
const settingsFile = "/etc/troupe/robotd.env"

// errFindings is the error of an examination that found something that fails.
var errFindings = errors.New("the robot does not work as it is")

func doctorCommand() *cobra.Command {
	var output, env string
	c := &cobra.Command{
		Use: "doctor", Short: "look for the usual mistakes around this robot", Args: cobra.NoArgs,
		Long: `Look for the usual mistakes around this robot: in its settings, its clock, how busy it is, its disk, its
identity, whether robotd runs and what keeps the robot at rest, the way to its broker, the
adapters of its body, its sound device and its page. Each finding is ok, warn or fail, and says what to do. It changes nothing, and may run
beside robotd. Its exit status is 1 if something fails.

The flags, the environment and the file of --config are those of robotd. The service has its environment in the file
of --env, which is read where the flags and the environment of this command say nothing; so run it as root, who may read it.`,
		Example: "  sudo robotd doctor --data /var/lib/troupe/robotd\n  robotd doctor --config robot.yaml -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "" && output != "json" {
				return fmt.Errorf("output %q: want json, or none", output)
			}
			environ, err := environmentOf(env)
			var cfg robot.Config
			if err == nil {
				cfg, _, err = robot.Load(cmd.Flags(), environ)
			}
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
	c.Flags().StringVar(&env, "env", "", "file with the environment of the service; default: "+settingsFile+", if it is there")
	c.Flags().StringVarP(&output, "output", "o", "", "json: findings as a JSON list")
	return c
}

// environmentOf is the environment of this process, and before it what the file adds; "" = settingsFile, if it is there.
func environmentOf(file string) ([]string, error) {
	text, err := os.ReadFile(cmp.Or(file, settingsFile))
	if file == "" && errors.Is(err, fs.ErrNotExist) {
		return os.Environ(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w; run this as root, or name the file with --env", err)
	}
	variables, err := envfile.Read(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(file, settingsFile), err)
	}
	environ := os.Environ()
	for name, value := range variables {
		if os.Getenv(name) == "" {
			environ = append(environ, name+"="+value)
		}
	}
	return environ, nil
}
