package secret

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	public = "pk_test_"
	hidden = "s3cret/Part=9"
)

func knowing(keys ...string) *Scrubber {
	s := new(Scrubber)
	for _, key := range keys {
		s.Know("test", New("test", key, len(public)))
	}
	return s
}

func TestAKeyNeverPrints(t *testing.T) {
	key := New("test", public+hidden, len(public))
	var out strings.Builder
	for _, v := range []any{key, &key, struct{ K APIKey }{key}, []APIKey{key}, map[APIKey]int{key: 1}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("m", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "v", v)
	}
	encoded, err := json.Marshal(key)
	require.NoError(t, err)
	out.Write(encoded)
	out.WriteString(key.GoString())
	assert.Contains(t, out.String(), public+Redacted)
	assert.NotContains(t, out.String(), hidden)
	assert.NotContains(t, out.String(), fmt.Sprintf("%x", hidden))
	assert.Equal(t, "(no key)", APIKey{}.String())
	assert.Equal(t, []string{public + hidden}, key.Reveal())
	assert.NotEqual(t, key.ID(), New("test", public+"another", len(public)).ID())
}

func TestScrub(t *testing.T) {
	escaped, percent := encodings(public + hidden)
	escapedPart, percentPart := encodings(hidden)
	for name, row := range map[string]struct{ text, want string }{
		"nothing":                  {`{"a":"pk_test_other","b":"50%","c":"\n"}`, `{"a":"pk_test_other","b":"50%","c":"\n"}`},
		"as it is":                 {"<" + public + hidden + ">", "<" + Redacted + ">"},
		"twice":                    {public + hidden + public + hidden, Redacted + Redacted},
		"without its prefix":       {"<" + hidden + ">", "<" + Redacted + ">"},
		"JSON escapes":             {`"` + escaped + `"`, `"` + Redacted + `"`},
		"one JSON escape":          {`"` + public + `s3cret\/Part=9"`, `"` + Redacted + `"`},
		"one escape in its prefix": {`"pk\u005ftest_s3cret/Part\u003D9"`, `"` + Redacted + `"`},
		"Go escapes":               {`"pk\x5ftest_s3cret/Part\x3d9"`, `"` + Redacted + `"`},
		"percent":                  {"/" + percent + "/", "/" + Redacted + "/"},
		"percent, one character":   {"/" + public + "s3cret%2fPart%3D9/", "/" + Redacted + "/"},
		"escapes at the beginning": {escaped + ">", Redacted + ">"},
		"percent at the beginning": {percent + ">", Redacted + ">"},
		"cut behind a backslash":   {"<" + public + `s\`, "<" + Redacted},
		"another, in percent":      {public + "s%e4 rest", public + "s%e4 rest"},
		"no percent at all":        {public + "s%zz rest", public + "s%zz rest"},
		"escaped, no prefix":       {escapedPart + " " + percentPart, Redacted + " " + Redacted},
		"cut at the end":           {"<" + public + "s", "<" + Redacted},
		"cut in an escape":         {"<" + public + `s3cr\u00`, "<" + Redacted},
		"cut in the middle":        {"<" + public + "s3cret...>", "<" + Redacted + "...>"},
		"cut, no prefix":           {"<" + hidden[:9], "<" + Redacted},
		"its prefix alone":         {"<" + public, "<" + public},
		"a word of it":             {"s3cret", "s3cret"},
		"escapes of something else": {`"\u0070\u006b \" %zz % %e4 \u20ac \`,
			`"\u0070\u006b \" %zz % %e4 \u20ac \`},
	} {
		t.Run(name, func(t *testing.T) {
			text := row.text
			assert.Equal(t, row.want, string(knowing(public+hidden).Bytes([]byte(text))))
			assert.Equal(t, row.want, knowing(public+hidden).Text(text))
			assert.Equal(t, row.want, knowing(public+hidden).Error(errors.New(text)).Error())
			assert.Equal(t, row.text, new(Scrubber).Text(text), "one that knows no key changes nothing")
		})
	}
	assert.Equal(t, "x, "+Redacted, knowing(public+"x").Text("x, "+public+"x"), "a short secret part can be a word")
	assert.Equal(t, "abc", knowing("").Text("abc"))
	encoded := public + "ab%41cd%42efgh"
	assert.Equal(t, "<"+Redacted+"> <"+Redacted, knowing(encoded).Text("<"+encoded+"> <"+encoded[:len(encoded)-2]), "a key that looks encoded")
	bare := new(Scrubber)
	bare.Know("test", New("test", hidden, 0))
	assert.Equal(t, `\ s3cre <`+Redacted+"> s", bare.Text(`\ s3cre <`+hidden+"> s"), "a key without a prefix")
	same := errors.New("clean")
	assert.Same(t, same, knowing(public+hidden).Error(same))
}

// encodings writes every character of a text as JSON and as a URL may.
func encodings(text string) (escaped, percent string) {
	for i := range len(text) {
		escaped += fmt.Sprintf(`\u%04x`, text[i])
		percent += fmt.Sprintf("%%%02X", text[i])
	}
	return escaped, percent
}

func TestScrubHeader(t *testing.T) {
	s := knowing(public + "s3cretPart")
	clean := http.Header{"A": {"1", "2"}}
	assert.Equal(t, clean, s.Header(clean))
	dirty := http.Header{"A": {"1", public + "s3cretPart"}, "B": {"2"}}
	dirty.Set(public+"s3cretPart", "3") // net/http changes its capitals
	dirty.Set("x-s3cretpart", "4")
	assert.Equal(t, http.Header{Redacted: {"5"}}, s.Header(http.Header{"S3cretpart"[:8]: {"5"}}), "nothing but its beginning")
	got := s.Header(dirty)
	assert.ElementsMatch(t, []string{"3", "4"}, got[Redacted])
	delete(got, Redacted)
	assert.Equal(t, http.Header{"A": {"1", Redacted}, "B": {"2"}}, got)
	assert.Len(t, dirty, 4, "the one that was given is not changed")
}

// A few keys before the current one are known, and no more.
func TestKeysBeforeARotation(t *testing.T) {
	s := new(Scrubber)
	key := func(n int) APIKey { return New("test", fmt.Sprintf("%sgeneration%04d", public, n), len(public)) }
	s.Know("other", New("test", "pk_live_0123456789", len(public)))
	for n := range 100 {
		s.Know("test", key(n))
		s.Know("test", key(n)) // again at each attempt
	}
	for n := range 100 {
		known := s.Text(key(n).text.header[0]) == Redacted
		assert.Equal(t, n >= 100-perGroup, known, n)
	}
	assert.Equal(t, Redacted, s.Text("pk_live_0123456789"), "a group does not push out another's")
	s.Know("test", APIKey{})
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		key, other := New("test", public+"a", len(public)), New("test", public+"b", len(public))
		held := func(k APIKey) bool { _, held := b.Check(k); return held }
		assert.False(t, held(key))
		b.Trip(key, "invalid_api_key", "no")
		refusal, is := b.Check(key)
		assert.True(t, is)
		assert.Equal(t, Refusal{"invalid_api_key", "no", time.Now().Add(HoldBack)}, refusal)
		assert.False(t, held(other))
		time.Sleep(HoldBack)
		assert.False(t, held(key), "one probes")
		assert.True(t, held(key), "the others wait for it")
		b.Reset(key)
		assert.False(t, held(key))
		for n := range 1000 {
			time.Sleep(time.Millisecond)
			b.Trip(New("test", fmt.Sprint(public, n), len(public)), "revoked_api_key", "")
		}
		assert.Len(t, b.tripped, mostTripped)
		assert.True(t, held(New("test", fmt.Sprint(public, 999), len(public))))
	})
}

// FuzzScrub puts a key into any text, in any of the ways that something in front of
// the service may write it.
func FuzzScrub(f *testing.F) {
	f.Fuzz(func(t *testing.T, before, after, part string, escape uint16) {
		if !visible(part) || len(part) < leastAlone || len(part) > 16 || strings.Contains(Redacted, part) {
			t.Skip()
		}
		s := knowing(public + part)
		mixed := ""
		for i := range len(part) {
			switch c := part[i]; {
			case escape>>i&1 == 0 && c != '\\' && c != '%':
				mixed += part[i : i+1]
			case i%2 == 0:
				mixed += fmt.Sprintf("%%%02x", c)
			default:
				mixed += fmt.Sprintf(`\u%04X`, c)
			}
		}
		for _, text := range []string{before + public + part + after, before + part + after} {
			if !strings.Contains(strings.ReplaceAll(text, part, Redacted), part) {
				require.NotContains(t, s.Text(text), part)
			}
		}
		// Behind a half of another escape, the encoding is of something else.
		require.False(t, strings.HasPrefix(s.Text(public+mixed+after), public), "%q", public+mixed+after)
		require.LessOrEqual(t, len(s.Text(before)), len(before)+len(Redacted)*(1+len(before)/leastAlone), "%q", before)
	})
}

func visible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
