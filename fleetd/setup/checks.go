package setup

import (
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"troupe/fleetd/auth"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// splitAddress splits host:port, in which an IPv6 address is in brackets.
func splitAddress(address string) (host, port string, ok bool) {
	i := strings.LastIndexByte(address, ':')
	if i < 0 {
		return "", "", false
	}
	host, port = address[:i], address[i+1:]
	if inner, is := strings.CutPrefix(host, "["); is {
		inner, is = strings.CutSuffix(inner, "]")
		return inner, port, is
	}
	return host, port, !strings.Contains(host, ":")
}

func joinAddress(host, port string) string { return bracketed(host) + ":" + port }

func portOf(listen string) string {
	_, port, _ := splitAddress(listen)
	return port
}

func isLoopback(listen string) bool {
	host, _, _ := splitAddress(listen)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func publicURL(a Answers) string {
	if len(a.Hosts) == 0 {
		return ""
	}
	if a.Console == ProxyTLS {
		return "https://" + bracketed(a.Hosts[0])
	}
	return "https://" + joinAddress(a.Hosts[0], portOf(a.HTTP))
}

func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

func checkID(_ Answers, value string) (detail, hint string) {
	if !schema.ValidID(value) {
		return fmt.Sprintf("%q cannot be a name", value), fmt.Sprintf("use a-z, 0-9 and hyphens, at most %d", schema.MaxIDLen)
	}
	return "", ""
}

func checkInstance(_ Answers, value string) (detail, hint string) {
	if !schema.ValidID(value) || value != "fleetd" && !strings.HasPrefix(value, "fleetd-") {
		return fmt.Sprintf("%q cannot name a fleetd", value), "write fleetd, or fleetd-b and the like for further instances"
	}
	return "", ""
}

func checkRobot(a Answers, value string) (detail, hint string) {
	if schema.ReservedName(value) {
		return value + " cannot name a robot: it is a name of fleetd instances or people's tools", "choose another name, such as r1"
	}
	return checkID(a, value)
}

func checkSite(_ Answers, value string) (detail, hint string) {
	if found := selector.LabelProblems(map[string]string{"site": value}); len(found) > 0 {
		return found[0].Detail, found[0].Hint
	}
	return "", ""
}

var dnsName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)

func checkHost(_ Answers, value string) (detail, hint string) {
	const write = "write a name such as fleet.example, or an address such as 192.0.2.10, without a scheme and without a port"
	if ip, err := netip.ParseAddr(value); err == nil {
		if ip.IsUnspecified() {
			return value + " is every address of a machine, and reaches none", write
		}
		return "", ""
	}
	if len(value) > 253 || !dnsName.MatchString(value) || allDigits.MatchString(value) {
		return fmt.Sprintf("%q is neither a name nor an address of a machine", value), write
	}
	return "", ""
}

var allDigits = regexp.MustCompile(`^[0-9.]+$`)

func checkPath(_ Answers, value string) (detail, hint string) {
	if !filepath.IsAbs(value) {
		return value + " is not an absolute path", "write it from / on: the programs run in folders of their own"
	}
	if filepath.Clean(value) == "/" {
		return "/ is the root of all files", "name a folder or file below it"
	}
	return "", ""
}

// unprivileged is the first port at which a program without privileges can listen.
const unprivileged = 1024

func checkListen(a Answers, value string) (detail, hint string) {
	if detail, hint := checkListenAnywhere(a, value); detail != "" {
		return detail, hint
	}
	if n, err := schema.ReadWhole(portOf(value)); err != nil || n < unprivileged {
		return fmt.Sprintf("port %s needs privileges, which the services do not have", portOf(value)),
			"choose a port above 1023; for 443 answer proxy and run a reverse proxy here"
	}
	return "", ""
}

// checkBrokerListen lets a broker that exists already have any port: it may run with privileges.
func checkBrokerListen(a Answers, value string) (detail, hint string) {
	if a.Broker == Existing {
		return checkListenAnywhere(a, value)
	}
	return checkListen(a, value)
}

func checkListenAnywhere(_ Answers, value string) (detail, hint string) {
	const write = "write address and port, such as 0.0.0.0:8080"
	host, port, ok := splitAddress(value)
	if !ok {
		return fmt.Sprintf("%q is no address to listen at", value), write
	}
	if n, err := schema.ReadWhole(port); err != nil || n < 1 || n > 65535 {
		return fmt.Sprintf("the port of %q is not 1 to 65535", value), write
	}
	if host == "" || host == "localhost" {
		return "", ""
	}
	if _, err := netip.ParseAddr(host); err != nil {
		return fmt.Sprintf("%q is not an address of a machine, which a program can listen at", host), write
	}
	return "", ""
}

func checkLoopback(a Answers, value string) (detail, hint string) {
	if detail, hint := checkListen(a, value); detail != "" {
		return detail, hint
	}
	if !isLoopback(value) {
		return value + " can be reached by others, and what is there is for this machine only", "write an address such as 127.0.0.1:9101"
	}
	return "", ""
}

func checkPublicURL(_ Answers, value string) (detail, hint string) {
	u, err := url.Parse(value)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Sprintf("%q is no URL of a console", schema.PrintableURL(value)), "write it as in a browser, such as " +
			"https://fleet.example:8080"
	}
	return "", ""
}

