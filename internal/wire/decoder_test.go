package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leg and book are decoded as generated code does it.
type leg struct {
	Symbol string
	Size   decimal.Decimal
	Mark   Nullable[decimal.Decimal]
	Count  Nullable[int64]
	Open   Nullable[bool]
	At     Nullable[Timestamp]
	Extra  map[string]json.RawMessage
}

func (v *leg) DecodeWire(d *Decoder) error {
	*v = leg{}
	var seen uint64
	for d.Object(); d.Member(); {
		switch string(d.Name()) {
		case "symbol":
			d.Once(&seen, 1<<0)
			v.Symbol = d.Text()
		case "size":
			d.Once(&seen, 1<<1)
			v.Size = d.Decimal()
		case "mark":
			d.Once(&seen, 1<<2)
			v.Mark = Optional(d, (*Decoder).Decimal)
		case "count":
			d.Once(&seen, 1<<3)
			v.Count = Optional(d, (*Decoder).Int64)
		case "open":
			d.Once(&seen, 1<<4)
			v.Open = Optional(d, (*Decoder).Bool)
		case "at":
			d.Once(&seen, 1<<5)
			v.At = Optional(d, (*Decoder).Time)
		case "marks":
			d.Once(&seen, 1<<6)
			Map(d, (*Decoder).Decimal)
		default:
			d.Unknown(&v.Extra)
		}
	}
	d.Require(seen, 1<<0|1<<1, []string{"symbol", "size"})
	return d.Err()
}

type book struct {
	Legs  []leg
	Best  Nullable[leg]
	Marks map[string]Nullable[decimal.Decimal]
	Extra map[string]json.RawMessage
}

func (v *book) DecodeWire(d *Decoder) error {
	*v = book{}
	var seen uint64
	for d.Object(); d.Member(); {
		switch string(d.Name()) {
		case "legs":
			d.Once(&seen, 1<<0)
			v.Legs = List[leg](d)
		case "best":
			d.Once(&seen, 1<<1)
			OptionalRecord(d, &v.Best)
		case "marks":
			d.Once(&seen, 1<<2)
			v.Marks = Map(d, (*Decoder).Decimal)
		default:
			d.Unknown(&v.Extra)
		}
	}
	d.Require(seen, 1<<0, []string{"legs"})
	return d.Err()
}

func TestUnmarshal(t *testing.T) {
	data := []byte(` {"legs" : [ {"symbol":"BTC","size":0.10,"mark":null,"count":"12","open":true,"at":1793612760000},
		{"size":"-1.5","symbol":"\u0045TH\ud83d\ude00","mark":2,"new":{"a":[1, "x"]}} ],
		"best":{"symbol":"","size":1e2}, "marks":{"BTC":1,"ETH":null}, "x":"y"} ` + "\n")
	var v book
	require.NoError(t, Unmarshal(data, &v))
	for i := range data { // a pooled buffer is written again
		data[i] = '#'
	}

	dec := decimal.RequireFromString
	want := book{
		Legs: []leg{
			{Symbol: "BTC", Size: decimal.New(10, -2), Mark: Null[decimal.Decimal](), Count: Some[int64](12), Open: Some(true), At: Some(Timestamp{at: time.UnixMilli(1793612760000).UTC()})},
			{Symbol: "ETH😀", Size: dec("-1.5"), Mark: Some(dec("2")), Extra: map[string]json.RawMessage{"new": json.RawMessage(`{"a":[1, "x"]}`)}},
		},
		Best:  Some(leg{Size: decimal.New(1, 2)}),
		Marks: map[string]Nullable[decimal.Decimal]{"BTC": Some(dec("1")), "ETH": Null[decimal.Decimal]()},
		Extra: map[string]json.RawMessage{"x": json.RawMessage(`"y"`)},
	}
	assert.Equal(t, want, v)
	count, ok := v.Legs[0].Count.Get()
	assert.True(t, ok)
	assert.EqualValues(t, 12, count)
}

func TestUnmarshal_EmptyListsAreNotNil(t *testing.T) {
	var v book
	require.NoError(t, Unmarshal([]byte(`{"legs":[],"marks":{}}`), &v))
	assert.NotNil(t, v.Legs)
	assert.NotNil(t, v.Marks)
	assert.True(t, v.Best.IsAbsent())

	require.NoError(t, Unmarshal([]byte(`{"legs":[],"best":null}`), &v))
	assert.True(t, v.Best.IsNull())
}

