#!/usr/bin/env bash
# Buys 0.01 BTC on a live account, behind a sidecar: bot.sh without its key and its table of codes.
#
#     TRADING_BASE_URL=http://127.0.0.1:8700/v1 TRADING_LIVE_KEY=pk_live_local_… TRADING_ACCOUNT=… bot_sidecar.sh
#
# curl sends the order again when it hears nothing. The sidecar answers with what became of the first.
set -euo pipefail
curl -q --silent --show-error --max-time 40 --retry 8 --retry-all-errors \
	--header @<(printf 'X-API-Key: %s\n' "$TRADING_LIVE_KEY") --write-out '\n%header{trading-outcome}\n' \
	--json '{"accountId":"'"$TRADING_ACCOUNT"'","symbol":"BTC","side":"long","size":0.01,"leverage":2}' "$TRADING_BASE_URL/orders"
