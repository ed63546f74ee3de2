package check

// Only returns a configuration that tries these rules alone. Rules that are watched all the time
// stay watched.
func (c Config) Only(rules ...string) Config {
	c.only = map[string]bool{}
	for _, r := range rules {
		c.only[r] = true
	}
	return c
}
