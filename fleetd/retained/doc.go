// Package retained removes retained messages from the broker that must not be there:
// commands and live stops.
package retained
