package e2e

import (
	"os"

	"troupe/deploy/natstest"
)

// startNATS starts one node of NATS with JetStream and nothing retained, whose users need no password, as with broker --dev.
func (w *world) startNATS() {
	w.t.Helper()
	w.runNATS(w.usersFile(), "", "--open")
}

// runNATS starts one node with the rights of these users, and further lines of its block mqtt.
func (w *world) runNATS(users, mqtt string, flags ...string) {
	w.t.Helper()
	program, err := natstest.Program()
	if err != nil {
		w.t.Fatal(err)
	}
	folder, err := os.MkdirTemp(w.folder, "nats-")
	if err != nil {
		w.t.Fatal(err)
	}
	w.address = ""
	config := natstest.Configure(w.t, folder, w.rulesFor("nats", users, flags...), mqtt)
	w.broker = launch(w.t, "nats-server", program, []string{"-c", config}, nil)
	w.broker.log.await(w.t, "nats-server", "that it listens for MQTT", func(line string) bool {
		w.address = max(w.address, natstest.Address(line))
		return w.address != ""
	})
}
