// Package hostile holds the client against servers and connections that are broken or hostile.
package hostile
