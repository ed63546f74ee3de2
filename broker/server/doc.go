// Package server is the broker put together: an MQTT 3.1.1 server behind a
// listener and a guard of our own. It is the only importer of the server
// library.
//
// The listener decides what may use a socket (deadlines, caps, sizes, and that
// one connection's panic is its own affair); the guard decides, by asking
// package access, who somebody is and what he may say and hear; the server
// library routes.
//
// Nothing is kept on disk: every retained document is rebuilt by its writer at
// its next connect.
package server
