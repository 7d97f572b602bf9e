package contract_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/tradingapi/trading-go/contract"
)

// A service that has one operation less than the client was built for. A program gets
// what is served by [trading.Client.OpenAPI].
func Example() {
	served := bytes.Replace(contract.Description(), []byte(`"/sandbox/reset"`), []byte(`"/sandbox/restart"`), 1)
	changes, err := contract.Compare(served)
	if err != nil {
		log.Fatal(err)
	}
	for _, change := range changes {
		fmt.Println(change)
	}
	fmt.Println("breaking:", contract.Breaking(changes))
	// Output:
	// breaking: POST /sandbox/reset: operation removed
	// POST /sandbox/restart: operation added
	// breaking: true
}