func checkDatabase(_ Answers, value string) (detail, hint string) {
	scheme, rest, _ := strings.Cut(value, ":")
	switch scheme {
	case sqlite:
		if rest == "" && value != sqlite {
			return "the file of the database has no name", "write sqlite, or sqlite:/var/lib/troupe/fleetd/fleet.db"
		}
		if rest != "" && !filepath.IsAbs(rest) {
			return rest + " is not an absolute path", "write the file of the database from / on, or only sqlite"
		}
	case "postgres", "postgresql":
		u, err := url.Parse(value)
		if err != nil || u.Hostname() == "" && !u.Query().Has("host") || strings.Trim(u.Path, "/") == "" && !u.Query().Has("dbname") ||
			u.Fragment != "" || u.Opaque != "" {
			return "the address of the database is no URL with a host and a name", "write postgres://USER@HOST:5432/NAME; in a password write " +
				"%40 for @, %3A for :, %2F for / and %23 for #"
		}
	default:
		return "this is no kind of database", "write sqlite, or postgres://USER@HOST/NAME"
	}
	return "", ""
}

// clientRoles are the roles of clients that prove themselves with a password.
var clientRoles = []schema.Role{schema.RoleObserver, schema.RoleStop, schema.RoleResponder, schema.RoleOperator, schema.RoleAdmin}

func checkBrokerUser(_ Answers, value string) (detail, hint string) {
	const write = "write a name and a role, such as: wall observer"
	field := strings.Fields(value)
	if len(field) != 2 {
		return fmt.Sprintf("%q is not a name and a role", value), write
	}
	if !schema.ValidID(field[0]) || field[0] == "fleetd" {
		return fmt.Sprintf("%q cannot name a client", field[0]), "use a-z, 0-9 and hyphens; fleetd is fleetd's own name"
	}
	role, robot, bound := strings.Cut(field[1], ":")
	switch {
	case schema.Role(role) == schema.RoleConsole && schema.ValidID(robot):
	case bound || !slices.Contains(clientRoles, schema.Role(role)):
		return fmt.Sprintf("%q is no role of a client with a password", field[1]), "write observer, stop, responder, operator, admin or " +
			"console:ROBOT"
	}
	return "", ""
}

func checkLogin(_ Answers, value string) (detail, hint string) {
	u := auth.User{Name: value, Roles: []auth.Role{auth.Admin}}
	if found := u.Problems(); len(found) > 0 {
		return found[0].Detail, found[0].Hint
	}
	return "", ""
}

func oneOf(words ...string) func(Answers, string) (detail, hint string) {
	return func(_ Answers, value string) (detail, hint string) {
		if slices.Contains(words, value) {
			return "", ""
		}
		hint = "write " + strings.Join(words, " or ")
		if near := schema.Closest(value, words); near != "" {
			hint += "; did you mean " + near + "?"
		}
		return fmt.Sprintf("%q is not one of the answers", value), hint
	}
}
