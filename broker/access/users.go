package access

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"troupe/schema"
	"troupe/schema/argon2id"
)

// User is a line of the users file.
type User struct {
	Name string
	Role schema.Role
	// Robot is the robot of a console, else empty.
	Robot string
	Hash  *argon2id.Hash // nil: the user has no password
}

// Users is a parsed users file. The zero value has no users.
type Users struct {
	byName map[string]User
	dev    bool
}

// Roles are the roles that a users file may assign; the broker's own is not one of them.
var Roles = []schema.Role{schema.RoleRobot, schema.RoleFleetd, schema.RoleObserver, schema.RoleStop, schema.RoleResponder,
	schema.RoleConsole, schema.RoleOperator, schema.RoleAdmin}

// ParseUsers reads lines of "name role [argon2id-hash]"; empty lines and lines that begin
// with # are skipped. The role of a console includes its robot, as in console:r1. A line
// without a hash assigns a role to a user who authenticates in another way. Any other line
// is an error that names the line: guessing what it means could admit an intruder. An
// empty file has no users.
func ParseUsers(r io.Reader) (Users, error) {
	u := Users{byName: map[string]User{}}
	var errs []error
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		user, err := parseUser(strings.Fields(line))
		if err == nil && u.byName[user.Name].Name != "" {
			err = fmt.Errorf("user %s is listed twice", user.Name)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", n, err))
			continue
		}
		u.byName[user.Name] = user
	}
	if err := lines.Err(); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return Users{}, errors.Join(errs...)
	}
	return u, nil
}

// roleField is the role as written in the file.
func (u User) roleField() string {
	if u.Robot != "" {
		return string(u.Role) + ":" + u.Robot
	}
	return string(u.Role)
}

func parseUser(field []string) (User, error) {
	if len(field) < 2 || len(field) > 3 {
		return User{}, fmt.Errorf("%d words: want name role [argon2id-hash]", len(field))
	}
	role, robot, bound := strings.Cut(field[1], ":")
	u := User{Name: field[0], Role: schema.Role(role), Robot: robot}
	if !schema.ValidID(u.Name) {
		return User{}, fmt.Errorf("name %q: want a-z, 0-9 and -, at most %d, not starting with -", u.Name, schema.MaxIDLen)
	}
	if !slices.Contains(Roles, u.Role) {
		return User{}, fmt.Errorf("role %q: want one of %v", u.Role, Roles)
	}
	switch console := u.Role == schema.RoleConsole; {
	case console && !schema.ValidID(robot):
		return User{}, fmt.Errorf("role %q: a console belongs to one robot; write console:r1 for that of r1", field[1])
	case bound && !console:
		return User{}, fmt.Errorf("role %q: only a console belongs to a robot", field[1])
	}
	if len(field) == 3 {
		h, err := argon2id.Parse(field[2])
		if err != nil {
			return User{}, err
		}
		u.Hash = &h
	}
	return u, nil
}

// Name prefixes that Dev recognizes: of further fleetd instances, and of consoles, where
// the robot follows.
const (
	fleetdPrefix  = "fleetd-"
	consolePrefix = "console-"
)

// Dev accepts every name without a password, for a developer's own machine: op1 to op9 are
// operators, resp1 answers intents, stop1 may stop, obs observes (as does a client without a name), admin and
// fleetd have the roles of their names, fleetd-a and the like are further fleetd
// instances, console-r1 and the like are the consoles of robots, and any other name is a
// robot.
func Dev() Users {
	u := Users{dev: true, byName: map[string]User{
		"":       {Role: schema.RoleObserver},
		"obs":    {Name: "obs", Role: schema.RoleObserver},
		"resp1":  {Name: "resp1", Role: schema.RoleResponder},
		"stop1":  {Name: "stop1", Role: schema.RoleStop},
		"admin":  {Name: "admin", Role: schema.RoleAdmin},
		"fleetd": {Name: "fleetd", Role: schema.RoleFleetd},
	}}
	for c := '1'; c <= '9'; c++ {
		name := "op" + string(c)
		u.byName[name] = User{Name: name, Role: schema.RoleOperator}
	}
	return u
}

// All lists the users in no particular order.
func (u Users) All() []User { return slices.Collect(maps.Values(u.byName)) }

// Len is the number of users.
func (u Users) Len() int { return len(u.byName) }

// WithoutCredential lists, sorted, the users who cannot authenticate: they have no
// password and, if certificates are accepted, are not robots or fleetd instances, which
// can have one. It is empty for Dev, under which no client has to
// authenticate.
func (u Users) WithoutCredential(certificates bool) []string {
	if u.dev {
		return nil
	}
	var names []string
	for name, user := range u.byName {
		if user.Hash == nil && !(certificates && (user.Role == schema.RoleRobot || user.Role == schema.RoleFleetd)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Named returns the user who is listed under that name.
func (u Users) Named(name string) (User, bool) {
	user, ok := u.byName[name]
	return user, ok && name != ""
}

// Find returns the user of that name; with Dev every valid name has one.
func (u Users) Find(name string) (User, bool) {
	if user, ok := u.byName[name]; ok {
		return user, true
	}
	switch {
	case !u.dev || !schema.ValidID(name):
		return User{}, false
	case strings.HasPrefix(name, fleetdPrefix):
		return User{Name: name, Role: schema.RoleFleetd}, true
	}
	if robot, ok := strings.CutPrefix(name, consolePrefix); ok && schema.ValidID(robot) {
		return User{Name: name, Role: schema.RoleConsole, Robot: robot}, true
	}
	return User{Name: name, Role: schema.RoleRobot}, true
}
