// Package brokertest gives tests a broker of their own, plain clients whose
// every byte is known, and the contract recorder: a subscriber to everything
// that fails the test on whatever the topic table and the schemas do not admit.
//
// The clients speak MQTT 3.1.1 by themselves, because a test of the broker must
// be able to say what no decent library would say. They work against any broker.
package brokertest
