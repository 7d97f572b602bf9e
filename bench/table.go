package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// table is written as Markdown, its first column to the left.
type table struct {
	head []string
	rows [][]string
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer) {
	fmt.Fprintf(w, "\n| %s |\n|---%s|\n", strings.Join(t.head, " | "), strings.Repeat("|---:", len(t.head)-1))
	for _, row := range t.rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
	}
}

func micros(d time.Duration) string {
	us := float64(d) / float64(time.Microsecond)
	if us < 100 {
		return fmt.Sprintf("%.2f", us)
	}
	return fmt.Sprintf("%.0f", us)
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond)) }

func inSeconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }

func ratioText(s spread) string {
	if s.mid == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", s.mid)
}

// spreadText has the middle half of the rounds too.
func spreadText(s spread) string {
	if s.mid == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.mid, s.low, s.high)
}

func number(f float64) string {
	text := fmt.Sprintf("%.0f", f)
	var b strings.Builder
	for i, digit := range text {
		if i > 0 && digit != '-' && (len(text)-i)%3 == 0 && text[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}
