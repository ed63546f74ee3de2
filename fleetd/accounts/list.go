package accounts

import (
	"slices"
	"strings"

	"troupe/fleetd/auth"
)

// Users lists the users by name, with the hashes of their passwords.
func (k *Keeper) Users() []auth.User {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]auth.User, 0, len(k.users))
	for _, u := range k.users {
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b auth.User) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// User returns one user.
func (k *Keeper) User(name string) (auth.User, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	u, ok := k.users[name]
	return u, ok
}

// Tokens lists the valid tokens of a user, those of everybody if the name is empty.
func (k *Keeper) Tokens(user string) []auth.Token {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := []auth.Token{}
	for _, t := range k.tokens {
		if (user == "" || t.User == user) && k.Now().Before(t.ExpiresAt) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b auth.Token) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all
}
