// Package host reads what a doctor of Troupe wants to know of the computer that it runs on.
package host
