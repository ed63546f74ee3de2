package store

import (
	"net/url"
	"slices"
	"strings"
)

// ofLibpq are the parameters of an address that PostgreSQL's own programs know too.
var ofLibpq = []string{"host", "port", "dbname", "user", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "sslsni",
	"connect_timeout",
	"application_name", "options", "target_session_attrs", "passfile", "krbsrvname", "gssencmode", "channel_binding", "keepalives_idle",
	"tcp_user_timeout"}

// ofPgx are parameters that only fleetd's driver knows, besides those of its pool.
var ofPgx = []string{"statement_cache_capacity", "description_cache_capacity", "default_query_exec_mode", "min_protocol_version",
	"max_protocol_version", "sslpassword", "password"}

// Libpq returns the address and the environment with which PostgreSQL's own programs reach a database. The password is in
// the environment only, since others can read the arguments of a program.
func Libpq(address string) (dbname string, env []string, err error) {
	config, err := parsePostgres(address)
	if err != nil {
		return "", nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", nil, err // parsePostgres has parsed it
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
		if u.User.Username() == "" {
			u.User = nil
		}
	}
	kept, options := url.Values{}, []string{}
	for name, values := range u.Query() {
		switch {
		case slices.Contains(ofLibpq, name):
			kept[name] = values
		case strings.HasPrefix(name, "pool_"), slices.Contains(ofPgx, name):
		default:
			options = append(options, "-c "+name+"="+strings.NewReplacer(`\`, `\\`, ` `, `\ `).Replace(values[0]))
		}
	}
	if len(options) > 0 {
		slices.Sort(options)
		kept.Set("options", strings.TrimSpace(kept.Get("options")+" "+strings.Join(options, " ")))
	}
	u.RawQuery = strings.ReplaceAll(kept.Encode(), "+", "%20") // libpq reads a plus as itself
	if config.ConnConfig.Password != "" {
		env = append(env, "PGPASSWORD="+config.ConnConfig.Password)
	}
	return u.String(), env, nil
}
