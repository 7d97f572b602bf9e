package spec

// Asks is what a write asks the service for.
type Asks uint8

// What writes ask for.
const (
	AsksNothing Asks = iota // that can change a position: a cancel, a reset; or it is a read
	AsksOrder               // one that fills now
	AsksClose               // of a position, or of part of it
	AsksLimit               // an order that rests
	AsksRun                 // a Pro order, which the service carries out over time
	AsksRunEdit             // of a Pro order that runs
	AsksLevels              // of a position: take-profit and stop
)

// Trades reports whether it can open, change or close a position, at once or later.
func (a Asks) Trades() bool { return a != AsksNothing && a != AsksLevels }

// Adds reports whether it can add exposure, which an order that is reduce-only cannot. An edit
// of a run can, whatever the run is: its body does not say.
func (a Asks) Adds(reduceOnly bool) bool {
	switch a {
	case AsksNothing, AsksClose, AsksLevels:
		return false
	case AsksRunEdit:
		return true
	default: // also what a later version asks for
		return !reduceOnly
	}
}
