package control

import (
	"context"
	"os/exec"
	"runtime"
)

// openBrowser opens a page in the browser of whoever runs the program. The error says why
// there is none to start.
func openBrowser(ctx context.Context, page string) error {
	name, args := "xdg-open", []string{page}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", page}
	}
	// A browser outlives the program that opened it.
	browser := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	if err := browser.Start(); err != nil {
		return err
	}
	return browser.Process.Release()
}
