// Package oapi is the client that oapi-codegen generates from the contract with
// its own templates: what this project would have if it generated its client and
// stopped there. It is a peer in the measurements, and nothing else uses it.
package oapi

//go:generate env GOWORK=off go -C ../../../internal/tools tool oapi-codegen -config ../../bench/internal/oapi/config.yaml ../../openapi.json
