// Command fleetd is the fleet server and its client: fleetd serve runs the server,
// and most other commands send a request to a running one.
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
	code := cli.Main(ctx, cli.System(), build.Version(), os.Args[1:]...)
	stop()
	os.Exit(code)
}
