package ledger

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each permission that either has lost is lost, survives a journal, and costs nothing where none is.
func TestWithout(t *testing.T) {
	text, err := json.Marshal(Terms{})
	require.NoError(t, err)
	assert.NotContains(t, string(text), "without")
	kind := reflect.TypeFor[Without]()
	for i := range kind.NumField() {
		var w Without
		field := reflect.ValueOf(&w).Elem().Field(i)
		if field.Kind() == reflect.Bool {
			field.SetBool(true)
		} else {
			field.SetInt(int64(time.Minute))
		}
		name := kind.Field(i).Name
		assert.Equal(t, w, Without{}.And(w), name)
		assert.Equal(t, w, w.And(Without{}), name)
		text, err := json.Marshal(Terms{Without: w})
		require.NoError(t, err)
		var back Terms
		require.NoError(t, json.Unmarshal(text, &back))
		assert.Equal(t, w, back.Without, name)
	}
	assert.Equal(t, Lag, Without{Lag: time.Second}.ReadLag(), "no less than usual")
	assert.Equal(t, time.Minute, Without{Lag: time.Minute}.ReadLag())
}
