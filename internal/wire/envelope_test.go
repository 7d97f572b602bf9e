package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEnvelope(t *testing.T) {
	for data, want := range map[string]Shape{
		`{}`:                {Object: true},
		` { } `:             {Object: true},
		`[]`:                {},
		`"error"`:           {},
		`5`:                 {},
		`null`:              {},
		`{"ok":true}`:       {Object: true, OK: true},
		`{"ok":false}`:      {Object: true},
		`{"success":null}`:  {Object: true},
		`{"ok":"true"}`:     {Object: true},
		`{"ok":1}`:          {Object: true},
		`{"OK":true}`:       {Object: true},
		`{"x":{"ok":true}}`: {Object: true},
		`{"\u006fk":true}`:  {Object: true, OK: true},
		`{"a":[1,{"b":null}],"success" : true , "z":"" }`: {Object: true, Success: true},
		`{"error":"no_price","message":"No \"price\"."}`: {
			Object: true, Error: "no_price", Message: `No "price".`, HasError: true, HasMessage: true,
		},
		`{"error":"","message":""}`:     {Object: true, HasError: true, HasMessage: true},
		`{"error":null,"message":"x"}`:  {Object: true, Message: "x", HasMessage: true},
		`{"error":{"a":1},"message":5}`: {Object: true},
		`{"ERROR":"no_price"}`:          {Object: true},
		`{"message":"only"}`:            {Object: true},
		`{"error":"\ud800","ok":true}`:  {Object: true, OK: true, Error: "\ufffd", HasError: true},
	} {
		want.HasOK = strings.Contains(data, `"ok"`) && want.Object && !strings.Contains(data, `"x":{`) || want.OK
		want.HasSuccess = strings.Contains(data, `"success"`)
		got, err := Envelope([]byte(data))
		require.NoError(t, err, data)
		assert.Equal(t, want, got, data)
	}
}

func TestEnvelope_Refuses(t *testing.T) {
	for data, want := range map[string]Problem{
		``: Truncated, ` `: Truncated, `<html>`: Syntax, `{`: Truncated, `{"ok"`: Truncated, `{"ok":`: Truncated,
		`{"ok":true`: Truncated, `{"ok":true,`: Truncated, `{"ok":true,}`: Syntax, `{"ok" true}`: Syntax,
		`{"ok":truth}`: Syntax, `{ok:true}`: Syntax, `{"ok":true} {}`: TrailingData, `[1,]`: Syntax, `01`: NotANumber,
		`{"error":"a","error":"b"}`: Duplicate, `{"success":true,"success":false}`: Duplicate,
		strings.Repeat("[", 65): TooDeep, `{"a":` + strings.Repeat("[", 64): TooDeep,
	} {
		_, err := Envelope([]byte(data))
		var wireErr *JSONError
		require.ErrorAs(t, err, &wireErr, data)
		assert.Equal(t, want, wireErr.Problem, data)
	}
}

func TestEnvelope_Allocations(t *testing.T) {
	for _, data := range []string{
		`{"success":true,"fill":{"price":1.5},"message":"opened"}`, `[1,2,{"a":"\n"}]`,
	} {
		in := []byte(data)
		assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = Envelope(in) }), data)
	}
}

func FuzzEnvelope(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Envelope(data)
		var wireErr *JSONError
		if errors.As(err, &wireErr) && (wireErr.Problem == TooDeep || wireErr.Problem == Duplicate) {
			return
		}
		require.Equal(t, json.Valid(data), err == nil, "%q: %v", data, err)
		if err != nil {
			return
		}
		var members map[string]any
		isObject := json.Unmarshal(data, &members) == nil && members != nil
		code, hasError := members["error"].(string)
		message, hasMessage := members["message"].(string)
		if _, there := members["error"]; !there {
			message, hasMessage = "", false
		}
		_, hasOK := members["ok"]
		_, hasSuccess := members["success"]
		want := Shape{
			HasOK: hasOK, HasSuccess: hasSuccess,
			Object: isObject, OK: members["ok"] == true, Success: members["success"] == true,
			Error: code, HasError: hasError, Message: message, HasMessage: hasMessage,
		}
		require.Equal(t, want, got, "%q", data)
	})
}
