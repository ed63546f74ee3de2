// Package access decides who a client is, which topics it may publish and read, and
// whether a message may pass with its topic, size and flags. It is pure: facts in, a
// verdict with its reason out.
//
// It does not look into payloads: what a command means, and whether it is allowed now, is
// decided by the robot. It has no counters and no clock either; the server limits rates
// and quotas.
//
// Whatever the topic and verb tables do not list is denied.
package access