func TestUnmarshal_Errors(t *testing.T) {
	long := strings.Repeat("n", 500)
	for _, tt := range []struct {
		data    string
		path    string
		offset  int
		problem Problem
	}{
		{`null`, "", 0, UnexpectedNull},
		{`[]`, "", 0, WrongType},
		{`{}`, "legs", 1, Missing},
		{`{"legs":[{"symbol":"a","size":1},]}`, "legs[1]", 33, Syntax},
		{`{"legs":null}`, "legs", 8, UnexpectedNull},
		{`{"legs":{}}`, "legs", 8, WrongType},
		{`{"legs":[],"legs":[]}`, "legs", 18, Duplicate},
		{`{"legs":[],"x":1,"\u0078":2}`, "x", 26, Duplicate},
		{`{"LEGS":[]}`, "legs", 10, Missing},
		{`{"legs":[{"symbol":"a","size":1},{"symbol":"b"}]}`, "legs[1].size", 46, Missing},
		{`{"legs":[{"symbol":"a","size":1},{"symbol":"b","size":null}]}`, "legs[1].size", 54, UnexpectedNull},
		{`{"legs":[{"symbol":"a","size":true}]}`, "legs[0].size", 30, WrongType},
		{`{"legs":[{"symbol":"a","size": "+5"}]}`, "legs[0].size", 31, NotANumber},
		{`{"legs":[{"symbol":"a","size":1e999999999}]}`, "legs[0].size", 30, NumberTooLarge},
		{`{"legs":[{"symbol":"a","size":1,"mark":` + strings.Repeat("1", 65) + `}]}`, "legs[0].mark", 39, NumberTooLong},
		{`{"legs":[{"symbol":5}]}`, "legs[0].symbol", 19, WrongType},
		{`{"legs":[{"symbol":"a` + "\n" + `"}]}`, "legs[0].symbol", 21, Syntax},
		{`{"legs":[{"symbol":"a`, "legs[0].symbol", 21, Truncated},
		{`{"legs":[{"count":1.5}]}`, "legs[0].count", 18, NotAnInteger},
		{`{"legs":[{"count":1e` + strings.Repeat("0", 63) + `}]}`, "legs[0].count", 18, NumberTooLong},
		{`{"legs":[{"count":9223372036854775808}]}`, "legs[0].count", 18, NotAnInteger},
		{`{"legs":[{"open":"true"}]}`, "legs[0].open", 17, WrongType},
		{`{"legs":[{"at":false}]}`, "legs[0].at", 15, WrongType},
		{`{"legs":[{"marks":{"a":1,"b":1,"a":2}}]}`, "legs[0].marks.a", 35, Duplicate},
		{`{"best":{"symbol":""}}`, "best.size", 20, Missing},
		{`{"` + long + `":nul}`, `["` + long[:maxPathName] + `"...]`, 504, Syntax},
	} {
		var v book
		err := Unmarshal([]byte(tt.data), &v)
		var wireErr *JSONError
		require.ErrorAs(t, err, &wireErr, tt.data)
		assert.Equal(t, JSONError{tt.path, tt.offset, tt.problem}, *wireErr, tt.data)
	}
}

// T28: encoding/json would take "SIZE" for size.
func TestTrap_T28_NamesAreExact(t *testing.T) {
	var v leg
	require.NoError(t, Unmarshal([]byte(`{"symbol":"BTC","size":1,"SIZE":2,"Symbol":"ETH"}`), &v))
	assert.Equal(t, "BTC", v.Symbol)
	assert.Equal(t, "1", v.Size.String())
	assert.Len(t, v.Extra, 2)
	require.Error(t, Unmarshal([]byte(`{"symbol":"BTC","SIZE":1}`), &v))
}

func TestUnmarshal_Depth(t *testing.T) {
	nested := func(n int) []byte {
		return []byte(`{"legs":[],"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`)
	}
	var v book
	require.NoError(t, Unmarshal(nested(maxDepth-1), &v))
	err := Unmarshal(nested(maxDepth), &book{})
	var wireErr *JSONError
	require.ErrorAs(t, err, &wireErr)
	assert.Equal(t, TooDeep, wireErr.Problem)
	assert.Less(t, len(err.Error()), 300)

	err = Unmarshal([]byte(strings.Repeat(`{"nested":`, 1<<16)), &tree{})
	require.ErrorAs(t, err, &wireErr)
	assert.Equal(t, TooDeep, wireErr.Problem)
}

