// Package brokertest provides tests with a broker of their own, plain MQTT clients that
// control every byte they send, and a contract recorder: a subscriber to all topics that
// fails the test on any message that the topic table and the schemas do not allow.
//
// The clients implement MQTT 3.1.1 themselves, because a test of the broker must be able
// to send what no library would send. They work with any broker.
package brokertest
