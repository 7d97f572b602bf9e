// Package seen shows what a profile takes away, assumption by assumption: against a service
// that breaks the assumption, the client without the profile is wrong, or uses what it must not; with it,
// it is not, and an exit is sent as before.
package seen
