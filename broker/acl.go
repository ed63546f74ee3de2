package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"troupe/broker/access"
	"troupe/schema"
)

// aclCommand exports the access rules for another broker.
func aclCommand() *cobra.Command {
	var kind, usersFile, passwordsFile, namespace string
	c := &cobra.Command{
		Use: "acl --for mosquitto|nats --users FILE", Args: cobra.NoArgs,
		Short: "print the access rules of a users file for another broker",
		Long: `Prints the rules that this broker enforces for the users of a file, for another broker.
There each robot needs a line in the file, also one with a certificate: r1 robot.

For mosquitto it is an acl_file of Mosquitto 2. Passwords are not included: Mosquitto
has its own password file, made with mosquitto_passwd, and should refuse clients that
are not in it (allow_anonymous false).

For nats it is the block authorization of nats-server 2. --passwords names a file of
htpasswd with bcrypt hashes (htpasswd -B); who is not in it is known by a client
certificate with the name as its common name, if the block tls has verify_and_map.`,
		Example: "  broker acl --for mosquitto --users users > /etc/mosquitto/troupe.acl\n" +
			"  broker acl --for nats --users users --passwords passwords > /etc/nats/troupe.conf",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if kind != "mosquitto" && kind != "nats" {
				return fmt.Errorf("--for %q: rules can be printed for mosquitto and nats", kind)
			}
			if kind == "mosquitto" && passwordsFile != "" {
				return fmt.Errorf("--passwords: Mosquitto reads them from a password_file of its own, made with mosquitto_passwd")
			}
			if !schema.ValidNamespace(namespace) {
				return fmt.Errorf("--namespace %q: want 1 to 32 of a-z, 0-9 and -", namespace)
			}
			users, err := readUsers(usersFile)
			if err != nil {
				return err
			}
			if kind == "mosquitto" {
				return access.WriteMosquittoACL(cmd.OutOrStdout(), users.All(), schema.Namespace(namespace))
			}
			passwords, err := readPasswords(passwordsFile, users)
			if err != nil {
				return err
			}
			return access.WriteNATSUsers(cmd.OutOrStdout(), users.All(), schema.Namespace(namespace), passwords)
		},
	}
	f := c.Flags()
	f.StringVar(&kind, "for", "", "target broker: mosquitto or nats")
	f.StringVar(&usersFile, "users", "", "file with lines \"name role [argon2id-hash]\"")
	f.StringVar(&passwordsFile, "passwords", "", "for nats: file of htpasswd -B with the bcrypt hashes of users; without it all have certificates")
	f.StringVar(&namespace, "namespace", string(schema.DefaultNamespace), "first level of every topic")
	_ = c.MarkFlagRequired("for")
	_ = c.MarkFlagRequired("users")
	return c
}

// readPasswords reads the hashes of a file of htpasswd by user. An empty path has none.
func readPasswords(path string, users access.Users) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--passwords: %w", err)
	}
	defer f.Close()
	passwords := map[string]string{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		name, hash, ok := strings.Cut(strings.TrimSpace(lines.Text()), ":")
		switch _, known := users.Named(name); {
		case name == "" && !ok:
		case !known:
			return nil, fmt.Errorf("%s:%d: the users file has no user %.64q", path, n, name)
		case !ok || !strings.HasPrefix(hash, "$2"):
			return nil, fmt.Errorf("%s:%d: the password of %s is not a bcrypt hash: make it with htpasswd -B", path, n, name)
		default:
			passwords[name] = hash
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return passwords, nil
}
