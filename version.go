package trading

import "runtime"

// Version is this client's version, as it stands in the User-Agent header.
const Version = "0.1.0"

// userAgent names the client, its platform and the program that uses it.
func userAgent(application string) string {
	agent := "trading-go/" + Version + " (" + runtime.Version() + "; " + runtime.GOOS + "/" + runtime.GOARCH + ")"
	if application != "" {
		agent += " " + application
	}
	return agent
}
