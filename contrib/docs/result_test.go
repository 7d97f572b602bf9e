package docs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

func parse(t *testing.T, text string) *mcp.CallToolResult {
	t.Helper()
	res := new(mcp.CallToolResult)
	require.NoError(t, json.Unmarshal([]byte(text), res))
	return res
}

// inText is a result of blocks of text.
func inText(t *testing.T, blocks ...string) string {
	t.Helper()
	var list []map[string]string
	for _, one := range blocks {
		list = append(list, map[string]string{"type": "text", "text": one})
	}
	text, err := json.Marshal(map[string]any{"content": list})
	require.NoError(t, err)
	return string(text)
}

func TestHits(t *testing.T) {
	two := []Hit{{Title: "Keys", Page: "a/b", Text: "One."}, {Page: "https://x.test/c", Text: "Two."}}
	list := `[{"title":"Keys","path":"a/b","text":"One."},{"url":"https://x.test/c","snippet":"Two.","score":0.5}]`
	for name, row := range map[string]struct {
		result string
		want   []Hit
	}{
		"structured":             {`{"content":[],"structuredContent":{"results":` + list + `}}`, two},
		"a structured list":      {`{"content":[],"structuredContent":` + list + `}`, two},
		"structured before text": {`{"content":[{"type":"text","text":"other"}],"structuredContent":{"hits":` + list + `}}`, two},
		"structured, of another form": {`{"content":[{"type":"text","text":"Two."}],"structuredContent":{"count":2}}`,
			[]Hit{{Text: "Two."}}},
		"structured, none":    {`{"content":[],"structuredContent":{"results":[]}}`, []Hit{}},
		"JSON in text":        {inText(t, " "+list+"\n"), two},
		"JSON in text, none":  {inText(t, "[]"), []Hit{}},
		"JSON in each block":  {inText(t, `{"title":"Keys","path":"a/b","text":"One."}`, `{"url":"https://x.test/c","snippet":"Two."}`), two},
		"text":                {inText(t, "One.", "", "Two."), []Hit{{Text: "One."}, {Text: "Two."}}},
		"text with a bracket": {inText(t, "[draft] One."), []Hit{{Text: "[draft] One."}}},
		"strings":             {`{"content":[],"structuredContent":{"results":["One.","Two."]}}`, []Hit{{Text: "One."}, {Text: "Two."}}},
		"links": {`{"content":[{"type":"resource_link","uri":"docs://a","name":"a","title":"Keys","description":"One."},{"type":"resource_link","uri":"docs://b","name":"b"}]}`,
			[]Hit{{Title: "Keys", Page: "docs://a", Text: "One."}, {Title: "b", Page: "docs://b"}}},
		"resources": {`{"content":[{"type":"resource","resource":{"uri":"docs://a","text":"One."}}]}`,
			[]Hit{{Page: "docs://a", Text: "One."}}},
		"members of other types": {`{"content":[],"structuredContent":{"results":[{"title":7,"name":"Keys","path":["a"],"id":"k","text":null}]}}`,
			[]Hit{{Title: "Keys", Page: "k"}}},
		"a title of two lines":           {`{"content":[],"structuredContent":[{"title":" Keys\n\n and\tmore\u0007 "}]}`, []Hit{{Title: "Keys and more\ufffd"}}},
		"a page that cannot be printed":  {`{"content":[],"structuredContent":[{"title":"Keys","path":"a\u001b[2J"}]}`, []Hit{{Title: "Keys"}}},
		"a page in two lines":            {`{"content":[],"structuredContent":[{"title":"Keys","path":"a\nb"}]}`, []Hit{{Title: "Keys"}}},
		"some that are empty, some odd ": {`{"content":[],"structuredContent":[{},null,7,{"title":"Keys"}]}`, []Hit{{Title: "Keys"}}},
	} {
		t.Run(name, func(t *testing.T) {
			hits, err := parseHits(parse(t, row.result))
			require.NoError(t, err)
			require.Equal(t, row.want, hits)
		})
	}
}

