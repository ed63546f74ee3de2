// Command fleetd is fleetd of a fleet: fleetd serve runs it, its other verbs ask
// one that runs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"troupe/fleetd/cli"
	"troupe/schema/build"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, cli.System(), build.Revision(), os.Args[1:]...)
	stop()
	os.Exit(code)
}
