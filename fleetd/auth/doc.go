// Package auth says who makes a request of fleetd's API and what they may do.
//
// An Authenticator makes the Principal of each request; the API's guard puts it into the
// request's context, and every route names the right that it needs. Below the API a
// principal is an argument; only package accounts reads from the context where a sign-in, for
// which there is no principal yet, comes from.
package auth
