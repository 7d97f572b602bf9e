#!/usr/bin/env bash
# Keeps 0.01 BTC: bot.sh STATE PERIOD [MISTAKE]. Without a mistake it is right.
set -uo pipefail
state=$1 period=$2 mistake=${3:-}
resume=0 locked=

# send prints nothing; it sets status, body and code.
send() {
	local key=$TRADING_LIVE_KEY path=$1
	shift
	((SECONDS >= resume)) || sleep $((resume - SECONDS))
	[[ $path != /sandbox/* ]] || key=$TRADING_SANDBOX_KEY
	local reply
	reply=$(curl -q --silent --max-time 3 --header "X-API-Key: $key" --write-out '\n%{http_code} %header{retry-after}' "$@" "$TRADING_BASE_URL$path") || reply=$'\n000 '
	body=${reply%$'\n'*}
	local last=${reply##*$'\n'}
	status=${last%% *} code=
	[[ ! $body =~ \"error\":\"([A-Za-z_]+)\" ]] || code=${BASH_REMATCH[1]}
	[[ ! ${last#* } =~ ^[0-9]+$ ]] || resume=$((SECONDS + ${last#* } + 1))
}

# find reads what became of a decision that would be executed once more under its key. Reads lag.
find() {
	: >"$state"
	sleep "$period"
	until send "/positions?accountId=$TRADING_ACCOUNT" && [[ $status == 200 ]]; do sleep "$period"; done
}

carry_out() {
	local key='' order=''
	read -r key order <"$state" || [[ $key ]] || find
	[[ ! $key ]] || for wait in 0.1 0.2 0.4 0.8 1.6 3.2; do
		[[ $mistake != blind ]] || key+=x
		send /orders --json "$order" --header "Idempotency-Key: $key"
		case $status:$code in
		200:) break ;;
		*:rate_limited | *:idempotency_in_flight | *:no_price) sleep "$wait" ;;
		*:account_locked) locked=yes && break ;;
		*:idempotency_result_unknown | 5??:?*) find && break ;;
		4??:?*) break ;;
		*) sleep "$wait" ;;
		esac
	done
	rm -f "$state"
}

look() {
	send "/positions?accountId=$TRADING_ACCOUNT"
	[[ $status == 200 && $body == *'"positions":[]'* ]] || return
	send '/sandbox/prices?symbol=BTC'
	[[ $status == 200 ]] || return
	send /health
	[[ $status == 200 ]] || return
	if [[ $locked ]]; then
		send /accounts
		[[ $body == *'"ACTIVE"'* ]] || return
		locked=
	fi
	printf 'sh-%s-%s {"accountId":"%s","symbol":"BTC","side":"long","size":0.01,"leverage":2}' "$(date +%s%N)" "$RANDOM" "$TRADING_ACCOUNT" >"$state.new"
	mv "$state.new" "$state"
	carry_out
}

[[ ! -e $state ]] || { carry_out && sleep "$period"; } # reads lag
while :; do
	look
	sleep "$period"
done
