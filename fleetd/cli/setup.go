package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"troupe/fleetd/atomicfile"
	"troupe/fleetd/setup"
	"troupe/fleetd/setup/apply"
	"troupe/schema"
	"troupe/schema/score"
)

// setupFlags are the flags of setup.
type setupFlags struct {
	file, save           string
	set                  []string
	dryRun, yes, replace bool
	example              bool
}

func (sh *shell) setupCommand() *cobra.Command {
	var f setupFlags
	c := &cobra.Command{
		Use: "setup", Short: "set a server of a fleet up: keys, certificates, settings, the first account", Args: cobra.NoArgs,
		Long: `Set up fleetd and the broker on this computer: make the fleet's own CA, the certificates of the servers, the
settings of fleetd and the broker, the first administrator and the token of the first robot.

On a terminal it asks. --file takes the answers from a file instead; --save writes such a file, and --example prints one.
It shows the plan first, and makes nothing if an answer is wrong: it then names each one with its line.

It may run again: it keeps what exists, and says so. Settings that differ from the answers are refused,
unless --replace changes them; other lines of the files stay as they are.

The passwords and the token are shown once on a terminal. Without one they are written into the file
accounts.secrets_file of the answers, for its owner only.`,
		Example: "  sudo fleetd setup\n  sudo fleetd setup --file answers.yaml --dry-run\n  sudo fleetd setup --file answers.yaml --set " +
			"database.address=sqlite --yes",
		RunE: run(func(cmd *cobra.Command, _ []string) error { return sh.setup(cmd, f) }),
	}
	fl := c.Flags()
	fl.StringVarP(&f.file, "file", "f", "", "YAML file with the answers; nothing is asked then")
	fl.StringArrayVar(&f.set, "set", nil,
		"KEY=ANSWER, such as http.listen=0.0.0.0:9443, which takes precedence over the file; may be repeated")
	fl.StringVar(&f.save, "save", "", "write the answers into this file, for another time")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show the plan, and make nothing")
	fl.BoolVar(&f.yes, "yes", false, "make it without asking, as with --file")
	fl.BoolVar(&f.replace, "replace", false, "change existing settings and certificates that differ from the answers or expire soon")
	fl.BoolVar(&f.example, "example", false, "print a file of answers, with what each means")
	return c
}

func (sh *shell) setup(cmd *cobra.Command, f setupFlags) error {
	if f.example {
		_, err := io.WriteString(sh.Out, setup.Answers{Hosts: []string{"fleet.example", "192.0.2.10"},
			Sites: []string{"lobby"}}.Complete().Write())
		return err
	}
	if err := serverSystem(runtime.GOOS); err != nil {
		return err
	}
	work, err := sh.prepareSetup(cmd, f)
	if err != nil {
		return err
	}
	a := work.Plan.Answers
	fmt.Fprint(sh.Out, setupPlanText(work))
	for _, note := range work.Notes {
		fmt.Fprintf(sh.Out, "note: %s\n", note)
	}
	if f.save != "" {
		if err := atomicfile.Write(f.save, []byte(a.Write()), 0o600); err != nil {
			return fmt.Errorf("write the answers: %w", err)
		}
	}
	switch {
	case f.dryRun:
		fmt.Fprintln(sh.Out, "nothing was made: --dry-run")
		return nil
	case !work.Changes():
		fmt.Fprintln(sh.Out, "no change: everything is set up already")
		return nil
	}
	if f.file == "" && !f.yes {
		if yes, err := sh.confirmed(cmd.Context(), "Make it? yes or no"); err != nil || !yes {
			return &failure{code: exitConflict, err: errors.Join(errors.New("nothing was made"), err)}
		}
	}
	secrets, err := work.Run(cmd.Context())
	if shown := sh.showSecrets(a, secrets); shown != nil || err != nil {
		return errors.Join(err, shown)
	}
	fmt.Fprint(sh.Out, nextSteps(work, secrets))
	return nil
}

// prepareSetup reads the answers, or asks for them, and compares their plan with what exists.
func (sh *shell) prepareSetup(cmd *cobra.Command, f setupFlags) (work *apply.Work, err error) {
	if f.file == "" && len(f.set) == 0 {
		if in, ok := sh.In.(*os.File); !ok || !term.IsTerminal(int(in.Fd())) {
			return nil, usage("there is no terminal to ask on: name a file of answers with --file; fleetd setup --example prints one")
		}
		return sh.prepareAsked(cmd, f)
	}
	var text []byte
	if f.file != "" {
		if text, err = os.ReadFile(f.file); err != nil {
			return nil, usage("--file: %v", err)
		}
	}
	set := map[string]string{}
	for _, one := range f.set {
		key, value, ok := strings.Cut(one, "=")
		if !ok || !slices.ContainsFunc(setup.Questions, func(q setup.Question) bool { return q.Key == key }) {
			return nil, usage("--set %s: write KEY=ANSWER, with a key of fleetd setup --example", key)
		}
		set[key] = value
	}
	a, found := setup.ReadWith(text, set)
	if len(found) == 0 {
		work, found = apply.Prepare(cmd.Context(), a, f.replace, apply.ThisComputer())
	}
	if len(found) > 0 {
		return nil, sh.refuseAnswers(f, text, found)
	}
	return work, nil
}

