// Package api holds the wire shapes of the contract, generated from
// openapi.json: for each record of an answer a struct that decodes itself, and for
// each request body one that encodes itself. See package wire for the rules of
// decoding.
//
// Nothing here appears in a public signature.
//
// An optional member, and a nullable one, is a [wire.Nullable]. A record keeps the
// members that the contract does not know in Extra. models.yaml configures the
// generator, overlay.yaml amends the contract for it, templates is what it writes.
package api

//go:generate env GOWORK=off go -C ../tools tool oapi-codegen -config ../api/models.yaml ../../openapi.json
