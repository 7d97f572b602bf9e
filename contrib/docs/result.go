package docs

import (
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const maxHits = 20

// Hit is a place in the documentation. Its members are the server's text, cleaned and
// cut; what the server does not give is empty.
type Hit struct {
	Title string // one line
	Page  string // what [Client.Page] takes: a path, an address or an id
	Text  string // an excerpt, at most 2 KiB
}

// Page is a page of the documentation: the server's text, cleaned.
type Page struct {
	Title     string // one line; may be empty
	Text      string // usually Markdown, at most 32 KiB
	Truncated bool   // the page is longer
}

// The members that servers use, in the order they are looked for.
var (
	listNames  = []string{"results", "hits", "pages", "items", "documents", "matches"}
	titleNames = []string{"title", "name", "heading"}
	pageNames  = []string{"page", "path", "slug", "id", "url", "uri", "link", "href"}
	wholeNames = []string{"text", "content", "markdown", "body"}
	textNames  = append(wholeNames[:4:4], "snippet", "excerpt", "description", "summary")
)

// parseHits reads the result of a search: structured, as links, as JSON in text, or as
// plain text, of which each block is a hit.
func parseHits(res *mcp.CallToolResult) ([]Hit, error) {
	if hits, ok := hitsOf(res.StructuredContent); ok {
		return hits, nil
	}
	hits, found := []Hit{}, false
	for _, content := range res.Content {
		some, ok := hitsIn(content)
		hits, found = append(hits, some...), found || ok
	}
	if !found {
		return nil, &AnswerError{Tool: toolSearch, Problem: "it has neither hits nor text"}
	}
	return hits[:min(len(hits), maxHits)], nil
}

func hitsIn(content mcp.Content) (hits []Hit, ok bool) {
	var hit Hit
	switch content := content.(type) {
	case *mcp.TextContent:
		if hits, ok := hitsOf(decoded(content.Text)); ok {
			return hits, true
		}
		hit.Text = block(content.Text, maxText)
	case *mcp.ResourceLink:
		hit = Hit{Title: line(content.Title, maxLine), Page: name(content.URI), Text: block(content.Description, maxText)}
		if hit.Title == "" {
			hit.Title = line(content.Name, maxLine)
		}
	case *mcp.EmbeddedResource:
		if content.Resource != nil {
			hit = Hit{Page: name(content.Resource.URI), Text: block(content.Resource.Text, maxText)}
		}
	}
	if hit == (Hit{}) {
		return nil, false
	}
	return []Hit{hit}, true
}

// hitsOf reads a list of hits, an object that holds one, or one hit.
func hitsOf(value any) (hits []Hit, ok bool) {
	list, ok := value.([]any)
	if !ok {
		members, isObject := value.(map[string]any)
		if !isObject {
			return nil, false
		}
		if list, ok = listIn(members); !ok {
			hit := hitOf(value)
			return []Hit{hit}, hit != Hit{}
		}
	}
	hits = []Hit{}
	for _, one := range list {
		if hit := hitOf(one); hit != (Hit{}) && len(hits) < maxHits {
			hits = append(hits, hit)
		}
	}
	return hits, len(hits) > 0 || len(list) == 0
}

func listIn(members map[string]any) ([]any, bool) {
	for _, name := range listNames {
		if list, ok := members[name].([]any); ok {
			return list, true
		}
	}
	return nil, false
}

func hitOf(value any) Hit {
	if text, ok := value.(string); ok {
		return Hit{Text: block(text, maxText)}
	}
	members, _ := value.(map[string]any)
	return Hit{
		Title: line(member(members, titleNames), maxLine),
		Page:  name(member(members, pageNames)),
		Text:  block(member(members, textNames), maxText),
	}
}

// name is the name of a page. One that is too long or has to be changed to be printed
// names nothing, and is left out.
func name(text string) string {
	if text != line(text, maxLine) {
		return ""
	}
	return text
}

// member is the first of the named members that is text.
func member(members map[string]any, names []string) string {
	for _, name := range names {
		if text, ok := members[name].(string); ok && strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// decoded is text as JSON; nil if it is not a JSON object or list.
func decoded(text string) any {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return nil
	}
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return nil
	}
	return value
}

// parsePage reads the result of reading a page: structured, as JSON in text, or as
// text, of which the blocks are joined.
func parsePage(res *mcp.CallToolResult) (Page, error) {
	if page, ok := pageOf(res.StructuredContent); ok {
		return page, nil
	}
	var parts []string
	for _, content := range res.Content {
		switch content := content.(type) {
		case *mcp.TextContent:
			parts = append(parts, content.Text)
		case *mcp.EmbeddedResource:
			if content.Resource != nil {
				parts = append(parts, content.Resource.Text)
			}
		}
	}
	joined := strings.Join(parts, "\n\n")
	if page, ok := pageOf(decoded(joined)); ok {
		return page, nil
	}
	if strings.TrimSpace(joined) == "" {
		return Page{}, &AnswerError{Tool: toolPage, Problem: "it has no text"}
	}
	return newPage("", joined), nil
}

// pageOf reads an object with a text.
func pageOf(value any) (Page, bool) {
	members, _ := value.(map[string]any)
	found := member(members, wholeNames)
	return newPage(member(members, titleNames), found), found != ""
}

func newPage(title, text string) Page {
	cleaned, cut := clean(strings.TrimSpace(text), maxPage)
	return Page{Title: line(title, maxLine), Text: cleaned, Truncated: cut}
}

// refusalText is what a tool says of its refusal.
func refusalText(res *mcp.CallToolResult) string {
	var parts []string
	for _, content := range res.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			parts = append(parts, text.Text)
		}
	}
	return block(strings.Join(parts, "\n"), maxText)
}
