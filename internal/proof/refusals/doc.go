// Package refusals shows each code of the service, and each refusal that the client foresees, to come out as
// documented.
package refusals