// refuseAnswers names every problem, with its line.
func (sh *shell) refuseAnswers(f setupFlags, text []byte, found []schema.Problem) error {
	if len(text) > 0 {
		found = score.Locate(text, found)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "nothing was made: %d answers cannot be used", len(found))
	if len(found) == 1 {
		b.Reset()
		b.WriteString("nothing was made: 1 answer cannot be used")
	}
	for _, p := range found {
		b.WriteString("\n" + formatProblem(p, f.file, text))
	}
	return &failure{code: exitError, err: errors.New(b.String())}
}

// askLine asks for one line on the terminal; an empty one means the default.
func (sh *shell) askLine(ctx context.Context, question, otherwise string) (string, error) {
	if sh.lines == nil {
		sh.lines = bufio.NewReader(sh.In)
	}
	if otherwise != "" {
		question += " [" + otherwise + "]"
	}
	fmt.Fprintf(sh.Err, "%s: ", question)
	line, err := typed(ctx, func() (string, error) { return sh.lines.ReadString('\n') })
	if ctx.Err() != nil {
		fmt.Fprintln(sh.Err)
	}
	if err != nil && line == "" {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return orElse(strings.TrimSpace(line), otherwise), nil
}

// confirmed asks for yes or no, again until it is one of them; an empty line means yes.
func (sh *shell) confirmed(ctx context.Context, question string) (bool, error) {
	for {
		answer, err := sh.askLine(ctx, question, "yes")
		if err != nil {
			return false, err
		}
		switch strings.ToLower(answer) {
		case "yes", "y":
			return true, nil
		case "no", "n":
			return false, nil
		}
	}
}

// askQuestions asks on the terminal, each question again until its answer has no problem; with keys only those questions.
func (sh *shell) askQuestions(ctx context.Context, a *setup.Answers, keys []string) error {
	for i := 0; i < len(setup.Questions); i++ {
		q := setup.Questions[i]
		if !q.Asked(*a) {
			q.Set(a, "") // of an earlier round, before another answer changed
			continue
		}
		if keys != nil && !slices.Contains(keys, q.Key) {
			continue
		}
		standard := q.Default(a.Complete())
		otherwise := orElse(q.Value(*a), standard)
		if q.Key == "hosts" && otherwise == "" {
			otherwise = strings.Join(thisMachine(), ", ")
		}
		answer, err := sh.askLine(ctx, q.Ask, otherwise)
		if err != nil {
			return err
		}
		if answer == "?" {
			fmt.Fprintf(sh.Err, "  %s\n", q.Help)
			i--
			continue
		}
		before := q.Value(*a)
		q.Set(a, answer)
		if found := q.Problems(*a); len(found) > 0 {
			for _, p := range found {
				fmt.Fprintf(sh.Err, "  %s; %s\n", p.Detail, p.Hint)
			}
			q.Set(a, before)
			i--
		} else if answer == standard {
			q.Set(a, "") // so that it follows the other answers
		}
	}
	return nil
}

// prepareAsked prepares answers that a person gives on the terminal, and asks again for those that cannot be used.
func (sh *shell) prepareAsked(cmd *cobra.Command, f setupFlags) (*apply.Work, error) {
	fmt.Fprint(sh.Err, "Answer each question; an empty line takes what is in brackets, ? explains it.\n\n")
	var given setup.Answers
	keys := []string(nil)
	for {
		if err := sh.askQuestions(cmd.Context(), &given, keys); err != nil {
			return nil, err
		}
		var work *apply.Work
		a := given.Complete()
		found := a.Problems()
		if len(found) == 0 {
			work, found = apply.Prepare(cmd.Context(), a, f.replace, apply.ThisComputer())
		}
		if len(found) == 0 {
			return work, nil
		}
		keys = []string{}
		for _, p := range found {
			fmt.Fprintf(sh.Err, "  %s; %s\n", p.Detail, p.Hint)
			for _, q := range setup.Questions {
				if p.Pointer == q.Pointer() || strings.HasPrefix(p.Pointer, q.Pointer()+"/") {
					keys = append(keys, q.Key)
				}
			}
		}
		if len(keys) == 0 {
			return nil, sh.refuseAnswers(f, nil, found)
		}
	}
}

// thisMachine is the name and an address of this computer.
func thisMachine() (hosts []string) {
	if name, err := os.Hostname(); err == nil && name != "" && name != "localhost" {
		hosts = append(hosts, strings.ToLower(name))
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return hosts
	}
	for _, at := range addresses {
		if ip, ok := at.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() && ip.IP.To4() != nil {
			return append(hosts, ip.IP.String())
		}
	}
	return hosts
}

// setupPlanText is the plan with what happens to each step.
func setupPlanText(w *apply.Work) string {
	var b strings.Builder
	for _, o := range w.Outcomes {
		line := fmt.Sprintf("%-8s %s", o.State, o.Step.Describe())
		if o.Detail != "" {
			line += " (" + o.Detail + ")"
		}
		b.WriteString(line + "\n")
		if o.State == apply.Kept {
			continue
		}
		for _, s := range o.Settings {
			fmt.Fprintf(&b, "           %s\n", s.Shown())
		}
	}
	return b.String()
}

// showSecrets shows what nobody can read again: on a terminal, or else in a file, since many can read what automation
// keeps of an output.
func (sh *shell) showSecrets(a setup.Answers, s apply.Secrets) error {
	if s.Empty() {
		return nil
	}
	var b strings.Builder
	for _, p := range s.Passwords {
		fmt.Fprintf(&b, "%s has the password  %s\n", p.Who, p.Password)
	}
	if s.Line != "" {
		fmt.Fprintf(&b, "on the robot, once, until %s:\n  %s\n", schema.TimeOf(s.Until), s.Line)
	}
	if f, ok := unsanitized(sh.Err).(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(sh.Err, "\n%sNone of this is shown again.\n", b.String())
		if s.Line != "" {
			fmt.Fprint(sh.Err, qrCode(s.Line))
		}
		return nil
	}
	before, err := os.ReadFile(a.SecretsFile) // those of an earlier set-up
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = atomicfile.Write(a.SecretsFile, append(before, b.String()...), 0o600)
	}
	if err != nil {
		return fmt.Errorf("the passwords are lost: %w; when the file can be written, start fleetd with --reset-admin, which makes the user "+
			"admin", err)
	}
	fmt.Fprintf(sh.Out, "the first passwords and the token are in %s: delete it when you have them\n", a.SecretsFile)
	return nil
}

