package trading

import (
	"fmt"
	"net/url"

	"github.com/oapi-codegen/runtime"
)

// endpointURLs joins the versioned root with the paths that have no variable
// part, once for the life of the client. They are shared by all requests, which
// only read them.
func endpointURLs(base *url.URL) map[*endpoint]*url.URL {
	urls := make(map[*endpoint]*url.URL, len(fixedEndpoints))
	for _, e := range fixedEndpoints {
		u := *base
		u.Path += e.op.path()
		urls[e] = &u
	}
	return urls
}

// withQuery returns the URL of a fixed endpoint with a query.
func (c *core) withQuery(e *endpoint, query string) *url.URL {
	u := *c.urls[e]
	u.RawQuery = query
	return &u
}

// queryParam styles one query parameter.
func queryParam(name, value string) (string, error) {
	text, err := runtime.StyleParamWithOptions("form", true, name, value, runtime.StyleParamOptions{
		ParamLocation: runtime.ParamLocationQuery,
		Type:          "string",
		Required:      true,
	})
	if err != nil {
		return "", fmt.Errorf("trading: query parameter %s: %w", name, err)
	}
	return text, nil
}
