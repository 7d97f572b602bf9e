package trading

import (
	"fmt"

	"github.com/oapi-codegen/runtime"
)

// at aims the call at a path and query below the versioned root. Variable parts
// are styled as the contract says before they get here.
func (c *call) at(path, query string) {
	u := *c.core.base
	u.Path += path
	u.RawQuery = query
	c.url = &u
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
