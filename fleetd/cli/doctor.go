package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"troupe/broker/link"
	"troupe/fleetd/doctor"
	"troupe/fleetd/setup"
	"troupe/schema"
	"troupe/schema/envfile"
)

// settingsFile has fleetd's settings where the package installed it.
const settingsFile = "/etc/troupe/fleetd.env"

func (sh *shell) doctorCommand() *cobra.Command {
	var env string
	c := &cobra.Command{
		Use: "doctor", Short: "look for the usual mistakes around a fleetd", Args: cobra.NoArgs,
		Long: `Look for the usual mistakes around the fleetd of this computer: in its settings, its clock, its disk
and the rights of its files, its keys and certificates, its database and the age of the backup, its addresses,
the broker and its engine, and the other instances of the fleet. Each finding is ok, warn or fail, and says what to
do. It changes nothing, and may run beside fleetd serve. Its exit code is 1 if something fails.

The flags, the environment and the file of --config are those of fleetd serve. The service has its environment in the file
of --env, which is read where the flags and the environment of this command say nothing; so run it as root, who may read it.`,
		Example: "  sudo fleetd doctor\n  fleetd doctor --env /etc/troupe/fleetd.env -o json",
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			if sh.output != outTable && sh.output != outJSON {
				return usage("-o %s: write table or json", sh.output)
			}
			c, err := sh.doctorConfig(cmd, env)
			return sh.examine(cmd, c, err)
		}),
	}
	serve := sh.serveCommand()
	serve.Flags().VisitAll(func(f *pflag.Flag) {
		copied := *f
		copied.Hidden = true
		c.Flags().AddFlag(&copied)
	})
	c.Flags().StringVar(&env, "env", "", "file with the environment of the service; default: "+settingsFile+", if it is there")
	c.Flags().Lookup("config").Hidden = false
	return c
}

// examine prints what the doctor found, and fails if something does not work.
func (sh *shell) examine(cmd *cobra.Command, c doctor.Config, unread error) error {
	found := doctor.Examine(cmd.Context(), c, unread, doctor.ThisComputer())
	if err := found.Write(sh.Out, sh.output == outJSON); err != nil {
		return fmt.Errorf("print the findings: %w", err)
	}
	if found.Fails() {
		return &failure{code: exitError, err: errors.New("this fleetd does not work as it is")}
	}
	return nil
}

// doctorConfig reads the settings of fleetd. c.From is set also if there is an error.
func (sh *shell) doctorConfig(cmd *cobra.Command, env string) (c doctor.Config, err error) {
	named := env != ""
	env = orElse(env, settingsFile)
	with := *sh
	c.From = "the flags and the environment"
	text, err := os.ReadFile(env)
	switch {
	case err == nil:
		variables, err := envfile.Read(string(text))
		if err != nil {
			return c, fmt.Errorf("%s: %w", env, err)
		}
		c.From, c.Private = env, []string{env}
		for name, value := range variables {
			if strings.HasPrefix(name, envPrefix) && sh.Env(name) == "" {
				with.Environ = append(with.Environ, name+"="+value)
			}
		}
		c.OfOthers = brokerSecrets(filepath.Join(filepath.Dir(env), "broker.env"))
	case named || !errors.Is(err, fs.ErrNotExist):
		return c, fmt.Errorf("read the settings: %w; run this as root, or name the file with --env", err)
	}
	k, err := with.settings(cmd.Flags())
	if err != nil {
		return c, err
	}
	return doctorSettings(c, k, sh.version)
}

func doctorSettings(c doctor.Config, k *koanf.Koanf, version string) (doctor.Config, error) {
	c.User, c.Version = serviceUser(), version
	c.Name, c.Namespace = k.String("name"), schema.Namespace(k.String("namespace"))
	c.Database, c.Spool = k.String("database"), k.String("spool")
	if path, is := strings.CutPrefix(c.Database, "sqlite:"); is && c.Spool == "" {
		c.Spool = path + ".stops"
	}
	c.HTTP, c.HTTPCert, c.HTTPKey, c.PublicURL = k.String("http"), k.String("http-tls-cert"), k.String("http-tls-key"), k.String("public-url")
	c.Enrol, c.EnrolURL, c.EnrolCert, c.EnrolKey = k.String("enrol"), k.String("enrol-url"), k.String("enrol-tls-cert"),
		k.String("enrol-tls-key")
	c.CA, c.Brokers, c.BrokerPassword = k.String("ca"), stringList(k, "broker"), k.String(passwordSetting)
	c.BrokerFiles = link.Files{CA: k.String("broker-ca"), Cert: k.String("broker-cert"), Key: k.String("broker-key")}
	for _, file := range []string{k.String("config"), k.String("sign-key"), k.String("release-key"), k.String("oidc-client-secret-file")} {
		if file != "" {
			c.Private = append(c.Private, file)
		}
	}
	switch {
	case !schema.ValidID(c.Name):
		return c, fmt.Errorf("name %q: use a-z, 0-9 and hyphens", c.Name)
	case !schema.ValidNamespace(string(c.Namespace)):
		return c, fmt.Errorf("namespace %q: use a-z, 0-9 and hyphens", c.Namespace)
	case len(c.Brokers) == 0:
		return c, errors.New("broker: no address given; write mqtt://host:port")
	}
	engine, err := link.ParseEngine(k.String("engine"))
	c.Engine = engine
	return c, err
}

// brokerSecrets are the files with secrets of a broker on this computer, by its settings.
func brokerSecrets(env string) (files []string) {
	text, err := os.ReadFile(env)
	if err != nil {
		return nil // there is none here
	}
	all, err := envfile.Read(string(text))
	if err != nil {
		return nil // the broker says so at its start
	}
	for _, name := range []string{"TROUPE_BROKER_TLS_KEY", "TROUPE_BROKER_USERS"} {
		if all[name] != "" {
			files = append(files, all[name])
		}
	}
	return files
}

// serviceUser is the user that the service runs as, if root examines it for the service.
func serviceUser() string {
	if os.Geteuid() == 0 {
		if _, err := os.Stat(settingsFile); err == nil {
			return setup.FleetdUser
		}
	}
	return ""
}
