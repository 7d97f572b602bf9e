#!/usr/bin/env bash
# Wants one position, and goes on when a call takes too long, while curl runs on in the background: after a
# kill of this shell, too. The environment says where, and what it does then.
set -u
number=0

# ask sets status and text: status is 0 if the answer did not come in time, and -1 if it cannot come.
ask() {
	local out until
	until=$(($(date +%s%N) + 10#${LEFT_PATIENCE/./}00000000))
	out=$(mktemp -p "$LEFT_DIR" "call.XXXXXX")
	curl -q --silent --noproxy '*' --request "$1" --header "X-API-Key: $LEFT_KEY" --header 'Content-Type: application/json' \
		${4:+--header "Idempotency-Key: $4"} ${3:+--data "$3"} --write-out '\n%{http_code}' "$LEFT_URL$2" >"$out" 2>/dev/null </dev/null &
	local curl=$!
	while kill -0 $curl 2>/dev/null; do
		if (($(date +%s%N) > until)); then
			status=0 text=
			return
		fi
		sleep 0.01
	done
	status=-1 text=
	if wait $curl; then
		text=$(<"$out") status=${text##*$'\n'}
	fi
	rm -f "$out"
}

# has says whether there is a position; nothing if that cannot be read.
has() {
	ask GET '/positions?accountId=acc_1' '' ''
	there=
	[[ $status != 200 ]] || there=no
	[[ $status != 200 || $text != *'"symbol"'* ]] || there=yes
}

placed() {
	echo placed
	exit
}

has # from an earlier run
[[ $there != yes || $LEFT_HOW == keyed ]] || placed
end=$((SECONDS + 120))
for ((n = 1; SECONDS < end; n++)); do
	key= size=1
	case $LEFT_HOW in
	keyed) key=entry-$number ;;
	renews | hasty) key=entry-$$-$n ;;
	changes) size=$n ;;
	esac
	ask POST /orders '{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.0'$size',"leverage":2}' "$key"
	((n == 1)) || echo again
	[[ $status != 200 ]] || placed
	[[ $status != 0 || ($LEFT_HOW != keyed && $LEFT_HOW != hasty) ]] || continue
	if [[ $LEFT_HOW != keyed || $status == 422 || $text == *idempotency_result_unknown* ]]; then
		has
		[[ $there != yes ]] || placed
		[[ $there != no ]] || number=$((number + 1))
	fi
	sleep 0.2
done
echo "gave up: $status $text"
