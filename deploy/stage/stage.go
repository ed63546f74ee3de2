package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"troupe/broker/server"
	"troupe/deploy/library"
	"troupe/fleetd/fleet"
	"troupe/fleetd/store"
	"troupe/robotd/robot"
	"troupe/schema"
	"troupe/schema/score"
)

// MaxRobots bounds the robots of one stage: each is a complete robotd.
const MaxRobots = 200

// Config says what the stage runs and where it keeps its data.
type Config struct {
	Robots   int    // r1, r2 and so on
	MQTT     string // address of this machine; port 0 takes a free one
	HTTP     string // likewise
	Data     string // directory
	Database string // sqlite (a file in Data), sqlite:PATH or postgres://...

	Logger *slog.Logger
	Say    func(line string) // receives each line of progress for people, from several goroutines
	Ready  func(Addresses)   // called once every robot performs, or Say has said why not

	Story    string  // the shipped story of every robot; empty = they take them in turn
	Scenario string  // file that every robot plays once all perform; empty = none
	Speed    float64 // of the scenario's clock, and of batteries and temperatures; 0 = 1

	// Body is BodyLaptop to make this machine the body of r1; empty: all bodies are simulated.
	Body     string
	Adapters string // directory of the shipped adapters, for BodyLaptop
	Face     string // address of the page with the face, for BodyLaptop; port 0 takes a free one

	// Adjust may change a robot's configuration before it starts.
	Adjust func(*robot.Config)
}

// Addresses are where the stage listens.
type Addresses struct {
	MQTT string // host:port
	HTTP string // URL
	Face string // URL; empty without BodyLaptop
}

func (c *Config) setDefaults() error {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Say == nil {
		c.Say = func(string) {}
	}
	if c.Ready == nil {
		c.Ready = func(Addresses) {}
	}
	switch {
	case c.Robots < 1 || c.Robots > MaxRobots:
		return fmt.Errorf("%d robots: want 1 to %d", c.Robots, MaxRobots)
	case c.Data == "":
		return errors.New("no data directory is given")
	case c.Body != "" && c.Body != BodySim && c.Body != BodyLaptop:
		return fmt.Errorf("body %q: want %s or %s", c.Body, BodySim, BodyLaptop)
	case c.Body == BodyLaptop && c.Scenario != "":
		return errors.New("a scenario plays into simulated bodies only: leave the scenario out, or the body")
	case c.Database == "sqlite":
		c.Database = "sqlite:" + filepath.Join(c.Data, "fleet.db")
	}
	return nil
}

