package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"troupe/robotd/identity"
	"troupe/schema"
	"troupe/schema/build"
)

// answerWithin is the timeout of one request to fleetd.
const answerWithin = 30 * time.Second

func enrolCommand() *cobra.Command {
	var token, server, data, serial string
	var again bool
	c := &cobra.Command{
		Use: "enrol --token TOKEN --server URL", Short: "get this robot's identity from fleetd, once", Args: cobra.NoArgs,
		Long: `Get this robot's identity: a key that is generated here and never leaves the robot, and
a certificate for it from fleetd. The token comes from "fleetd robot enrol". It contains
the SHA-256 of fleetd's certificate, and it is sent only to a server with that
certificate. If the answer is lost, the same command gets it again. If the robot has an
identity already, nothing is requested, unless --again is given with a new token.`,
		Example: "  robotd enrol --token TROUPE-r7-... --server https://fleetd.museum.example:8443",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if token == "-" {
				text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 1024))
				if err != nil {
					return fmt.Errorf("read the token: %w", err)
				}
				token = string(text)
			}
			return enrol(cmd.Context(), cmd.OutOrStdout(), identity.Enrolment{Data: data, Server: server, Serial: serial},
				strings.TrimSpace(token), again)
		},
	}
	f := c.Flags()
	f.StringVar(&token, "token", "", "the token; - reads it from standard input")
	f.StringVar(&server, "server", "", "address of fleetd for robots: https://host:port")
	dataFlag(f, &data)
	f.StringVar(&serial, "serial", "", "the body's serial number, if the token requires one")
	f.BoolVar(&again, "again", false, "replace the existing identity")
	for _, name := range []string{"token", "server"} {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return c
}

func enrol(ctx context.Context, out io.Writer, a identity.Enrolment, text string, again bool) error {
	there, err := identity.Load(a.Data)
	switch {
	case again || errors.Is(err, identity.ErrNone):
	case err != nil:
		return fmt.Errorf("%w; --again replaces it", err)
	default:
		fmt.Fprintf(out, "%s/identity exists already; nothing was requested, --again replaces it\n%s", a.Data, describe(there))
		if token, err := schema.ParseToken(text); err == nil && token.Robot != there.Robot {
			return fmt.Errorf("the token is for %s, and this is %s; --again makes it %s", token.Robot, there.Robot, token.Robot)
		}
		printNext(out, a.Data)
		return nil
	}
	if a.Token, err = schema.ParseToken(text); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	i, err := identity.Enrol(ctx, a)
	if err != nil {
		return fmt.Errorf("enrol %s: %w", a.Token.Robot, err)
	}
	fmt.Fprintf(out, "this is %s now\n%s", i.Robot, describe(i))
	printNext(out, a.Data)
	return nil
}

func describe(i *identity.Identity) string {
	return fmt.Sprintf("  robot        %s\n  certificate  %s, valid until %s; robotd renews it by itself\n  broker       %s\n",
		i.Robot, i.Serial(), i.Leaf().NotAfter.UTC().Format(time.DateOnly), strings.Join(i.Fleetd.Brokers, " "))
}

// serviceData is the data of robotd.service.
const serviceData = "/var/lib/troupe/robotd"

// dataFlag is --data of commands that a person types beside the service: the line that fleetd prints for a robot names
// no directory, because fleetd does not know how the robot was installed.
func dataFlag(f *pflag.FlagSet, data *string) {
	here := "./data"
	if _, err := os.Stat(serviceData); err == nil {
		here = serviceData
	}
	f.StringVar(data, "data", here, "directory for the robot's persistent data; default: "+serviceData+
		" where the package is installed, else ./data")
	f.Lookup("data").DefValue = "" // help and manual page are the same everywhere
}

func printNext(out io.Writer, data string) {
	if data == serviceData {
		fmt.Fprint(out, "next:\n  systemctl restart robotd\n")
		return
	}
	fmt.Fprintf(out, "next:\n  robotd --data %s\n", data)
}

func renewCommand() *cobra.Command {
	var data string
	c := &cobra.Command{
		Use: "renew", Short: "get this robot's next certificate now", Args: cobra.NoArgs,
		Long: `Get this robot's next certificate now, with a new key. robotd does that by itself when
two thirds of the current certificate's lifetime are over. The next connection uses the
new one.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), answerWithin)
			defer cancel()
			fleetTime, err := identity.LoadFleetTime(data)
			if err != nil { // only a wrong clock needs the stored time
				fmt.Fprintln(cmd.ErrOrStderr(), "robotd:", err)
			}
			lowerBound := identity.TimeLowerBound{Built: build.Time(), FleetTime: fleetTime}
			i, err := identity.Renew(ctx, data, func() time.Time { return lowerBound.Now(time.Now()) })
			if errors.Is(err, identity.ErrNone) {
				return fmt.Errorf("renew: there is no identity in %s: name the robot's directory with --data, such as /var/lib/troupe/robotd; a "+
					"robot that was never enrolled gets one with robotd enrol", data)
			}
			if err != nil {
				return fmt.Errorf("renew: %w", err)
			}
			fmt.Fprint(cmd.OutOrStdout(), "renewed\n"+describe(i))
			return nil
		},
	}
	dataFlag(c.Flags(), &data)
	return c
}
