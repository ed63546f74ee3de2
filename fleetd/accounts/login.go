package accounts

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/change"
)

const (
	// LoginLifetime is how long the token of a sign-in of the command line is valid.
	LoginLifetime = 30 * 24 * time.Hour
	// codeLifetime is how long the permission that a person gave in the console is valid.
	codeLifetime = 2 * time.Minute
)

// ErrLoginCode is returned for a code that gives no token to its sender.
var ErrLoginCode = errors.New("the code of the sign-in is unknown, was used, or is older than two minutes")

// LoginTokenName names the token of a sign-in of the command line.
func LoginTokenName(machine string) string { return "fleetd login on " + machine }

// Challenge is that of PKCE (S256) for a verifier.
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// AllowLogin returns a code with which the command line of a machine gets a token of a user, once
// and soon, if it has the verifier of the challenge. Any instance takes the code.
func (k *Keeper) AllowLogin(ctx context.Context, p auth.Principal, machine, challenge string) (code string, err error) {
	code = auth.NewSecret()
	return code, k.Changes.AllowLogin(ctx, p, auth.LoginCode{
		Digest: auth.Digest(code), Challenge: challenge, User: p.ID, Machine: machine, ExpiresAt: k.Now().Add(codeLifetime),
	})
}

// FinishLogin makes the token that a code allows. The secret is in its answer only.
func (k *Keeper) FinishLogin(ctx context.Context, code, verifier string) (secret string, made auth.Token, err error) {
	made, err = k.Changes.FinishLogin(ctx, auth.Of(ctx).From, auth.Digest(code), Challenge(verifier), func(c auth.LoginCode) (t auth.Token) {
		secret, t = k.newToken(auth.Token{User: c.User, Name: LoginTokenName(c.Machine)}, LoginLifetime)
		return t
	})
	if errors.Is(err, change.ErrNotFound) {
		return "", made, ErrLoginCode
	}
	return secret, made, k.changed(ctx, nil, err)
}
