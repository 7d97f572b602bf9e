package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// loopback measures orders over kept connections to the service in its other
// process, by so many goroutines.
func loopback(ctx context.Context, w io.Writer, s settings, base string, goroutines int) error {
	p := place{base: base, transport: newTransport()}
	calls := s.calls(1000)
	if goroutines > 1 {
		calls = s.calls(3000)
	}
	entrants, closeAll, err := enter(s, p, calls, func(c contender) (func(place) (task, error), bool) {
		return c.order, !c.lone || goroutines == 1
	})
	if err != nil {
		return err
	}
	defer closeAll()
	if err := race(ctx, entrants, s.rounds, goroutines); err != nil {
		return err
	}
	what := "one after the other"
	if goroutines > 1 {
		what = fmt.Sprintf("%d goroutines at once", goroutines)
	}
	fmt.Fprintf(w, "\n### (a) An order over loopback, %s\n", what)
	ordersTable(entrants).write(w)
	return nil
}

// unconnected measures orders with the network taken away.
func unconnected(ctx context.Context, w io.Writer, s settings) error {
	p := place{base: "http://127.0.0.1", transport: newCanned(answers())}
	entrants, closeAll, err := enter(s, p, s.calls(3000), func(c contender) (func(place) (task, error), bool) {
		return c.order, !c.own
	})
	if err != nil {
		return err
	}
	defer closeAll()
	if err := race(ctx, entrants, s.rounds, 1); err != nil {
		return err
	}
	fmt.Fprint(w, "\n### (b) An order with the network taken away\n")
	ordersTable(entrants).write(w)
	return nil
}

// newTransport returns the connections that everybody shares: as many are kept as
// there are goroutines, so that nobody dials.
func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 4096
	return t
}

// enter makes entrants of the contenders that have the work.
func enter(s settings, p place, calls int, work func(contender) (func(place) (task, error), bool)) ([]*entrant, func(), error) {
	var entrants []*entrant
	closeAll := func() {
		for _, e := range entrants {
			e.task.close()
		}
	}
	for _, c := range contenders() {
		open, ok := work(c)
		if open == nil || !ok || !s.wants(c) {
			continue
		}
		where := p
		if c.own {
			where.transport = nil
		}
		t, err := open(where)
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("%s: %w", c.name, err)
		}
		entrants = append(entrants, &entrant{name: c.name, task: t, calls: calls})
	}
	return entrants, closeAll, nil
}

// named finds the rounds of a contender.
func named(entrants []*entrant, name string) series {
	for _, e := range entrants {
		if e.name == name {
			return e.done
		}
	}
	return nil
}

// ordersTable compares everybody with the order by hand, and with the floor of
// each.
func ordersTable(entrants []*entrant) *table {
	t := &table{head: []string{"order by", "µs", "of by hand", "CPU of by hand", "own floor µs", "of own floor", "B", "allocs"}}
	hand := named(entrants, byHand)
	for _, c := range contenders() {
		done := named(entrants, c.name)
		if done == nil || c.hidden {
			continue
		}
		floorTime, ofFloor := "", ""
		if floor := named(entrants, c.floor); floor != nil && c.floor != byHand {
			floorTime, ofFloor = micros(floor.wall()), ratioText(ratio(done, floor, wallOf))
		}
		t.row(c.name, micros(done.wall()), spreadText(ratio(done, hand, wallOf)), ratioText(ratio(done, hand, cpuOf)),
			floorTime, ofFloor, number(median(each(done, bytesOf))), number(median(each(done, allocsOf))))
	}
	return t
}
