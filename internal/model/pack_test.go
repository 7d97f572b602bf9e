package model

import "testing"

// packed is a state in as few bits as it needs: millions of them are held.
type packed [3]uint64

// codec writes the fields of a state into a packed one, or reads them back, in the
// same order.
type codec struct {
	packed  packed
	at      uint
	reading bool
}

func bits[T ~uint8](c *codec, v *T, width uint) {
	word, shift := c.at/64, c.at%64
	if shift+width > 64 { // no field spans two words
		word, shift = word+1, 0
		c.at = word * 64
	}
	c.at += width
	if c.reading {
		*v = T(c.packed[word] >> shift & (1<<width - 1))
		return
	}
	c.packed[word] |= uint64(*v) << shift
}

func flags(c *codec, all ...*bool) {
	for _, one := range all {
		var v uint8
		if *one {
			v = 1
		}
		bits(c, &v, 1)
		*one = v == 1
	}
}

func (m *message) code(c *codec) {
	bits(c, &m.kind, 3)
	bits(c, &m.sent, 3)
	flags(c, &m.awaited, &m.repeat)
}

func (r *reply) code(c *codec) {
	bits(c, &r.answer, 4)
	flags(c, &r.replayed)
}

func (r *record) code(c *codec) {
	bits(c, &r.status, 2)
	r.request.code(c)
	bits(c, &r.since, 3)
	bits(c, &r.answer, 4)
	flags(c, &r.executed, &r.failedAfter, &r.diedAfter, &r.aged)
}

func (s *state) code(c *codec) {
	bits(c, &s.now, 3)
	bits(c, &s.call.phase, 3)
	flags(c, &s.call.second, &s.call.doubt, &s.call.heard5xx, &s.call.spent, &s.call.again)
	s.call.reply.code(c)
	r := &s.recovery
	bits(c, &r.step, 2)
	flags(c, &r.second, &r.held, &r.reading, &r.readHeld, &r.readLate, &r.saw, &r.mustSee)
	r.reply.code(c)
	flags(c, &s.journal.pending, &s.journal.settled, &s.journal.second, &s.journal.fenced)
	bits(c, &s.account.executions, 2)
	flags(c, &s.account.vanished)
	for i := range s.air {
		s.air[i].code(c)
	}
	bits(c, &s.sends, 3)
	bits(c, &s.fences, 3)
	bits(c, &s.crashes, 2)
	bits(c, &s.repeats, 1)
	flags(c, &s.sentAfter5xx, &s.saidApplied, &s.saidNotApplied, &s.zombie)
	for i := range s.records {
		s.records[i].code(c)
	}
}

func pack(s state) packed {
	var c codec
	s.code(&c)
	return c.packed
}

func unpack(p packed) state {
	c := codec{packed: p, reading: true}
	var s state
	s.code(&c)
	return s
}

func TestPackingLosesNothing(t *testing.T) {
	w := ordinary()
	w.sends, w.fences, w.keysPerRoute = 1, 1, true
	e := explore(w, allRules)
	for _, n := range e.nodes {
		if again := pack(unpack(n.state)); again != n.state {
			t.Fatalf("%+v became %+v", unpack(n.state), unpack(again))
		}
	}
	full := state{now: day, call: call{phase: gone, spent: true, reply: reply{notHolder, true}}, sends: 7, zombie: true}
	for i := range full.air {
		full.air[i] = message{fence2, fromRecovery, true, true}
	}
	for i := range full.records {
		full.records[i] = record{unknown, full.air[0], day, notHolder, true, true, true, true}
	}
	if again := unpack(pack(full)); again != full {
		t.Fatalf("%+v became %+v", full, again)
	}
}
