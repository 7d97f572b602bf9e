// Package doubt shows that a write in doubt is decided rightly: restarts, ids, levels, the clock, the disk,
// the limits, and other programs beside it.
package doubt