func TestNoHitsToRead(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"content":[]}`, inText(t, " "), `{"content":[],"structuredContent":{"count":1}}`,
		`{"content":[],"structuredContent":7}`, `{"content":[],"structuredContent":[{}]}`,
		`{"content":[{"type":"image","data":"","mimeType":"image/png"}]}`,
	} {
		hits, err := parseHits(parse(t, text))
		require.ErrorAs(t, err, new(*AnswerError), text)
		require.Nil(t, hits)
	}
}

func TestManyAndLongHits(t *testing.T) {
	one := fmt.Sprintf(`{"title":%q,"path":%q,"text":%q}`, strings.Repeat("é", 400), strings.Repeat("p", 400), strings.Repeat("é", 4000))
	hits, err := parseHits(parse(t, `{"content":[],"structuredContent":[`+one+strings.Repeat(","+one, 99)+`]}`))
	require.NoError(t, err)
	require.Len(t, hits, maxHits)
	require.True(t, strings.HasSuffix(hits[0].Title, "é…"))
	require.LessOrEqual(t, len(hits[0].Title), maxLine)
	require.True(t, strings.HasSuffix(hits[0].Text, "é…"))
	require.LessOrEqual(t, len(hits[0].Text), maxText)
	require.Empty(t, hits[0].Page, "a part of a name is no name")
	hits, err = parseHits(parse(t, inText(t, strings.Split(strings.Repeat("a ", 50), " ")...)))
	require.NoError(t, err)
	require.Len(t, hits, maxHits)
}

func TestPage(t *testing.T) {
	for name, row := range map[string]struct {
		result string
		want   Page
	}{
		"text":             {inText(t, "# Keys\r\n\r\nSend one.\n"), Page{Text: "# Keys\n\nSend one."}},
		"blocks":           {inText(t, "One.", "Two."), Page{Text: "One.\n\nTwo."}},
		"structured":       {`{"content":[],"structuredContent":{"title":"Keys","markdown":"One."}}`, Page{Title: "Keys", Text: "One."}},
		"JSON in text":     {inText(t, `{"title":"Keys","content":"One."}`), Page{Title: "Keys", Text: "One."}},
		"JSON of its own":  {inText(t, `{"openapi":"3.0.3","description":"All."}`), Page{Text: `{"openapi":"3.0.3","description":"All."}`}},
		"a resource":       {`{"content":[{"type":"resource","resource":{"uri":"docs://a","text":"One."}}]}`, Page{Text: "One."}},
		"escape sequences": {inText(t, "a\x1b]0;b\x07\u202ec\u200b\u2028\u00a0d\U000e0041"), Page{Text: "a\ufffd]0;b\ufffd\ufffdc\ufffd\n d\ufffd"}},
		"long":             {inText(t, strings.Repeat("é", maxPage)), Page{Text: strings.Repeat("é", maxPage/2), Truncated: true}},
		"just long enough": {inText(t, strings.Repeat("é", maxPage/2)), Page{Text: strings.Repeat("é", maxPage/2)}},
	} {
		t.Run(name, func(t *testing.T) {
			page, err := parsePage(parse(t, row.result))
			require.NoError(t, err)
			require.Equal(t, row.want, page)
		})
	}
	for _, text := range []string{`{}`, `{"content":[]}`, inText(t, " \n"), `{"content":[],"structuredContent":{"text":7}}`} {
		page, err := parsePage(parse(t, text))
		require.ErrorAs(t, err, new(*AnswerError), text)
		require.Zero(t, page)
	}
}

// The name of the argument is the server's.
func TestArgumentNames(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"slug":{"type":"string"}},"required":["slug"]}`:                                   "slug",
		`{"properties":{"question":{"type":"string"},"query":{"type":"string"}},"required":["question"]}`: "question",
		`{"properties":{"query":{"type":["string","null"]},"limit":{"type":"integer"}}}`:                  "query",
		`{"properties":{"q":{},"language":{"type":"string"}},"required":["language","q"]}`:                "q",
		`{"properties":{"query":{"type":"integer"},"text":{"type":"string"}},"required":["query"]}`:       "text",
		`{"properties":{"query":true},"required":["query"]}`:                                              "",
		`{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`:               "",
		`{"required":["query"]}`:                                    "",
		`{"properties":{"query":{"type":["integer"]}}}`:             "",
		`{"properties":{"query":{"type":"string"}},"required":[7]}`: "query",
		`[]`:   "",
		`null`: "",
	} {
		var value any
		require.NoError(t, json.Unmarshal([]byte(schema), &value))
		require.Equal(t, want, argumentOf(&mcp.Tool{Name: toolSearch, InputSchema: value}), schema)
	}
}

// FuzzResult holds what is made of a result to what the package promises of its text.
func FuzzResult(f *testing.F) {
	for _, text := range []string{
		`{"content":[],"structuredContent":{"results":[{"title":"Keys","path":"a/b","text":"One."}]}}`,
		`{"content":[{"type":"text","text":"[{\"title\":\"Keys\u001b\"}]"}]}`,
		`{"content":[{"type":"text","text":"a\u202e\u0000\r\n\u2028"}]}`,
		`{"content":[{"type":"resource_link","uri":"docs://a","name":"a"},{"type":"resource","resource":{"uri":"a","text":"b"}}]}`,
		`{"isError":true,"content":[{"type":"text","text":"no"}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		res := new(mcp.CallToolResult)
		if json.Unmarshal(text, res) != nil {
			return
		}
		hits, err := parseHits(res)
		require.Equal(t, err != nil, hits == nil)
		require.LessOrEqual(t, len(hits), maxHits)
		for _, hit := range hits {
			require.NotZero(t, hit)
			requireClean(t, hit.Title, maxLine, false)
			requireClean(t, hit.Page, maxLine, false)
			requireClean(t, hit.Text, maxText, true)
		}
		page, err := parsePage(res)
		require.Equal(t, err != nil, page.Text == "")
		requireClean(t, page.Title, maxLine, false)
		requireClean(t, page.Text, maxPage, true)
		requireClean(t, refusalText(res), maxText, true)
		again, err := parsePage(res)
		require.Equal(t, page, again)
		if err != nil {
			requirePrintable(t, err.Error())
		}
	})
}

func requireClean(t *testing.T, text string, limit int, lines bool) {
	t.Helper()
	require.True(t, utf8.ValidString(text))
	require.LessOrEqual(t, len(text), limit)
	for _, r := range text {
		require.Equal(t, printable(r), r)
		require.True(t, lines || r != '\n' && r != '\t')
		require.False(t, r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0, "a control character")
	}
}
