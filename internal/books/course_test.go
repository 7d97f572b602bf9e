package books

// Course is what is replayed of a write; over means that it can run no more.
func (b *Books) Course(w *Booked, over, alone bool, status string) (c course, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(w.account())
	if over {
		a.isOver(w)
	}
	return a.course(w, alone, status)
}
