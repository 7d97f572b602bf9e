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

// aimByQuery adds the one query parameter of the call's endpoint.
func (c *call) aimByQuery(name, value string) {
	query, err := queryParam(name, value)
	if err != nil && c.invalid == nil {
		c.invalid = err
	}
	c.url = c.core.withQuery(c.endpoint, query)
}

// aimAtAccount aims the call at a path below its account.
func (c *call) aimAtAccount(rest string) {
	segment, err := runtime.StyleParamWithOptions("simple", false, "accountId", string(c.account), runtime.StyleParamOptions{
		ParamLocation: runtime.ParamLocationPath,
		Type:          "string",
		Required:      true,
	})
	if err != nil && c.invalid == nil {
		c.invalid = fmt.Errorf("trading: account id: %w", err)
	}
	accounts := c.core.urls[&endpointAccounts]
	u := *accounts
	u.Path = accounts.Path + "/" + string(c.account) + rest
	u.RawPath = accounts.EscapedPath() + "/" + segment + rest
	c.url = &u
}

// checkID refuses ids that would turn one endpoint into another, and those that
// no service gives out.
func checkID(what, id string) *Error {
	switch id {
	case "":
		return refuse(EnvLive, CodeMissingFields, "no %s id is given", what)
	case ".", "..":
		return refuse(EnvLive, CodeBadRequest, "%q is no %s id", id, what)
	}
	for i := range len(id) {
		if id[i] < ' ' || id[i] == 0x7f {
			return refuse(EnvLive, CodeBadRequest, "the %s id has a control character, at position %d", what, i)
		}
	}
	return nil
}
