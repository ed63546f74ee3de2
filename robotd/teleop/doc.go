// Package teleop decides how fast the drive is to go while somebody drives it by
// hand, frame by frame.
//
// It is a dead man's handle. A set-point counts for at most 400 ms from the frame
// that it came with; a frame counts only from the holder of control, newer than
// the newest, made by somebody who saw the robot within the last 500 ms, while
// the robot may move. Whenever it may not, or somebody stops it, the stick has to
// be let go before it counts again: a frame that says zero, or none for a while.
// So nothing starts to move because a stick was still pressed when the gate opened.
//
// Frames are not answered. What is refused is gathered and told once a second.
// Time is counted from boot and is an argument; State is comparable.
package teleop
