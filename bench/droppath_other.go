//go:build !linux

package main

import (
	"context"
	"errors"
	"io"
)

func overDropping(context.Context, settings, int) (rows []wait, stop func(), left string) {
	return nil, func() {}, "it is made with the network namespaces of Linux"
}

func servePath(context.Context, io.Reader, io.Writer, settings) error {
	return errors.New("there are no network namespaces here")
}
