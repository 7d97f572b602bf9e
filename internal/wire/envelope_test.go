package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/jsontext"
)

func TestEnvelope_Refuses(t *testing.T) {
	for data, want := range map[string]Problem{
		`{"error":"a","error":"b"}`: Duplicate, `{"success":true,"success":false}`: Duplicate, `{"ok":1,"\u006fk":1}`: Duplicate,
		`{"message":1,"message":2}`: Duplicate, strings.Repeat("[", 65): TooDeep, `{"a":` + strings.Repeat("[", 64): TooDeep,
	} {
		_, err := Envelope([]byte(data))
		assert.Equal(t, want, problemOf(err), data)
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

// A shape is what encoding/json finds of it.
func FuzzEnvelope(f *testing.F) {
	jsontext.Add[[]byte](f, 1000, jsontext.Spoiled(4, jsontext.Value(2, "ok", "success", "error", "message", "OK", "Error", "x")))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Envelope(data)
		if checkRefusal(t, data, err) {
			return
		}
		members, isObject := standard(t, data).(map[string]any)
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
