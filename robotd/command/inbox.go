package command

import (
	"slices"

	"troupe/schema"
)

// Waiting is an input that waits for the machine that takes it. By names the command
// to be answered, When what must still hold when the machine takes it; both are empty for what
// the robot does by itself.
type Waiting[T any] struct {
	In   T
	By   Key
	When schema.Precondition
}

// Inbox is what waits for one machine, which takes one input in each step. The zero
// value is empty.
type Inbox[T any] struct{ waiting []Waiting[T] }

// Put adds an input behind the others.
func (q *Inbox[T]) Put(in T, by Key, when schema.Precondition) {
	q.waiting = append(q.waiting, Waiting[T]{in, by, when})
}

// Add is Put for an input that no command asks for, and so needs no answer.
func (q *Inbox[T]) Add(in T) { q.Put(in, "", schema.Precondition{}) }

// Peek returns the oldest input and leaves it there.
func (q *Inbox[T]) Peek() (w Waiting[T], ok bool) {
	if len(q.waiting) == 0 {
		return w, false
	}
	return q.waiting[0], true
}

// Take removes and returns the oldest input.
func (q *Inbox[T]) Take() (w Waiting[T], ok bool) {
	if w, ok = q.Peek(); ok {
		q.waiting = q.waiting[:copy(q.waiting, q.waiting[1:])]
	}
	return w, ok
}

// Clear removes all inputs and gives each, the oldest first, to drop.
func (q *Inbox[T]) Clear(drop func(Waiting[T])) {
	for _, w := range q.waiting {
		drop(w)
	}
	q.waiting = q.waiting[:0]
}

// Drop removes the input of a command, and reports whether there was anything.
func (q *Inbox[T]) Drop(by Key) bool {
	n := len(q.waiting)
	q.waiting = slices.DeleteFunc(q.waiting, func(w Waiting[T]) bool { return w.By == by })
	return len(q.waiting) < n
}

// Len returns how many inputs wait.
func (q *Inbox[T]) Len() int { return len(q.waiting) }
