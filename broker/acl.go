package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"troupe/broker/access"
	"troupe/schema"
)

// aclCommand exports the access rules for another broker.
func aclCommand() *cobra.Command {
	var kind, usersFile, namespace string
	c := &cobra.Command{
		Use: "acl --for mosquitto --users FILE", Args: cobra.NoArgs,
		Short: "print the access rules of a users file for another broker",
		Long: `Prints the rules that this broker enforces for the users of a file, as an acl_file
of Mosquitto 2. For Mosquitto each robot needs a line in the file, also one with a
certificate: r1 robot. Passwords are not
included: Mosquitto has its own password file, made with mosquitto_passwd, and should
refuse clients that are not in it (allow_anonymous false).`,
		Example: "  broker acl --for mosquitto --users users > /etc/mosquitto/troupe.acl",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if kind != "mosquitto" {
				return fmt.Errorf("--for %q: rules can be printed for mosquitto only", kind)
			}
			if !schema.ValidNamespace(namespace) {
				return fmt.Errorf("--namespace %q: want 1 to 32 of a-z, 0-9 and -", namespace)
			}
			users, err := readUsers(usersFile)
			if err != nil {
				return err
			}
			return access.WriteMosquittoACL(cmd.OutOrStdout(), users.All(), schema.Namespace(namespace))
		},
	}
	f := c.Flags()
	f.StringVar(&kind, "for", "", "target broker: mosquitto")
	f.StringVar(&usersFile, "users", "", "file with lines \"name role [argon2id-hash]\"")
	f.StringVar(&namespace, "namespace", string(schema.DefaultNamespace), "first level of every topic")
	_ = c.MarkFlagRequired("for")
	_ = c.MarkFlagRequired("users")
	return c
}
