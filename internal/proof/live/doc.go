// Package live tests orders and Pro orders on live accounts, beside lost answers, keys and statuses.
package live
