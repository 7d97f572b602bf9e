package main

import (
	"context"
	"fmt"
	"io"
)

// decoding measures lists of 10,000 trades with the network taken away.
func decoding(ctx context.Context, w io.Writer, s settings) error {
	rows := s.calls(10_000)
	all := answers(rows)
	entrants, closeAll, err := enter(s, place{base: "http://127.0.0.1", transport: newCanned(all)}, 1,
		func(c contender) (func(place) (task, error), bool) { return c.trades, !c.own })
	if err != nil {
		return err
	}
	defer closeAll()
	if err := race(ctx, entrants, s.rounds, 1); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n### (c) A list of %s trades\n", number(float64(rows)))
	t := &table{head: []string{"list by", "ms", "of by hand", "own floor ms", "of own floor", "MB", "MB/s", "MB allocated", "allocs"}}
	hand := named(entrants, byHand)
	for _, c := range contenders() {
		done := named(entrants, c.name)
		if done == nil || c.hidden {
			continue
		}
		size := float64(len(all[tradesPath(c)])) / 1e6
		floorTime, ofFloor := "", ""
		if floor := named(entrants, c.floor); floor != nil && c.floor != byHand {
			floorTime, ofFloor = millis(floor.wall()), ratioText(ratio(done, floor, wallOf))
		}
		t.row(c.name, millis(done.wall()), spreadText(ratio(done, hand, wallOf)), floorTime, ofFloor,
			fmt.Sprintf("%.2f", size), fmt.Sprintf("%.0f", size/done.wall().Seconds()),
			fmt.Sprintf("%.1f", median(each(done, bytesOf))/1e6), number(median(each(done, allocsOf))))
	}
	t.write(w)
	return nil
}

// tradesPath is where a contender reads its trades.
func tradesPath(c contender) string {
	switch c.floor {
	case alpacaByHand:
		return pathAlpacaTrades
	case binanceByHand:
		return pathBinanceTrades
	default:
		return pathTrades
	}
}
