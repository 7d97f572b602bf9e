package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/jsontext"
)

// FuzzVerify reads anything for an audit. What is accepted is a chain in which no line
// can be left out, and what is opened is appended to rightly.
func FuzzVerify(f *testing.F) {
	_, contents := written(f, 300, "BTC")
	f.Add(contents[0]) // small ones, which are soon worked through
	jsontext.Add[[]byte](f, 100, jsontext.Spoiled(1, jsontext.Of(string(contents[0]))))
	all := bytes.Join(contents, nil)
	f.Add(all)
	f.Add(all[:len(all)-20])
	f.Add([]byte(`{"hash":"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		report, err := Verify(bytes.NewReader(text))
		events := 0
		var last error
		for _, err := range Events(bytes.NewReader(text)) {
			if last = err; err == nil {
				events++
			}
		}
		require.Equal(t, report.Lines, events)
		require.Equal(t, err == nil, last == nil, "%v and %v", err, last)
		torn := (*TornError)(nil)
		if err == nil && report.Lines > 2 {
			all := lines(text)
			without := bytes.Join(append(all[:1:1], all[2:]...), nil)
			_, err := Verify(bytes.NewReader(without))
			require.Error(t, err, "a line that is left out does not show")
		}
		if err != nil && !errors.As(err, &torn) || report.Lines == 0 {
			return
		}
		path := filepath.Join(t.TempDir(), "audit")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		a, err := openAudit((&faultyDisk{room: -1}).disk(), path, Options{}) // whose syncs take no time
		require.NoError(t, err)
		require.NoError(t, a.Close())
		_, err = VerifyFile(path)
		require.NoError(t, err)
	})
}

// FuzzRead reads anything for a dump. What is read is dumped and read as the same.
func FuzzRead(f *testing.F) {
	jsontext.Add[[]byte](f, 300, jsontext.Spoiled(2, jsontext.Of(
		`{"at":"2026-01-15T09:30:00.123Z","event":"attempt","tookNs":5,"operation":"POST /orders","environment":"live","attempt":1,"key":"k","status":200,"outcome":"applied","request":{"size":0.01},"response":"<html>"}`+"\n",
		"\n"+`{"event":"attempt","operation":"GET /health","request":[1],"response":null,"err":"\ud800"}`,
		`{"event":"attempt","operation":"x","response":" {}"}`,
	)))
	f.Fuzz(func(t *testing.T, text []byte) {
		records, err := Read(bytes.NewReader(text))
		if err != nil || len(records) == 0 {
			return
		}
		flight := NewFlight(len(records))
		for i := range records {
			flight.add(records[i])
		}
		var once, twice bytes.Buffer
		if err := flight.Dump(&once); err != nil {
			return // a time that JSON cannot have, of a year beyond 9999
		}
		first := bytes.Clone(once.Bytes())
		again, err := Read(&once)
		require.NoError(t, err, "%s", first)
		flight = NewFlight(len(again))
		for i := range again {
			flight.add(again[i])
		}
		require.NoError(t, flight.Dump(&twice))
		require.Equal(t, string(first), twice.String())
	})
}

// FuzzBody writes any body into a line and reads it back: it can break neither the line
// nor what is in it.
func FuzzBody(f *testing.F) {
	for _, body := range []string{`{"a":1}`, `[]`, `"text"`, "<html>\x00", "{\"a\":\"\xff\"}", "\xff", "", `{"a":1} trailing`, " {}\n"} {
		f.Add([]byte(body))
	}
	jsontext.Add[[]byte](f, 300, jsontext.Spoiled(2, jsontext.Value(2)))
	f.Fuzz(func(t *testing.T, body []byte) {
		var enc encoder
		line, hash, err := enc.line(noHash, &Event{Seq: 1, Kind: KindSegment, Operation: trading.OpOrder, Request: body})
		require.NoError(t, err)
		require.Equal(t, 1, bytes.Count(line, []byte("\n")), "%q is more than a line", line)
		c, parsed, err := parseLine(bytes.TrimSuffix(line, []byte("\n")))
		require.NoError(t, err, "%q", line)
		require.Equal(t, hash, parsed, "%q", line)
		want := []byte(string([]rune(string(body)))) // what is no UTF-8 is lost
		if Body(body).isJSON() {
			var compact bytes.Buffer
			require.NoError(t, json.Compact(&compact, body))
			want = compact.Bytes()
		}
		if !bytes.Contains(body, []byte("pk_")) {
			require.Equal(t, string(want), string(c.Request))
		}
	})
}
