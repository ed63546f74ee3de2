// Package accounts authenticates requests: by the cookie of a session, or by a token.
//
// A Keeper has all users, tokens and sessions in memory and authenticates with these alone, so
// that a person who is signed in can stop robots while the database is away. It reads them from
// the database at the start and after each change, also of another instance. A sign-in while
// the database is away counts at this instance at once, and is saved when the database is back.
package accounts
