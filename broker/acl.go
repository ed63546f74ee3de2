package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"troupe/broker/access"
	"troupe/schema"
)

// aclCommand exports the access rules for another broker.
func aclCommand() *cobra.Command {
	var kind, usersFile, passwordsFile, namespace string
	var open, ownAccount bool
	c := &cobra.Command{
		Use: "acl --for mosquitto|nats --users FILE", Args: cobra.NoArgs,
		Short: "print the access rules of a users file for another broker",
		Long: `Prints the rules that this broker enforces for the users of a file, for another broker.
There each robot needs a line in the file, also one with a certificate: r1 robot.

For mosquitto it is an acl_file of Mosquitto 2. Passwords are not included: Mosquitto
has its own password file, made with mosquitto_passwd, and should refuse clients that
are not in it (allow_anonymous false).

For nats it is the block authorization of nats-server 2, which its configuration includes.
Without --passwords each user has a client certificate, and the listener of MQTT must have
tls with verify_and_map: those of robots and fleetd instances come from the fleet's CA; for
another role issue one with the subject CN=NAME,OU=ROLE. --passwords names a file of
htpasswd with bcrypt hashes (htpasswd -B): then the users of that file are printed, for a
listener that asks for no client certificates.`,
		Example: "  broker acl --for mosquitto --users users > /etc/mosquitto/troupe.acl\n" +
			"  broker acl --for nats --users users > /etc/nats/users.conf",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if kind != "mosquitto" && kind != "nats" {
				return fmt.Errorf("--for %q: rules can be printed for mosquitto and nats", kind)
			}
			switch {
			case kind == "mosquitto" && passwordsFile != "":
				return errors.New("--passwords: Mosquitto has a password_file of its own, made with mosquitto_passwd")
			case kind == "mosquitto" && ownAccount:
				return errors.New("--own-account is for nats: Mosquitto has no accounts")
			case kind == "mosquitto" && open:
				return errors.New("--open is for nats: Mosquitto admits everybody with allow_anonymous true")
			case open && passwordsFile != "":
				return errors.New("--open and --passwords exclude each other: with --open no user has a password")
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
			var passwords map[string]string
			switch {
			case open:
				passwords = map[string]string{}
				for _, u := range users.All() {
					passwords[u.Name] = ""
				}
			case passwordsFile != "":
				if passwords, err = readPasswords(passwordsFile, users); err != nil {
					return err
				}
			}
			return access.WriteNATSUsers(cmd.OutOrStdout(), users.All(), schema.Namespace(namespace), passwords, ownAccount)
		},
	}
	f := c.Flags()
	f.StringVar(&kind, "for", "", "target broker: mosquitto or nats")
	f.StringVar(&usersFile, "users", "", "file with lines \"name role [argon2id-hash]\"")
	f.StringVar(&passwordsFile, "passwords", "", "for nats: file of htpasswd -B with bcrypt hashes; without it all have certificates")
	f.BoolVar(&open, "open", false, "for nats: admit every user by name without a password; for a trial on one's own machine")
	f.StringVar(&namespace, "namespace", string(schema.DefaultNamespace), "first level of every topic")
	f.BoolVar(&ownAccount, "own-account", false,
		"for nats: print an account with the name of the namespace, for the block accounts of a nats-server of several fleets")
	_ = c.MarkFlagRequired("for")
	_ = c.MarkFlagRequired("users")
	return c
}

// readPasswords reads the hashes of a file of htpasswd by user.
func readPasswords(path string, users access.Users) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--passwords: %w", err)
	}
	passwords := map[string]string{}
	var faults []error
	for n, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, hash, _ := strings.Cut(line, ":")
		if _, known := users.Named(name); !known {
			faults = append(faults, fmt.Errorf("%s:%d: the users file has no user %.64q", path, n+1, name))
		} else if !bcryptHash.MatchString(hash) {
			faults = append(faults, fmt.Errorf("%s:%d: the password of %s is not a bcrypt hash: make it with htpasswd -B", path, n+1, name))
		}
		passwords[name] = hash
	}
	return passwords, errors.Join(faults...)
}

// bcryptHash is what nats-server takes for a hash; it takes other text for the password itself.
var bcryptHash = regexp.MustCompile(`^\$2[abxy]\$\d{2}\$[./A-Za-z0-9]{53}$`)