func TestError_IsBoundedAndRepeatsNoValue(t *testing.T) {
	const secret = "pk_live_0123456789"
	require.EqualError(t, Unmarshal([]byte(secret), &book{}), "wire: not well-formed JSON (byte 0)")
	require.EqualError(t, Unmarshal([]byte(`{}`), &book{}), "wire: legs: required member missing (byte 1)")
	for _, data := range []string{
		`{"legs":[{"symbol":"` + secret + `","size":"` + secret + `"}]}`,
		`{"legs":"` + secret + `"}`,
		`{"legs":[{"symbol":"` + secret + "\n" + `"}]}`,
		`"` + secret + `"`,
		secret,
		strings.Repeat(`{"`+strings.Repeat(`\n`, 1000)+`":[`, 30) + `nul`,
	} {
		err := Unmarshal([]byte(data), &book{})
		require.Error(t, err)
		assert.NotContains(t, err.Error(), secret)
		assert.Less(t, len(err.Error()), 400)
	}
}

type failing struct{ err error }

func (f failing) DecodeWire(*Decoder) error { return f.err }

func TestUnmarshal_KeepsAnErrorOfTheType(t *testing.T) {
	own := errors.New("own")
	assert.ErrorIs(t, Unmarshal([]byte(`{}`), failing{own}), own)
}

func TestList_RoomFollowsTheInput(t *testing.T) {
	row := `{"symbol":"BTC","size":0.1,"mark":64000.5,"open":true,"at":1793612760000},`
	data := []byte("[" + strings.Repeat(row, 9_999) + strings.TrimSuffix(row, ",") + "]")
	list, err := unmarshalLegs(data)
	require.NoError(t, err)
	assert.Len(t, list, 10_000)
	assert.Less(t, cap(list), 12_000)

	// A few rows in front of something big.
	data = fmt.Appendf(nil, `{"legs":[%s%s],"x":%q}`, strings.Repeat(row, 9), strings.TrimSuffix(row, ","), strings.Repeat("x", 1<<20))
	list, err = unmarshalLegs(data)
	require.NoError(t, err)
	assert.Len(t, list, 10)
	assert.Less(t, cap(list), 1<<20/60)
}

func TestList_RepeatedTextsAreShared(t *testing.T) {
	row := `{"symbol":"BTC","size":1},`
	data := []byte("[" + strings.Repeat(row, 999) + strings.TrimSuffix(row, ",") + "]")
	allocs := testing.AllocsPerRun(10, func() {
		if _, err := unmarshalLegs(data); err != nil {
			t.Error(err)
		}
	})
	assert.Less(t, allocs, 30.0)
}

// Copies of raw values may share an allocation, but writing to one must not
// reach another.
func TestList_RawMembersAreApart(t *testing.T) {
	row := `{"symbol":"BTC","size":1,"a":"one","b":"two"},`
	data := []byte("[" + strings.Repeat(row, 500) + strings.TrimSuffix(row, ",") + "]")
	list, err := unmarshalLegs(data)
	require.NoError(t, err)
	for _, v := range list {
		a := append(v.Extra["a"], "#########"...)
		copy(a, "#########")
	}
	for i := range data {
		data[i] = '!'
	}
	for _, v := range list {
		require.Equal(t, `"two"`, string(v.Extra["b"]))
		copy(v.Extra["a"], "#####")
		require.Equal(t, `"two"`, string(v.Extra["b"]))
	}
}

func TestRecentNumbers(t *testing.T) {
	d := NewDecoder([]byte(`[64010.5, -64010.5, 6401.05, 64010.50, 0.000, 0e3, 64010.5, 999, 1000, 1001, 1002, 1003, 64010.5]`))
	var got []string
	for d.Array(); d.Element(); {
		got = append(got, d.Decimal().String())
	}
	require.NoError(t, d.Finish())
	assert.Equal(t, []string{"64010.5", "-64010.5", "6401.05", "64010.5", "0", "0", "64010.5", "999", "1000", "1001", "1002", "1003", "64010.5"}, got)
}