// nextSteps says what a person does after the set-up.
func nextSteps(w *apply.Work, s apply.Secrets) string {
	var b strings.Builder
	a := w.Plan.Answers
	step := 0
	add := func(what string, lines ...string) {
		step++
		fmt.Fprintf(&b, "%d. %s\n", step, what)
		for _, line := range lines {
			b.WriteString("     " + line + "\n")
		}
	}
	ca := filepath.Join(a.Config, "ca")
	b.WriteString("next:\n")
	doctor := "fleetd doctor --env " + w.Plan.FleetdEnv()
	if !w.First() {
		if a.Broker == setup.Elsewhere {
			add("copy the files of the broker to "+a.BrokerHost+", if one of them was changed", copyToBroker(a)...)
		}
		if services := w.Restarted(); len(services) > 0 {
			add("restart what reads its settings at the start; other files are read again as they are", "systemctl restart "+
				strings.Join(services, " "))
		}
		add("see whether all of it works", doctor)
		return b.String()
	}
	switch a.Broker {
	case setup.Elsewhere:
		add("copy the files of the broker to "+a.BrokerHost+" and start it there", copyToBroker(a)...)
		add("start fleetd", "systemctl enable --now fleetd")
	case setup.Existing:
		add("start fleetd", "systemctl enable --now fleetd")
	default:
		add("start both programs", "systemctl enable --now troupe-broker fleetd")
	}
	add("see whether all of it works", doctor)
	login := "fleetd login --server " + a.PublicURL + " --user " + a.Admin
	if a.Console == setup.OwnTLS {
		login += " --server-ca " + filepath.Join(ca, "root.pem")
	}
	add("sign in, here or at "+a.PublicURL, login)
	if s.Line != "" {
		add("on the robot "+a.First+" type the line of the token, then start it", "robotd enrol --token TOKEN --server URL --data "+
			"/var/lib/troupe/robotd", "systemctl enable --now robotd", "robotd doctor --data /var/lib/troupe/robotd")
	} else {
		add("make a token for the first robot, and type on the robot what is printed", "fleetd robot enrol r1")
	}
	more := "fleetd robot enrol r2"
	if len(a.Sites) > 0 {
		more += " -l site=" + a.Sites[0]
	}
	add("see that it is there, and enrol the next", "fleetd robot list", more)
	add("move the key of the root offline, such as to a stick in a safe", filepath.Join(ca, "root.key.pem"))
	return b.String()
}

// copyToBroker are the lines that bring the files of the broker to its machine.
func copyToBroker(a setup.Answers) []string {
	return []string{
		"scp -r " + filepath.Join(a.Config, "for-the-broker") + "/. root@" + a.BrokerHost + ":/etc/troupe/",
		"ssh root@" + a.BrokerHost +
			" 'chmod 755 /etc/troupe && chown troupe-broker /etc/troupe/broker.* && systemctl enable --now troupe-broker'",
	}
}
