// Command openapivalid builds the model of OpenAPI descriptions, and validates them as
// documents. Its parser is another than those of openapilint and of the generators.
//
//	openapivalid openapi.json ...
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: openapivalid openapi.json ...")
		os.Exit(2)
	}
	for _, file := range os.Args[1:] {
		if err := validate(file); err != nil {
			fmt.Fprintf(os.Stderr, "openapivalid: %s: %v\n", file, err)
			os.Exit(1)
		}
		fmt.Printf("%s: valid\n", file)
	}
}

func validate(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	doc, err := libopenapi.NewDocument(text)
	if err != nil {
		return err
	}
	if _, err := doc.BuildV3Model(); err != nil {
		return err
	}
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	valid, found := v.ValidateDocument()
	for _, finding := range found {
		errs = append(errs, finding)
	}
	if !valid && len(errs) == 0 {
		return errors.New("not valid, for no reason that is given")
	}
	return errors.Join(errs...)
}
