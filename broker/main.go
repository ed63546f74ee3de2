// Command broker is the MQTT broker between robots and fleetd.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
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
	"troupe/schema/argon2id"
	"troupe/schema/build"
	"troupe/schema/logs"
	"troupe/schema/program"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	limitMemory()
	if os.Getenv("GOGC") == "" {
		// Most of the heap is documents and connections, which stay: as much again is not needed for what comes and goes.
		debug.SetGCPercent(50)
	}
	// A small heap would be collected many times a second under load. It counts as larger by what is never used, and
	// so takes no memory.
	defer runtime.KeepAlive(make([]byte, 32<<20))
	root := command()
	// Packages install the program as troupe-broker, and completions complete the name of the root.
	root.Use = strings.Replace(root.Use, "broker", filepath.Base(os.Args[0]), 1)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "broker:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "broker (--users FILE | --client-ca FILE | --dev)",
		Short: "MQTT broker for fleets of performing robots",
		Long: `MQTT 3.1.1 broker for fleets of performing robots. It authenticates clients and checks
the topic, size and rate of their messages; it stores nothing on disk.

Robots and fleetd instances authenticate by certificate (--client-ca) or, like all other
clients, by name and password (--users). A client with a certificate needs no line in
the users file. A line without a hash lets any client on this machine use that name; if other machines can reach the broker and nothing proves the name, the broker
does not start, or refuses the changed file. The files of users, certificates and keys
are read again when they change and at SIGHUP. An invalid file is reported in the log
and changes nothing. A client that loses its rights is disconnected at once.

Each flag can also be set in the environment: --users as TROUPE_BROKER_USERS. The items of a
list, as of --ws-origin, are separated by commas.`,
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd) },
	}
	f := root.Flags()
	f.String("mqtt", "127.0.0.1:1883", "address for plain MQTT; port 0 selects a free one; empty disables it")
	f.String("mqtts", "", "address for MQTT over TLS 1.3, such as 0.0.0.0:8883")
	f.String("ws", "", "address for MQTT over WebSocket, such as 127.0.0.1:8083, with path "+websocket.Path)
	f.String("wss", "", "address for MQTT over WebSocket and TLS, such as 0.0.0.0:8084")
	f.Bool("plaintext", false, "allow --mqtt, --ws and --http on addresses that other machines can reach, on a network that you control")
	f.StringSlice("ws-origin", nil, "web origin from which browsers may connect, such as https://console.example; may be repeated")
	f.String("tls-cert", "", "PEM file with the server's certificate and its chain up to but without the root")
	f.String("tls-key", "", "PEM file with the key of --tls-cert")
	f.String("client-ca", "", "PEM file with the CAs of the clients' certificates")
	f.String("crl", "", "file with the certificate revocation lists of these CAs, PEM or DER")
	f.String("http", "127.0.0.1:9101", "address for /healthz, /status, /clients and /metrics; empty disables it")
	f.StringSlice("http-host", nil, "host name allowed in requests to --http besides localhost and IP addresses, "+
		"such as that of a scraper's target; may be repeated")
	f.Bool("pprof", false,
		"also serve profiles of the broker for go tool pprof, below /debug/pprof/ of --http, which must be an address of this machine")
	f.String("users", "", "file with lines \"name role [argon2id-hash]\"; the role of a console names its robot: console:r1")
	f.Bool("dev", false, "accept every client without a password; only on addresses of this machine")
	f.String("namespace", string(schema.DefaultNamespace), "first level of every topic")
	f.String("log-level", "info", "debug, info, warn or error")
	f.String("log-format", "text", "text or json: a line of the log is key=value, or a JSON object")
	root.AddCommand(
		aclCommand(), natsUsersCommand(), explainCommand(), program.Describe(),
		&cobra.Command{Use: "hash-password", Short: "read a password from standard input and print its hash for the users file",
			Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return hashPassword(cmd) }},
		&cobra.Command{Use: "version", Short: "print the version", Args: cobra.NoArgs,
			Run: func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), "broker", build.Version()) }},
	)
	return root
}

// banner is printed at every log level.
const banner = `
  ****************************************************************
  *  NOT PROTECTED: there are no passwords. Everybody on this    *
  *  machine can operate every robot. Never use it near people.  *
  ****************************************************************

`

const envPrefix = "TROUPE_BROKER_"

func serve(cmd *cobra.Command) error {
	k := koanf.New(".")
	fromEnv := env.Provider(".", env.Opt{Prefix: envPrefix, TransformFunc: func(variable, value string) (string, any) {
		key := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(variable, envPrefix)), "_", "-")
		if f := cmd.Flags().Lookup(key); f != nil && f.Value.Type() == "stringSlice" {
			return key, strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		}
		return key, value
	}})
	if err := k.Load(fromEnv, nil); err != nil {
		return fmt.Errorf("read environment: %w", err)
	}
	for _, key := range k.Keys() {
		variable := envPrefix + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
		f := cmd.Flags().Lookup(key)
		if f == nil {
			return fmt.Errorf("environment variable %s is not known", variable)
		}
		if text := k.String(key); text != "" && f.Value.Type() == "bool" {
			if _, err := strconv.ParseBool(text); err != nil { // koanf would read it as false
				return fmt.Errorf("environment variable %s: %q is neither true nor false", variable, text)
			}
		}
	}
	if err := k.Load(posflag.Provider(cmd.Flags(), ".", k), nil); err != nil {
		return fmt.Errorf("read flags: %w", err)
	}
	log, err := logs.New(os.Stderr, k.String("log-format"), k.String("log-level"))
	if err != nil {
		return err
	}
	cfg := server.Config{
		MQTT: k.String("mqtt"), MQTTS: k.String("mqtts"), WS: k.String("ws"), WSS: k.String("wss"), HTTP: k.String("http"),
		Plaintext: k.Bool("plaintext"), Origins: k.Strings("ws-origin"), HTTPHosts: k.Strings("http-host"), Pprof: k.Bool("pprof"),
		Files: server.Files{
			Users: k.String("users"), Cert: k.String("tls-cert"), Key: k.String("tls-key"),
			ClientCA: k.String("client-ca"), CRL: k.String("crl"),
		},
		Dev: k.Bool("dev"), Namespace: schema.Namespace(k.String("namespace")),
		Logger: log,
	}
	if cfg.Dev {
		fmt.Fprint(cmd.ErrOrStderr(), banner)
	}
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	cfg.Reload = reload
	return server.Run(cmd.Context(), cfg, func(s *server.Server) { fmt.Fprintln(cmd.OutOrStdout(), readyLine(s)) })
}

// readyLine is the line on standard output that says where the broker listens. Plain MQTT
// and HTTP are always in it, for scripts that wait for the line.
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
		return access.Users{}, fmt.Errorf("read users file: %w", err)
	}
	defer f.Close()
	users, err := access.ParseUsers(f)
	if err != nil {
		return access.Users{}, fmt.Errorf("parse users file %s:\n%w", path, err)
	}
	return users, nil
}

func hashPassword(cmd *cobra.Command) error {
	line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	password := strings.TrimRight(line, "\r\n")
	if password == "" {
		return errors.Join(errors.New("no password on standard input"), err)
	}
	var salt [argon2id.SaltBytes]byte
	if _, err := rand.Read(salt[:]); err != nil {
		return fmt.Errorf("make salt: %w", err)
	}
	fmt.Fprintln(cmd.OutOrStdout(), argon2id.HashPassword(password, salt))
	return nil
}
