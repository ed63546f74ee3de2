// Package auth says who makes a request of fleetd's API and what they may do.
//
// An Authenticator makes the Principal of each request; the API's guard puts it into the
// request's context, and every route names the right that it needs. Below the API a
// principal is always an argument.
package auth
