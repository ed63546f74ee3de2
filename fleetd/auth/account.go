package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"troupe/schema"
)

// User is a person or a program that has an account.
type User struct {
	Name     string   `json:"name"`    // unique
	Display  string   `json:"display"` // to show; may be empty
	Roles    []Role   `json:"roles"`
	Sites    []string `json:"sites"`    // none = every site
	Password string   `json:"password"` // argon2id hash; empty = the user cannot sign in with a password
	Subject  string   `json:"subject"`  // at the OpenID Connect provider, from the first sign-in there on
	Disabled bool     `json:"disabled"`
	Epoch    int64    `json:"epoch"` // sessions that began in an earlier epoch have ended

	CreatedAt time.Time `json:"created_at"`
	ChangedAt time.Time `json:"changed_at"`
}

// Principal is the user as the principal of a request.
func (u User) Principal(kind Kind) Principal {
	return Principal{ID: u.Name, Kind: kind, Name: u.Display, Roles: u.Roles, Rights: RightsOf(u.Roles), Sites: u.Sites}
}

// Token lets a program make requests as a user. The database has its digest only.
type Token struct {
	ID        string    `json:"id"`
	Digest    string    `json:"digest"`
	User      string    `json:"user"`
	Name      string    `json:"name"`  // what it is for
	Roles     []Role    `json:"roles"` // the token has these roles, as far as its user has them; none = all of the user's
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Principal is the token of a user as the principal of a request.
func (t Token) Principal(u User) Principal {
	p := u.Principal(KindToken)
	p.Token, p.TokenID = t.Name, t.ID
	if len(t.Roles) > 0 {
		p.Roles = slices.DeleteFunc(slices.Clone(u.Roles), func(r Role) bool { return !slices.Contains(t.Roles, r) })
		p.Rights = RightsOf(p.Roles) &^ Own // else it could make a token without the limit, and end the sessions of its user
	}
	return p
}

// LoginCode is a login code: it permits the command line of a machine to get one token of a user. The database has
// the digest of the code only.
type LoginCode struct {
	Digest    string
	Challenge string // of PKCE: only who made the verifier can use the code
	User      string
	Machine   string // as the command line names it
	ExpiresAt time.Time
}

// Session is a session of a browser. The database has the digest of its cookie only.
type Session struct {
	Digest    string    `json:"digest"`
	Data      []byte    `json:"data"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Accounts is everything that fleetd needs to authenticate requests. It contains hashes and
// digests, and nothing that one could sign in with.
type Accounts struct {
	Users    []User    `json:"users"`
	Tokens   []Token   `json:"tokens"`
	Sessions []Session `json:"sessions"`
	Rev      int64     `json:"-"` // grows with each change
}

// secretPrefix makes tokens recognizable, so that scanners find those that were published by mistake.
const secretPrefix = "troupe_"

// NewSecret makes the secret of a token.
func NewSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return secretPrefix + base64.RawURLEncoding.EncodeToString(b)
}

// Digest is how a secret is stored. It needs no salt and no cost: the secret has 256 random bits.
func Digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// NewPassword makes a password that a person can type.
func NewPassword() string { return rand.Text() }

// The bounds of accounts.
const (
	MinPassword = 10
	MaxPassword = 256
	MaxSites    = 64
)

// validName is a login name. It may be an e-mail address.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]{0,62}$`)

// Problems reports why an account is not valid; none if it is.
func (u User) Problems() []schema.Problem {
	var found []schema.Problem
	if !validName.MatchString(u.Name) || u.Name == Dev().ID {
		found = append(found, schema.NewProblem("/name", "bad_id", fmt.Sprintf("%q cannot name a user", u.Name),
			"write a to z, 0 to 9 and . _ @ + -, at most 63 characters"))
	}
	if !utf8.ValidString(u.Display) || slices.ContainsFunc([]rune(u.Display), unicode.IsControl) {
		found = append(found, schema.NewProblem("/display", "bad_value", "the name to show is not printable", ""))
	}
	if len(u.Roles) == 0 && u.Subject == "" { // the provider can take all roles from its users
		found = append(found, schema.NewProblem("/roles", "missing", "the user has no role", "give one or more of "+RolesWith(^Rights(0))))
	}
	for i, r := range u.Roles {
		row, ok := RoleOf(r)
		switch {
		case !ok:
			found = append(found, schema.NewProblem(fmt.Sprintf("/roles/%d", i), "bad_value", fmt.Sprintf("there is no role %q", r), "write "+
				RolesWith(^Rights(0))))
		case row.FleetWide && len(u.Sites) > 0:
			found = append(found, schema.NewProblem("/sites", "bad_value", fmt.Sprintf("the role %s is for the whole fleet", r),
				"leave out the sites, or the role"))
		}
	}
	if len(u.Sites) > MaxSites {
		found = append(found, schema.NewProblem("/sites", "too_many", fmt.Sprintf("%d sites are named, at most %d are allowed", len(u.Sites),
			MaxSites), ""))
	}
	for i, s := range u.Sites {
		if s == "" || len(s) > 63 || !utf8.ValidString(s) || slices.ContainsFunc([]rune(s), unicode.IsControl) {
			found = append(found, schema.NewProblem(fmt.Sprintf("/sites/%d", i), "bad_value", fmt.Sprintf("%q cannot be a site", s),
				"write the value of the robots' label site"))
		}
	}
	return found
}

// PasswordProblems reports why a user cannot have this password; none if they can.
func PasswordProblems(at, password string) []schema.Problem {
	switch n := utf8.RuneCountInString(password); {
	case n < MinPassword:
		return []schema.Problem{schema.NewProblem(at, "too_short", fmt.Sprintf("the password has %d characters, at least %d are needed", n,
			MinPassword), "a few words are easy to remember and hard to guess")}
	case len(password) > MaxPassword:
		return []schema.Problem{schema.NewProblem(at, "too_long", fmt.Sprintf("the password has more than %d bytes", MaxPassword),
			"write a shorter one")}
	}
	return nil
}

// KeepsAnAdmin reports whether one of the users can administer the fleet.
func KeepsAnAdmin(users []User) bool {
	return slices.ContainsFunc(users, func(u User) bool { return !u.Disabled && slices.Contains(u.Roles, Admin) })
}
