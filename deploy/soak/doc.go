// Package soak puts one robot, one instance and a broker into one process and into
// fake time, lets a seed decide what is lost, doubled, late, cut, restarted and
// taken over between them, and then looks whether the promises held:
//
//   - what the fleet desires is what the robot reports,
//   - every command that reached the robot got exactly one final answer, and had
//     its effect at most once,
//   - no stop of fleetd was missed.
//
// A seed decides every fault by the connection, the topic and the number of a
// message on it, and the nanosecond in which each packet arrives, so that what one
// packet brings about has happened before the next one comes. Within one such
// instant the scheduler decides, and what the programs do must not depend on it:
// every twentieth seed runs twice, and the two have to be the same to the packet.
package soak
