package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"troupe/deploy/launch"
)

// vdaFolder has the peer that speaks VDA 5050.
const vdaFolder = "deploy/bench/vda5050"

// startVDA starts a vehicle and a master of vda-5050-lib, which speaks VDA 5050 over MQTT, and returns the arm of an
// instant action, until it is reported as finished.
func (r *run) startVDA(ctx context.Context, mqtt string) (arm, error) {
	if _, err := os.Stat(filepath.Join(vdaFolder, "node_modules")); err != nil {
		return arm{}, fmt.Errorf("%w: run deploy/setup/npm.sh %s", err, vdaFolder)
	}
	answers := make(chan string, 1)
	start := func(role string) (*launch.Program, error) {
		p, err := r.start(launch.Command{Name: "vda-5050-lib " + role, Path: "node", Args: []string{vdaFolder + "/peer.js", role,
			"mqtt://" + mqtt},
			OnLine: func(line string) {
				if line != "ready" {
					answers <- line
				}
			}})
		if err != nil {
			return nil, err
		}
		_, err = p.Ready(ctx)
		return p, err
	}
	vehicle, err := start("vehicle")
	if err != nil {
		return arm{}, err
	}
	master, err := start("master")
	if err != nil {
		return arm{}, err
	}
	// The master learns of the vehicle from a message that comes after its ready line.
	if err := sleep(ctx, time.Second); err != nil {
		return arm{}, err
	}
	return arm{name: "vda-5050-lib, mosquitto", of: "echo, mosquitto", programs: []*launch.Program{vehicle, master},
		sample: func(ctx context.Context) (sample, error) {
			if _, err := fmt.Fprintln(master.In, "act"); err != nil {
				return sample{}, err
			}
			select {
			case line := <-answers:
				took, finished := strings.CutPrefix(line, "took ")
				if !finished {
					return sample{}, fmt.Errorf("the instant action: %s", line)
				}
				us, err := strconv.ParseInt(took, 10, 64)
				return sample{took: time.Duration(us) * time.Microsecond}, err
			case <-time.After(answerLimit):
				return sample{lost: 1}, nil
			case <-ctx.Done():
				return sample{}, context.Cause(ctx)
			}
		}}, nil
}
