module github.com/tradingapi/trading-go/examples/failover

go 1.25.0

replace github.com/tradingapi/trading-go => ../..

replace github.com/tradingapi/trading-go/contrib/postgres => ../../contrib/postgres

require (
	github.com/stretchr/testify v1.12.1
	github.com/tradingapi/trading-go v0.0.0
	github.com/tradingapi/trading-go/contrib/postgres v0.0.0
)

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0 // indirect
	github.com/oapi-codegen/runtime v1.8.0 // indirect
	github.com/shopspring/decimal v1.6.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/text v0.41.0 // indirect
)
