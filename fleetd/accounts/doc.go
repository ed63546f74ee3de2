// Package accounts authenticates requests: by the cookie of a session, or by a token.
//
// A Keeper has all users, tokens and sessions in memory and authenticates with these alone, so
// that a person who is signed in can stop robots while the database is away. It reads them from
// the database at the start and after each change, also of another instance. A sign-in while
// the database is away is valid at this instance at once, and is saved when the database is back.
// An instance that starts while the database is away authenticates with a copy on this machine,
// which it wrote when an account, token or session changed last.
package accounts
