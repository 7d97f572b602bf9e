package trading

// MemoryUse is what a memory journal holds.
type MemoryUse struct{ Entries, Decisions, Recalled, Spare int }

// NewMemoryJournal shows the default journal to the conformance test, which
// imports this package.
func NewMemoryJournal() Journal { return newMemoryJournal() }

// MemoryJournalUse counts what is in j.
func MemoryJournalUse(j Journal) MemoryUse {
	m := j.(*memoryJournal)
	return MemoryUse{Entries: len(m.entries) - len(m.recalled.ring), Decisions: len(m.decisions), Recalled: len(m.recalled.ring), Spare: len(m.spare)}
}
