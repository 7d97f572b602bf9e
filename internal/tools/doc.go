// Package tools holds no code. Its module pins the programs that build this
// repository, so that none of their dependencies reach a user of the client.
//
//	env GOWORK=off go -C internal/tools tool oapi-codegen -version
package tools
