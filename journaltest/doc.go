// Package journaltest is what any [trading.Journal] has to pass.
//
//	func TestJournal(t *testing.T) {
//		journaltest.Run(t, func(t *testing.T) trading.Journal { return newJournal(t) })
//	}
//
// Each rule is a subtest with a journal of its own. Run it with -race. A journal
// that outlives its process takes [Reopen], so that each rule is tried on what
// it finds when it is opened again.
package journaltest
