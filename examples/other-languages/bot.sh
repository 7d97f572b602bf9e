#!/usr/bin/env bash
# Buys 0.01 BTC on a live account, once, whatever happens to the replies. Needs curl 7.84.
#
#     TRADING_BASE_URL=… TRADING_LIVE_KEY=… TRADING_ACCOUNT=… bot.sh DECISION
#
# The same DECISION, sent again or after a crash, is the same order for 24 hours.
# Exits with 0 if it was placed, 1 if nothing was placed, 3 if a person has to look.
set -euo pipefail
key=${1:?which DECISION? bot.sh DECISION}
order='{"accountId":"'$TRADING_ACCOUNT'","symbol":"BTC","side":"long","size":0.01,"leverage":2}'

# The API key goes through a pipe: arguments of curl can be seen by every user. curl
# follows no redirect without --location. The last line is the status and Retry-After.
send() {
	curl -q --silent --max-time 10 --max-filesize 1000000 --header @<(printf 'X-API-Key: %s\n' "$TRADING_LIVE_KEY") \
		--write-out '\n%{http_code} %header{retry-after}' "$TRADING_BASE_URL$1" "${@:2}"
}

# member prints a member of the JSON text in $body: a word.
member() {
	local found="\"$1\" *: *\"?([A-Za-z_]+)"
	[[ ! $body =~ $found ]] || printf '%s' "${BASH_REMATCH[1]}"
}

finish() {
	printf '%s %s\n' "$2" "$3"
	send "/positions?accountId=$TRADING_ACCOUNT" || true
	exit "$1"
}

body=$(send /health) || true
if [[ $(member ok) != true ]]; then
	echo 'not safe to trade now' >&2
	exit 1
fi

lost=
for wait in 0.5 1 2 4 8 16 32 60; do
	# Every attempt has the same key. A reply that is cut is no reply.
	reply=$(send /orders --json "$order" --header "Idempotency-Key: $key") || reply=$'\n000 '
	body=${reply%$'\n'*} last=${reply##*$'\n'}
	status=${last%% *} retry=${last#* } code=$(member error)
	case $status:$code in
	200:) [[ $(member success) != true ]] || finish 0 placed: "$body" ;;
	429:rate_limited | 409:idempotency_in_flight | 503:idempotency_unavailable) ;;
	503:no_price | 503:PRICE_UNAVAILABLE | 503:equity_unavailable) ;;
	409:idempotency_result_unknown) finish 3 'look at the account:' "$code" ;;
	4??:?*) finish $((${#lost} ? 3 : 1)) "$([[ $lost ]] && echo 'look at the account:' || echo 'nothing was placed:')" "$code" ;;
	*:?*) finish 3 'look at the account:' "$code" ;;
	esac
	[[ $code ]] || lost=yes # it may have been executed
	[[ ! $retry =~ ^[0-9]{1,2}$ ]] || wait=$retry
	sleep "$wait"
done
finish $((${#lost} ? 3 : 1)) 'gave up:' "${code:-no answer}"
