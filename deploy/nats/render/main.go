// Command render prints the configuration of one node of nats-server.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"troupe/deploy/nats"
)

func main() {
	if err := command().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	var n nats.Node
	c := &cobra.Command{
		Use: "render", Short: "print the configuration of one node of nats-server", Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		Example: "  go run ./deploy/nats/render --name n1 --mqtt 0.0.0.0:8883 --cluster 10.0.0.1:6222 \\\n" +
			"    --nodes n1.example:6222,n2.example:6222,n3.example:6222 > nats.conf",
		RunE: func(c *cobra.Command, _ []string) error { return nats.WriteConfig(c.OutOrStdout(), n) },
	}
	f := c.Flags()
	f.StringVar(&n.Name, "name", "n1", "name of the node")
	f.StringVar(&n.MQTT, "mqtt", "0.0.0.0:8883", "address for MQTT")
	f.StringVar(&n.Local, "local", "", "address of the protocol of NATS itself (default 127.0.0.1:4222)")
	f.StringVar(&n.HTTP, "http", "", "address of the state of the node (default 127.0.0.1:8222)")
	f.StringVar(&n.Store, "store", "/var/lib/nats", "folder for what it keeps")
	f.StringVar(&n.PIDFile, "pid-file", "", "file for its process id")
	f.StringVar(&n.Users, "users", "users.conf", "file that broker acl --for nats printed, relative to the configuration")
	f.StringVar(&n.Cluster, "cluster", "", "address for the other nodes; empty for a node of its own")
	f.StringSliceVar(&n.Nodes, "nodes", nil,
		"these addresses of all three nodes, as name:port; with TLS the names are those of their certificates")
	f.StringVar(&n.Certificate, "cert", "/etc/nats/server.pem", "certificate of the node; empty: no TLS, and clients need passwords")
	f.StringVar(&n.Key, "key", "/etc/nats/server.key", "its key")
	f.StringVar(&n.CA, "ca", "/etc/nats/ca.pem", "CA of the fleet")
	return c
}
