package schema

// The rates that a broker accepts from one robot, not counting answers, stops and
// presence. The broker drops messages beyond them and sends a notice; robots limit
// themselves to lower rates.
const (
	RobotMessages = 50       // per second
	RobotBytes    = 64 << 10 // per second, topics and payloads

	// Bursts, in seconds of the rates above. All documents of a robot together are
	// smaller than that.
	RobotMessagesBurstSeconds = 2
	RobotBytesBurstSeconds    = 4
)
