// Package contract holds no code. Its tests hold openapi.json against the
// reference of the service: the tables here are copied from the reference by
// hand and never derived from the file that they check.
//
// It is a module of its own so that the validator's dependencies stay out of
// the client's.
package contract
