// Package golangci holds no code. Its module pins golangci-lint, whose
// requirements are too many to share a module with any other tool. The linters
// and their exclusions are in .golangci.yml.
package golangci
