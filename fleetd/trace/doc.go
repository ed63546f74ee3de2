// Package trace sends OpenTelemetry traces of fleetd over OTLP/HTTP: the spans of an HTTP request, of its transactions, of the
// commands that it sends and of the robots' answers, of a wave of a rollout, and of the delivery of a notification.
//
// The variables OTEL_* of the environment say where spans go and which are sampled. Attributes are ids, names from fixed sets
// and counts: no names of people, no texts that people wrote, no texts of errors, and so no secrets.
package trace
