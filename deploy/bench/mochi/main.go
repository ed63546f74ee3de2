// Mochi is the MQTT server library of the broker alone, accepting every client: the floor of the broker in deploy/bench.
package main

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"syscall"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "mochi:", err)
		os.Exit(1)
	}
}

func serve() error {
	limits := mqtt.NewDefaultServerCapabilities()
	limits.MaximumInflight = math.MaxUint16 // as the broker's: with the default it loses messages silently
	s := mqtt.New(&mqtt.Options{Capabilities: limits,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))})
	if err := s.AddHook(new(allowAll), nil); err != nil {
		return err
	}
	l := listeners.NewTCP(listeners.Config{ID: "tcp", Address: "127.0.0.1:0"})
	if err := s.AddListener(l); err != nil {
		return err
	}
	if err := s.Serve(); err != nil {
		return err
	}
	fmt.Printf("ready mqtt=%s\n", l.Address())
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, os.Interrupt)
	<-end
	return s.Close()
}

// allowAll lets every client in, to every topic.
type allowAll struct{ mqtt.HookBase }

func (*allowAll) ID() string { return "allow all" }

func (*allowAll) Provides(kind byte) bool {
	return kind == mqtt.OnConnectAuthenticate || kind == mqtt.OnACLCheck
}

func (*allowAll) OnConnectAuthenticate(*mqtt.Client, packets.Packet) bool { return true }

func (*allowAll) OnACLCheck(*mqtt.Client, string, bool) bool { return true }
