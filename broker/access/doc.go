// Package access decides for the broker who somebody is, what he may say and
// hear, and whether a message is well said: the right topic, size and flags. It
// is pure: facts in, a verdict with its reason out.
//
// It does not look into payloads: what a command means, and whether it is
// allowed now, is the robot's to say. It keeps no counts and no time either;
// rates and quotas belong to the server.
//
// What is not listed in the topic and verb tables is denied.
package access
