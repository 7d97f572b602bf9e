package ratelimit

import "strconv"

// Priority orders the requests that wait for a slot. The highest priority is served
// first; requests of the same priority are served in the order in which they came.
type Priority uint8

// The priorities, lowest first.
const (
	// Read is for reads, such as polling.
	Read Priority = iota
	// Entry is for writes that can add exposure.
	Entry
	// Recovery is for requests that find out the outcome of a write: resends, fences,
	// probes and the reads of a recovery. It may use a fifth of the reserve, and holds at
	// most a third of a limit.
	Recovery
	// Exit is for writes that cannot add exposure (cancels, levels, reduce-only orders
	// that wait), and for the reads that an exit needs. It may use the whole reserve.
	Exit
	// Close is for closes and reduce-only market orders, which get out at once. It may
	// use the whole reserve.
	Close
)

// String returns the name of the priority.
func (p Priority) String() string {
	switch p {
	case Read:
		return "read"
	case Entry:
		return "entry"
	case Recovery:
		return "recovery"
	case Exit:
		return "exit"
	case Close:
		return "close"
	default:
		return "Priority(" + strconv.Itoa(int(p)) + ")"
	}
}
