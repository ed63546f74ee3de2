// Package teleop decides the drive's velocity set-point while an operator drives
// with a joystick, which sends velocity frames.
//
// It works like a dead man's switch. A set-point is valid for at most 400 ms after
// its frame. A frame is valid only if it comes from the holder of control, is newer
// than the last one, was sent by a client whose view of the robot is at most 500 ms
// old, and the robot may move. At the start of every lease, after every time when
// the robot may not move, and after a stop, frames are ignored until the stick was
// released, which is a frame with zero velocity. A gap between frames does not
// count as a release, since frames can be lost; nor does it require one: the next valid
// frame drives on. So the robot never starts to move because a stick was still deflected
// when the gate opened, the link returned or another operator took over.
//
// Frames are not answered. Refused frames are counted and reported once a second.
// Time is counted from boot and is an argument; State is comparable.
package teleop
