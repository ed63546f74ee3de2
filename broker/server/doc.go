// Package server is the MQTT 3.1.1 broker: the mochi-mqtt library behind a listener and a
// guard of our own. It is the only importer of that library.
//
// The listener protects sockets: deadlines, connection limits, packet sizes, and
// containment of a panic to its connection. The guard authenticates and authorizes clients
// by asking package access. The library routes.
//
// Nothing is stored on disk: every retained document is published again by its writer when
// it reconnects.
package server
