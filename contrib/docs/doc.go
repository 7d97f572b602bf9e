// Package docs searches and reads the service's public documentation, through the
// tool server at {docs_url}/mcp.
//
//	client, err := docs.New(docs.Config{URL: "https://docs.example.com"})
//	hits, err := client.Search(ctx, "idempotency key")
//	page, err := client.Page(ctx, hits[0].Page)
//
// The server needs no API key, and the client has no way to send one: a query that
// holds one is refused, and so is every redirect. The server counts requests by network
// address; after a 429 nothing is sent until its Retry-After is over, and a wait that is
// longer than Config.MaxWait is a [RateLimitError] at once.
//
// The contract names the two tools, and neither their arguments nor the form of what
// they return. The client takes the name of the argument from the tool's own schema,
// and reads structured results, JSON in text, links to resources and plain text.
//
// # Untrusted text
//
// What the server returns is text of somebody else. It is safe to print: control
// characters, invisible characters and those that change the direction of writing are
// replaced by U+FFFD, and long text is cut, with an ellipsis or with Page.Truncated. It
// is not safe to obey: give it to a language model as quoted data only, and follow no
// link in it without a look. Errors quote the server's text, at most 200 bytes of it.
package docs
