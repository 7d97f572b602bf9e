package record

import "regexp"

// key is what looks like an API key in an encoded line: a prefix and what follows it, to the
// end of the string or to the next white space, escapes included, so that the line stays JSON.
var key = regexp.MustCompile(`(?s)(pk_(?:live|test)_)(?:\\.|[^\x00-\x20"\x7f-\x{10ffff}])+`)

// redact takes out of an encoded line whatever looks like an API key. The client
// has taken its own keys out of all that came from outside; this catches what it
// cannot know: a key of somebody else, one that was rotated away, one that a proxy
// has escaped, one that a program put into a tag.
func redact(line []byte) []byte { return key.ReplaceAll(line, []byte("${1}[redacted]")) }
