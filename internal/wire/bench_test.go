package wire

import (
	"encoding/json"
	"testing"
)

const orderAnswer = `{"success":true,"action":"opened","fill":{"price":64010.5,"size":0.1,"fee":2.8804725},` +
	`"position":{"symbol":"BTC","side":"long","size":0.1,"leverage":3,"entryPrice":64010.5,"markPrice":64010.5,` +
	`"notionalValue":6401.05,"marginRequired":2133.683333,"unrealizedPnL":0,"takeProfitPrice":66000,` +
	`"stopLossPrice":63000,"openedAt":"2026-11-02T09:30:00.000Z"},"newBalance":50247.8695275}`

func BenchmarkEnvelope(b *testing.B) {
	data := []byte(orderAnswer)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Envelope(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSkip(b *testing.B) {
	data := []byte(orderAnswer)
	b.Run("Decoder", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			d := NewDecoder(data)
			d.Skip()
			if err := d.Finish(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("json.Valid", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if !json.Valid(data) {
				b.Fatal("not valid")
			}
		}
	})
}

func BenchmarkTime(b *testing.B) {
	for name, data := range map[string]string{
		"millis": `1793612760000`, "RFC3339": `"2026-11-02T12:00:00.250Z"`, "no zone": `"2026-11-02T12:00:00"`,
	} {
		b.Run(name, func(b *testing.B) {
			d, in := NewDecoder(nil), []byte(data)
			b.ReportAllocs()
			for b.Loop() {
				*d = Decoder{input: in, data: in}
				d.Time()
			}
		})
	}
}
