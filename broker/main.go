// Command broker is the MQTT server between robots and fleetd.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"

	"troupe/broker/access"
	"troupe/broker/server"
	"troupe/broker/websocket"
	"troupe/schema"
	"troupe/schema/build"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "broker:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "broker (--users FILE | --client-ca FILE | --dev)",
		Short: "MQTT server for fleets of performing robots",
		Long: `MQTT 3.1.1 server for fleets of performing robots. It checks who speaks, on which
topic, how large and how often; it keeps nothing on disk.

A robot or a fleetd instance says who it is by its certificate (--client-ca) or, like everybody
else, by name and password (--users). A line of the users file without a hash is
for who has a certificate; without one the name is enough on this machine only, and
the broker does not start, or does not take the new file, if others reach it and
nothing proves the name. The files of users, certificates and keys are
read again when they change, or at a SIGHUP; one that is broken changes nothing and
is told in the log. Whoever loses his right by it is disconnected at once.

Each flag may also be given in the environment: --users as TROUPE_BROKER_USERS.`,
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd) },
	}
	f := root.Flags()
	f.String("mqtt", "127.0.0.1:1883", "address for plain MQTT; port 0 takes a free one; empty for none")
	f.String("mqtts", "", "address for MQTT over TLS 1.3, such as 0.0.0.0:8883")
	f.String("ws", "", "address for MQTT over WebSocket, such as 127.0.0.1:8083; the path is "+websocket.Path)
	f.String("wss", "", "address for MQTT over WebSocket and TLS, such as 0.0.0.0:8084")
	f.Bool("plaintext", false, "let others than this machine reach --mqtt, --ws and --http, on a network that is yours alone")
	f.StringSlice("ws-origin", nil, "page that browsers may connect for, such as https://console.example; may be repeated")
	f.String("tls-cert", "", "PEM file with the server's certificate, and what signed it but for the root")
	f.String("tls-key", "", "PEM file with its key")
	f.String("client-ca", "", "PEM file with the CAs whose certificates say who a client is")
	f.String("crl", "", "file with the certificates that they revoked, PEM or DER")
	f.String("http", "127.0.0.1:9101", "address for /healthz, /status, /clients and /metrics; empty for none")
	f.StringSlice("http-host", nil, "name under which --http is asked besides localhost and IP addresses, such as that of a scraper's target; may be repeated")
	f.String("users", "", "file of lines: name role [argon2id-hash]; the role of a console has its robot: console:r1")
	f.Bool("dev", false, "take everybody without a password; only on addresses of this machine")
	f.String("namespace", string(schema.DefaultNamespace), "first level of every topic")
	f.String("log-level", "info", "debug, info, warn or error")
	root.AddCommand(
		aclCommand(),
		&cobra.Command{Use: "hash-password", Short: "read a password from standard input, write its hash for the users file", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return hashPassword(cmd) }},
		&cobra.Command{Use: "version", Short: "say which version this is", Args: cobra.NoArgs,
			Run: func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), "broker", build.Revision()) }},
	)
	return root
}

// banner is shown whatever the log level.
const banner = `
  ****************************************************************
  *  NOT PROTECTED: no passwords are asked for. Whoever is on    *
  *  this machine may operate every robot. Never near people.    *
  ****************************************************************

`

const envPrefix = "TROUPE_BROKER_"

func serve(cmd *cobra.Command) error {
	k := koanf.New(".")
	fromEnv := env.Provider(".", env.Opt{Prefix: envPrefix, TransformFunc: func(key, value string) (string, any) {
		return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(key, envPrefix)), "_", "-"), value
	}})
	if err := k.Load(fromEnv, nil); err != nil {
		return fmt.Errorf("read environment: %w", err)
	}
	for _, key := range k.Keys() {
		if cmd.Flags().Lookup(key) == nil {
			return fmt.Errorf("environment: %s%s is not known", envPrefix, strings.ToUpper(strings.ReplaceAll(key, "-", "_")))
		}
	}
	if err := k.Load(posflag.Provider(cmd.Flags(), ".", k), nil); err != nil {
		return fmt.Errorf("read flags: %w", err)
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(k.String("log-level"))); err != nil {
		return err
	}
	cfg := server.Config{
		MQTT: k.String("mqtt"), MQTTS: k.String("mqtts"), WS: k.String("ws"), WSS: k.String("wss"), HTTP: k.String("http"),
		Plaintext: k.Bool("plaintext"), Origins: k.Strings("ws-origin"), HTTPHosts: k.Strings("http-host"),
		Files: server.Files{
			Users: k.String("users"), Cert: k.String("tls-cert"), Key: k.String("tls-key"),
			ClientCA: k.String("client-ca"), CRL: k.String("crl"),
		},
		Dev: k.Bool("dev"), Namespace: schema.Namespace(k.String("namespace")),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
	}
	if cfg.Dev {
		fmt.Fprint(cmd.ErrOrStderr(), banner)
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGHUP)
	defer signal.Stop(again)
	cfg.Reload = again
	return server.Run(cmd.Context(), cfg, func(s *server.Server) { fmt.Fprintln(cmd.OutOrStdout(), readyLine(s)) })
}

// readyLine tells where the broker listens. Plain MQTT and HTTP are always in it,
// for those who wait for the line.
func readyLine(s *server.Server) string {
	page := s.HTTPAddr()
	if page != "" {
		page = "http://" + page
	}
	line := fmt.Sprintf("ready mqtt=%s http=%s", s.Addr(), page)
	for _, kind := range []string{"mqtts", "ws", "wss"} {
		if addr := s.AddrOf(kind); addr != "" {
			line += " " + kind + "=" + addr
		}
	}
	return line
}

func readUsers(path string) (access.Users, error) {
	f, err := os.Open(path)
	if err != nil {
		return access.Users{}, fmt.Errorf("users file: %w", err)
	}
	defer f.Close()
	users, err := access.ParseUsers(f)
	if err != nil {
		return access.Users{}, fmt.Errorf("users file %s:\n%w", path, err)
	}
	return users, nil
}

func hashPassword(cmd *cobra.Command) error {
	line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	password := strings.TrimRight(line, "\r\n")
	if password == "" {
		return errors.Join(errors.New("no password on standard input"), err)
	}
	var salt [access.SaltBytes]byte
	if _, err := rand.Read(salt[:]); err != nil {
		return fmt.Errorf("make salt: %w", err)
	}
	fmt.Fprintln(cmd.OutOrStdout(), access.HashPassword(password, salt))
	return nil
}
