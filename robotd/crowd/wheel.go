package crowd

import "time"

// A wheel holds the robots of a shard by the time at which each wants to be called next: in slots of wheelSlot, round a
// ring. To change the time of one robot takes the same few steps whatever their number. A time beyond the ring is called at the end
// of the ring, and the robot then asks for the rest.
type wheel struct {
	slots [wheelSlots]*robot // first of a doubly linked list
	at    int64              // the slot that is called next, counted since the beginning
	len   int
}

const (
	wheelSlot  = 4 * time.Millisecond
	wheelSlots = 512 // about 2 s, more than a robot at rest asks for
)

// set makes r be called at due, since the beginning.
func (w *wheel) set(r *robot, due time.Duration) {
	slot := int64((due + wheelSlot - 1) / wheelSlot)
	slot = max(w.at, min(slot, w.at+wheelSlots-1))
	if r.inWheel {
		if r.slot == slot {
			return
		}
		w.remove(r)
	}
	head := &w.slots[slot%wheelSlots]
	r.slot, r.inWheel, r.prev, r.next = slot, true, nil, *head
	if *head != nil {
		(*head).prev = r
	}
	*head = r
	w.len++
}

func (w *wheel) remove(r *robot) {
	if !r.inWheel {
		return
	}
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		w.slots[r.slot%wheelSlots] = r.next
	}
	if r.next != nil {
		r.next.prev = r.prev
	}
	r.inWheel, r.prev, r.next = false, nil, nil
	w.len--
}

// take removes the first robot that is due at now; nil if there is none.
func (w *wheel) take(now time.Duration) *robot {
	for ; time.Duration(w.at)*wheelSlot <= now; w.at++ {
		if r := w.slots[w.at%wheelSlots]; r != nil {
			w.remove(r)
			return r
		}
		if w.len == 0 {
			w.at = max(w.at, int64(now/wheelSlot))
			return nil
		}
	}
	return nil
}

// next is when the first robot is due; false if there is none.
func (w *wheel) next() (time.Duration, bool) {
	if w.len == 0 {
		return 0, false
	}
	slot := w.at
	for w.slots[slot%wheelSlots] == nil {
		slot++
	}
	return time.Duration(slot) * wheelSlot, true
}
