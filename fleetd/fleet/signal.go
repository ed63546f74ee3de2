package fleet

// signal wakes whoever waits at c; it waits for nothing.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
