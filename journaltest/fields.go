package journaltest

import (
	"bytes"
	"fmt"
	"reflect"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// fill sets every field that the type has, each to another value, so that a
// field which is added later is tried as well.
func fill(v reflect.Value, n *int64) {
	*n++
	switch field := v.Addr().Interface().(type) {
	case *time.Time:
		*field = start.Add(time.Duration(*n) * 1_000_000_007)
		return
	case *decimal.Decimal:
		*field = decimal.New(-*n*1_000_003, int32(*n%7)-9)
		return
	case *trading.Opt[trading.Baseline]:
		var b trading.Baseline
		fill(reflect.ValueOf(&b).Elem(), n)
		*field = trading.Some(b)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	case reflect.Uint64: // digests
		v.SetUint(uint64(*n) << 32)
	case reflect.Uint8: // outcomes and bases
		v.SetUint(uint64(*n%2 + 1))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic(fmt.Sprintf("journaltest: no value for a %s", v.Type()))
	}
}

// filled returns a T with every field set, differently for each seed.
func filled[T any](seed int64) T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), &seed)
	return v
}

// differ says where two values of one type differ; "" if nowhere.
func differ(got, want any) string {
	return differAt("", reflect.ValueOf(got), reflect.ValueOf(want))
}

func differAt(path string, got, want reflect.Value) string {
	switch want := want.Interface().(type) {
	case time.Time:
		if got := got.Interface().(time.Time); !got.Equal(want) {
			return fmt.Sprintf("%s is %v, want %v", path, got, want)
		}
		return ""
	case decimal.Decimal:
		if got := got.Interface().(decimal.Decimal); !got.Equal(want) {
			return fmt.Sprintf("%s is %v, want %v", path, got, want)
		}
		return ""
	case []byte:
		if got := got.Bytes(); !bytes.Equal(got, want) {
			return fmt.Sprintf("%s is %.80q, want %.80q", path, got, want)
		}
		return ""
	case trading.Opt[trading.Baseline]:
		return differOpt(path, got.Interface().(trading.Opt[trading.Baseline]), want)
	case trading.Opt[trading.Settlement]:
		return differOpt(path, got.Interface().(trading.Opt[trading.Settlement]), want)
	}
	switch want.Kind() {
	case reflect.Slice:
		if got.Len() != want.Len() {
			return fmt.Sprintf("%s has %d elements, want %d", path, got.Len(), want.Len())
		}
		for i := range want.Len() {
			if diff := differAt(fmt.Sprintf("%s[%d]", path, i), got.Index(i), want.Index(i)); diff != "" {
				return diff
			}
		}
	case reflect.Struct:
		for i := range want.NumField() {
			if diff := differAt(path+"."+want.Type().Field(i).Name, got.Field(i), want.Field(i)); diff != "" {
				return diff
			}
		}
	default:
		if !got.Equal(want) {
			return fmt.Sprintf("%s is %v, want %v", path, got, want)
		}
	}
	return ""
}

func differOpt[T any](path string, got, want trading.Opt[T]) string {
	g, has := got.Get()
	w, should := want.Get()
	if has != should {
		return fmt.Sprintf("%s is there: %t, want %t", path, has, should)
	}
	return differAt(path, reflect.ValueOf(g), reflect.ValueOf(w))
}
