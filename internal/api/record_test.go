package api

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/wire"
)

// envelopes returns a new value of what reads each answer that is no record here, by
// schema.
func envelopes() map[string]func() wire.Value {
	return map[string]func() wire.Value{
		"AccountResponse":          func() wire.Value { return &wire.Either{Member: "account", Record: new(LiveAccountDetail)} },
		"AccountRunsResponse":      rowsOf[Run]("history"),
		"OrderCancelResponse":      func() wire.Value { return new(wire.Members) },
		"RunCancelResponse":        func() wire.Value { return new(wire.Members) },
		"RunEditResponse":          func() wire.Value { return new(wire.Members) },
		"FundingResponse":          rowsOf[FundingPayment]("funding"),
		"PositionsResponse":        rowsOf[LivePosition]("positions"),
		"SandboxMarketsResponse":   rowsOf[Market]("markets"),
		"SandboxPositionsResponse": rowsOf[SandboxPosition]("positions"),
		"SandboxTradesResponse":    rowsOf[ClosedTrade]("trades"),
		"TradesResponse":           rowsOf[ClosedTrade]("trades"),
	}
}

func rowsOf[T any, P interface {
	*T
	wire.Value
}](member string) func() wire.Value {
	return func() wire.Value {
		return &wire.Rows[T, T, P]{Member: member, Bare: true, Convert: func(row *T) T { return *row }}
	}
}

// answers are both.
func answers() map[string]func() wire.Value {
	all := records()
	maps.Copy(all, envelopes())
	return all
}

// TestRecords holds every record against its schema, member by member.
func TestRecords(t *testing.T) {
	c := readContract(t)
	all, others := records(), envelopes()
	for name, s := range c.Components.Schemas {
		if !s.isRecord() || others[name] != nil {
			continue
		}
		newValue := all[name]
		require.NotNil(t, newValue, "no record for schema %s: run go generate ./..., or read it in envelopes", name)
		delete(all, name)
		t.Run(name, func(t *testing.T) { testRecord(t, c, s, newValue) })
	}
	assert.Empty(t, all, "records without a schema")
}

// toleratesNull are the members that overlay.yaml makes nullable, beyond the
// contract.
var toleratesNull = map[string]reflect.Type{"price": reflect.TypeFor[*SandboxPrice]()}

func testRecord(t *testing.T, c *contract, s *schema, newValue func() wire.Value) {
	members := c.exampleMembers(s)
	decode := func(members []member) (wire.Value, error) {
		v := newValue()
		return v, wire.Unmarshal([]byte(object(members)), v)
	}
	full, err := decode(members)
	require.NoError(t, err)
	assert.Nil(t, extraOf(full))

	// Members that the contract does not know are kept byte by byte.
	const raw = `{"a" : [1.50, "x\u0041"]}`
	got, err := decode(append([]member{{"notInTheContract", raw}}, members...))
	require.NoError(t, err)
	assert.Equal(t, map[string]json.RawMessage{"notInTheContract": json.RawMessage(raw)}, extraOf(got))
	_, err = decode([]member{{"notInTheContract", raw}, {"notInTheContract", raw}})
	assertProblem(t, wire.Duplicate, "notInTheContract", err)

	for i, m := range members {
		property := s.Properties[m.name]
		required := s.requires(m.name)
		nullable := c.resolve(property).Nullable || property.Nullable || reflect.TypeOf(full) == toleratesNull[m.name]

		without := append(append([]member{}, members[:i]...), members[i+1:]...)
		got, err := decode(without)
		if required {
			assertProblem(t, wire.Missing, m.name, err)
		} else {
			require.NoError(t, err, m.name)
			assert.True(t, changedMember(t, full, got).IsAbsent(), m.name)
		}

		got, err = decode(append(without, member{m.name, "null"}))
		if required && !nullable {
			assertProblem(t, wire.UnexpectedNull, m.name, err)
		} else {
			require.NoError(t, err, m.name)
			assert.True(t, changedMember(t, full, got).IsNull(), m.name)
		}

		_, err = decode(append(members[:len(members):len(members)], m))
		assertProblem(t, wire.Duplicate, m.name, err)

		// T28: the name in another case is another member.
		upper := strings.ToUpper(m.name)
		got, err = decode(append(without, member{upper, m.value}))
		if required {
			assertProblem(t, wire.Missing, m.name, err)
		} else {
			require.NoError(t, err, m.name)
		}
		assert.Equal(t, m.value, string(extraOf(got)[upper]))

		// Another type is an error, but for a number in quotes.
		_, err = decode(append(without, member{m.name, "[[]]"}))
		require.Error(t, err, m.name)
		if typ := c.resolve(property).Type; typ == "number" || typ == "integer" {
			got, err = decode(append(without, member{m.name, `"` + m.value + `"`}))
			require.NoError(t, err, m.name)
			assert.Equal(t, full, got, m.name)
		}
	}
}

// TestRecords_Examples decodes the contract's own examples of every success.
func TestRecords_Examples(t *testing.T) {
	c := readContract(t)
	all := answers()
	decoded := 0
	for path, methods := range c.Paths {
		for _, op := range methods {
			for status, response := range op.Responses {
				content := response.Content["application/json"]
				for name, example := range content.Examples {
					if example.Value == nil { // a reference to a refusal
						continue
					}
					where := path + " " + status + " " + name
					record := strings.TrimPrefix(content.Schema.Ref, "#/components/schemas/")
					if record == "SandboxPricesResponse" {
						record = map[string]string{"one": "SandboxPrice", "all": "SandboxPriceMap"}[name]
					}
					v := all[record]()
					require.NoError(t, wire.Unmarshal(example.Value, v), where)
					decoded++
				}
			}
		}
	}
	assert.GreaterOrEqual(t, decoded, len(c.Paths))
}

// extraOf returns what a record keeps of members that the contract does not know; nil for
// an envelope.
func extraOf(v wire.Value) map[string]json.RawMessage {
	if record := reflect.ValueOf(v).Elem(); record.Kind() == reflect.Struct {
		if extra := record.FieldByName("Extra"); extra.IsValid() {
			return extra.Interface().(map[string]json.RawMessage)
		}
	}
	return nil
}

func assertProblem(t *testing.T, want wire.Problem, path string, err error) {
	t.Helper()
	var wireErr *wire.JSONError
	require.ErrorAs(t, err, &wireErr, path)
	assert.Equal(t, want, wireErr.Problem, path)
	assert.Equal(t, path, wireErr.Path)
}

// optional is what every wire.Nullable is.
type optional interface {
	IsAbsent() bool
	IsNull() bool
}

// changedMember returns the one member of got that is not as in full.
func changedMember(t *testing.T, full, got wire.Value) optional {
	t.Helper()
	var changed []optional
	a, b := reflect.ValueOf(full).Elem(), reflect.ValueOf(got).Elem()
	for i := range a.NumField() {
		if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			o, ok := b.Field(i).Interface().(optional)
			require.True(t, ok, "%s is not optional", a.Type().Field(i).Name)
			changed = append(changed, o)
		}
	}
	require.Len(t, changed, 1)
	return changed[0]
}
