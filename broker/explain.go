package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"troupe/broker/access"
	"troupe/schema"
)

// question is what explain is asked.
type question struct {
	connect access.Connect
	topic   string
	retain  bool
}

// explainCommand says what the broker would do with a client.
func explainCommand() *cobra.Command {
	var (
		usersFile, namespace string
		dev, persistent      bool
		q                    question
	)
	c := &cobra.Command{
		Use: "explain (--users FILE | --dev) --user NAME [--id ID] [--topic TOPIC]", Args: cobra.NoArgs,
		Short: "say what the broker would do with a client, and why",
		Long: `Says whether the broker would accept a client of that user and client id, and what it would do
with a subscription and with a message of the client. It decides by the same rules as
the broker, asks no running broker, and checks neither password nor certificate. A robot or
fleetd that has a certificate needs a line in the file here. The topic of a subscription may have + and #.`,
		Example: `  broker explain --users users --user ann --id mqttjs_8be2476a --topic 'troupe/v1/robots/+/presence'
  broker explain --dev --user op1 --topic troupe/v1/robots/r1/cmd/op1/safety/stop`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			users := access.Dev()
			switch {
			case dev == (usersFile != ""):
				return fmt.Errorf("give either --users FILE or --dev, as to the broker")
			case !schema.ValidNamespace(namespace):
				return fmt.Errorf("--namespace %q: want 1 to 32 of a-z, 0-9 and -", namespace)
			case !dev:
				var err error
				if users, err = readUsers(usersFile); err != nil {
					return err
				}
			}
			q.connect.Protocol, q.connect.Clean = 4, !persistent
			explain(cmd.OutOrStdout(), users, schema.Namespace(namespace), q)
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&usersFile, "users", "", "file with lines \"name role [argon2id-hash]\"")
	f.BoolVar(&dev, "dev", false, "explain a broker with --dev")
	f.StringVar(&namespace, "namespace", string(schema.DefaultNamespace), "first level of every topic")
	f.StringVar(&q.connect.Name, "user", "", "MQTT user name; empty if the client gives none")
	f.StringVar(&q.connect.ClientID, "id", "", "MQTT client id; empty if the client gives none")
	f.Uint16Var(&q.connect.KeepAlive, "keep-alive", 60, "keep-alive of the client in seconds")
	f.BoolVar(&persistent, "persistent", false, "the client asks for a persistent session")
	f.StringVar(&q.topic, "topic", "", "topic or filter; empty explains CONNECT only")
	f.BoolVar(&q.retain, "retain", false, "the message has the retain flag")
	return c
}

func explain(w io.Writer, users access.Users, ns schema.Namespace, q question) {
	id, no := identify(users, q.connect)
	if no != nil {
		fmt.Fprintf(w, "connect    refused with code %d (%s): %s\n", no.Code, no.Code, no.Detail)
		return
	}
	fmt.Fprintf(w, "connect    accepted %s, as %s with role %s; %s\n", proofOf(users, id), id.Name, id.Role, sessionOf(q.connect, id))
	if q.topic == "" {
		return
	}
	rights := access.Compile(id, ns)
	if why := rights.RefusesFilter(q.topic); why != "" {
		fmt.Fprintf(w, "subscribe  refused: %s\n", why)
	} else {
		note := ""
		if strings.ContainsAny(q.topic, "+#") {
			note = "; of the matching topics the client is sent those that its role may read"
		}
		fmt.Fprintf(w, "subscribe  granted with at most QoS %d%s\n", rights.MaxQoS(), note)
	}
	if !access.ValidTopic(q.topic) {
		fmt.Fprintln(w, "publish    not possible: a message needs one topic, without + and #")
		return
	}
	switch v := rights.Judge(access.Publish{Topic: q.topic, Retain: q.retain, Size: 1}); v.Decision {
	case access.Pass:
		fmt.Fprintln(w, "publish    passed on")
	case access.Strip:
		fmt.Fprintf(w, "publish    passed on without the retain flag, with the notice %s: %s\n", v.Reason, v.Detail)
	default:
		fmt.Fprintf(w, "publish    refused with the notice %s on %s: %s\n", v.Reason, access.NoticeTopic(ns, id.Name), v.Detail)
	}
}

// identify decides about a CONNECT as the broker does, except for the password and the certificate.
func identify(users access.Users, c access.Connect) (access.Identity, *access.Refusal) {
	if no := access.CheckConnect(c); no != nil {
		return access.Identity{}, no
	}
	user, known := users.Find(c.Name)
	if !known {
		return access.Identity{}, access.UnknownUser(c.Name)
	}
	return access.Identify(c, user, "RANDOM")
}

// proofOf says how the client has to prove its name.
func proofOf(users access.Users, id access.Identity) string {
	user, named := users.Named(id.Name)
	switch {
	case named && user.Hash != nil:
		return "with the user's password"
	case id.Role == schema.RoleRobot || id.Role == schema.RoleFleetd:
		return "with a certificate of this name, or from this machine"
	}
	return "from this machine only, because the user has no password"
}

// sessionOf says under which client id the session is kept.
func sessionOf(c access.Connect, id access.Identity) string {
	s := "its session is " + id.ClientID
	switch {
	case c.ClientID == id.ClientID:
		return s + ", which a newer connection with this id ends"
	case c.Name == "" || c.ClientID == "":
		return s + ", which no other connection ends"
	}
	return s + " (the user and a digest of the client id), which a newer connection of this user with this id ends"
}