// Run starts everything, makes the robots perform, and serves until ctx ends. Then
// it ends the robots first, so that fleetd receives their last messages, then
// fleetd, then the broker.
func Run(ctx context.Context, cfg Config) (err error) {
	if err := cfg.setDefaults(); err != nil {
		return err
	}
	if err := checkAddresses(cfg.MQTT, cfg.HTTP); err != nil {
		return err
	}
	stories, err := stories(cfg.Story)
	if err != nil {
		return err
	}
	scenario, err := newScenario(&cfg)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	unlock, err := lock(cfg.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := cfg.checkDatabase(ctx); err != nil {
		return unlessEnded(ctx, err)
	}

	caller := ctx
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	broker, err := server.New(server.Config{MQTT: cfg.MQTT, Dev: true, Logger: cfg.Logger.With("program", "broker")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, broker.Close()) }()
	cfg.Say("the broker listens on " + broker.Addr())

	fleetd, url, err := cfg.startFleetd(ctx, fail, broker)
	if fleetd == nil {
		return unlessEnded(caller, err)
	}
	defer func() { err = errors.Join(err, endPrograms(fleetd)) }()
	cfg.Say("fleetd serves " + url + " and keeps its fleet in " + withoutPassword(cfg.Database))

	laptop, err := cfg.startLaptop(ctx, fail)
	if laptop == nil {
		return unlessEnded(caller, err)
	}
	defer func() { err = errors.Join(err, laptop.end()) }()

	scenario.fleetd = newFleetdClient(url)
	defer scenario.end()
	var robots []*program
	defer func() { err = errors.Join(err, endPrograms(robots...)) }()
	for i := range cfg.Robots {
		robots = append(robots, cfg.startRobot(fail, broker, url, stories, scenario, laptop, i))
	}
	o := operatorSetup{cfg: cfg, fleetd: newFleetdClient(url), stories: stories, refused: map[string]bool{}}
	defer o.fleetd.close()
	if err := o.run(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	if ctx.Err() == nil {
		cfg.Ready(Addresses{MQTT: broker.Addr(), HTTP: url, Face: laptop.face})
		scenario.start()
	}
	<-ctx.Done()
	return nil // the error of a program that ended by itself comes from endPrograms
}

// unlessEnded returns the error of a start, or nil if ctx has ended: a start that was interrupted
// may fail in any way.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// databaseTimeout bounds the check whether the database answers.
const databaseTimeout = 8 * time.Second

// checkDatabase checks before anything is started that the database answers.
// fleetd itself would wait for it.
func (c *Config) checkDatabase(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	db, err := store.Open(ctx, c.Database, time.Now(), c.Logger.With("program", "fleetd"))
	if err != nil {
		return &DatabaseError{Database: withoutPassword(c.Database), Why: err}
	}
	return db.Close()
}

// A DatabaseError reports a database that does not answer.
type DatabaseError struct {
	Database string // without a password
	Why      error
}

func (e *DatabaseError) Error() string { return fmt.Sprintf("database %s: %v", e.Database, e.Why) }

func (e *DatabaseError) Unwrap() error { return e.Why }

// startFleetd starts fleetd and returns its URL once it listens. If ctx ends first, it ends
// fleetd and returns no program; an error is then why fleetd ended by itself.
func (c *Config) startFleetd(ctx context.Context, fail context.CancelCauseFunc, broker *server.Server) (*program, string, error) {
	listening := make(chan string, 1)
	fleetd := startProgram("fleetd", fail, func(ctx context.Context) error {
		return fleet.Run(ctx, fleet.Config{
			HTTP: c.HTTP, Database: c.Database, Spool: filepath.Join(c.Data, "fleetd.stops"), Dial: broker.Dial, Dev: true, Version: "demo",
			Logger: c.Logger.With("program", "fleetd"),
		}, func(f *fleet.Fleet) { listening <- f.URL() })
	})
	select {
	case url := <-listening:
		return fleetd, url, nil
	case <-ctx.Done():
		return nil, "", endPrograms(fleetd)
	}
}

// startRobot starts robot number i, counted from 0. Its configuration makes it
// perform its story at boot and also without a link to fleetd.
func (c *Config) startRobot(fail context.CancelCauseFunc, broker *server.Server, fleetd string, stories []score.Story, scenario *scenario,
	laptop *laptop, i int) *program {
	id := robotID(i)
	cfg := robot.Config{
		ID: id, Dial: broker.Dial, Fleetd: fleetd, Data: filepath.Join(c.Data, id), Version: "demo",
		BootMode: schema.ModeAto, Link: robot.LinkRules{Loss: map[schema.ModeID]schema.LinkLoss{schema.ModeAto: schema.LinkLossContinue}},
		Languages: languagesFor(stories, i), Logger: c.Logger.With("program", "robotd"),
		Scenario: scenario.of(i),
	}
	cfg.Sim.Speed = c.Speed
	if c.Adjust != nil {
		c.Adjust(&cfg)
	}
	if i == 0 {
		laptop.become(&cfg)
	}
	return startProgram(id, fail, func(ctx context.Context) error { return c.superviseRobot(ctx, cfg) })
}

// restartDelay is how long a robot that rebooted stays off.
const restartDelay = time.Second

// superviseRobot stands in for a service manager: it starts the robot again after sys/reboot, and after a call of
// a mode that took too long, such as on a busy computer, so that the other robots go on. Any other end, such as of a
// robot that cannot start, ends the stage.
func (c *Config) superviseRobot(ctx context.Context, cfg robot.Config) error {
	for {
		err := robot.Run(ctx, cfg)
		switch {
		case errors.Is(err, robot.ErrReboot):
			c.Say(cfg.ID + " ended by sys/reboot and is started again; it does not move until safety/enable")
		case errors.Is(err, robot.ErrHung):
			c.Say(fmt.Sprintf("%s ended: %v; it is started again, and does not move until safety/enable; "+
				"its alert says which mode failed, and mode/set tries that mode again", cfg.ID, err))
		default:
			return err
		}
		select {
		case <-time.After(restartDelay):
		case <-ctx.Done():
			return nil
		}
	}
}

func robotID(i int) string { return fmt.Sprintf("r%d", i+1) }

// stories returns the shipped stories, or only one: those that loop first, so that the first
// robots perform for as long as people watch. The labels of a story say for which robots it
// is meant.
func stories(only string) ([]score.Story, error) {
	documents, err := library.Stories()
	if err != nil {
		return nil, err
	}
	var out []score.Story
	var all []string
	for _, d := range documents {
		s, problems := score.ParseStory(d.Text)
		if len(problems) > 0 {
			return nil, fmt.Errorf("%s: %v", d.Path, problems[0])
		}
		all = append(all, s.ID)
		if only == "" || s.ID == only {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there is no shipped story %s; there are %s", only, strings.Join(all, ", "))
	}
	slices.SortStableFunc(out, func(a, b score.Story) int { return cmp.Compare(loops(b), loops(a)) })
	return out, nil
}

func loops(s score.Story) int {
	if s.Repeat.Loop {
		return 1
	}
	return 0
}

// storyFor returns the story of robot number i: the robots take the stories in
// turn.
func storyFor(stories []score.Story, i int) score.Story { return stories[i%len(stories)] }

// languagesFor returns the languages of robot number i. Robots with the same story
// take turns in which of its languages comes first.
func languagesFor(stories []score.Story, i int) []string {
	languages := storyFor(stories, i).Languages
	if len(languages) == 0 {
		return []string{"en"}
	}
	first := i / len(stories) % len(languages)
	return append(append([]string(nil), languages[first:]...), languages[:first]...)
}

// withoutPassword returns the database's address without what may be a password.
func withoutPassword(database string) string {
	scheme, rest, isURL := strings.Cut(database, "://")
	switch {
	case !isURL && strings.HasPrefix(database, "sqlite:"):
		return database
	case !isURL:
		return "the database that was given" // any part of it may be secret
	}
	rest, _, _ = strings.Cut(rest, "?")
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		rest = rest[at+1:]
	}
	return scheme + "://" + rest
}
