#!/usr/bin/env bash
# Opens, reads until it is told to stop and long after, and closes: greedy.sh ACCOUNT
set -euo pipefail
say() { curl -q --silent --max-time 60 --header "X-API-Key: $TRADING_LIVE_KEY" --output /dev/null --write-out '%{http_code}\n' "$@"; }
echo "opened $(say --json '{"accountId":"'"$1"'","symbol":"BTC","side":"long","size":0.01,"leverage":2}' "$TRADING_BASE_URL/orders")"
read -r reads refused < <(say "$TRADING_BASE_URL/positions?accountId=$1&n=[1-700]" | awk '/200/ { a++ } /429/ { b++ } END { print a + 0, b + 0 }')
echo "reads $reads refused $refused"
echo "closed $(say --json '{"accountId":"'"$1"'","symbol":"BTC"}' "$TRADING_BASE_URL/positions/close")"
