package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"troupe/deploy/launch"
)

// A namespace is a network of its own for programs of this machine, at the other end of a cable that can be pulled. Only root
// can make one. Nil is the network of this machine.
type namespace struct{ name, cable string }

const (
	hostAddress      = "10.213.7.1"
	namespaceAddress = "10.213.7.2"
)

func newNamespace() (*namespace, error) {
	n := &namespace{name: fmt.Sprintf("troupe-%d", os.Getpid()), cable: fmt.Sprintf("trp%d", os.Getpid())}
	if err := run("ip netns add " + n.name); err != nil {
		return nil, fmt.Errorf("make a network namespace, which needs root: %w", err)
	}
	for _, command := range []string{
		"ip link add " + n.cable + " type veth peer name eth0 netns " + n.name,
		"ip addr add " + hostAddress + "/30 dev " + n.cable,
		"ip link set " + n.cable + " up",
		"ip -n " + n.name + " addr add " + namespaceAddress + "/30 dev eth0",
		"ip -n " + n.name + " link set eth0 up",
		"ip -n " + n.name + " link set lo up",
	} {
		if err := run(command); err != nil {
			n.close()
			return nil, fmt.Errorf("connect a network namespace: %w", err)
		}
	}
	return n, nil
}

// inside lets a program run in the namespace.
func (n *namespace) inside(c launch.Command) launch.Command {
	if n != nil {
		c.Args = append([]string{"netns", "exec", n.name, c.Path}, c.Args...)
		c.Path = "ip"
	}
	return c
}

// cut pulls the cable, and mend plugs it in again.
func (n *namespace) cut() error  { return run("ip link set " + n.cable + " down") }
func (n *namespace) mend() error { return run("ip link set " + n.cable + " up") }

func (n *namespace) close() { _ = run("ip netns del " + n.name) } // the cable goes with it

func run(command string) error {
	words := strings.Fields(command)
	if text, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", command, err, strings.TrimSpace(string(text)))
	}
	return nil
}
