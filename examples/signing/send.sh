#!/usr/bin/env bash
# One signed push, with bash, openssl and curl; as `send.sh batch` several in one request.
# As `send.sh sign` it signs what is on stdin.
set -euo pipefail

sha256() { openssl dgst -sha256 -binary; }
hex() { od -An -v -tx1 | tr -d ' \n'; }

# HMAC-SHA256 (RFC 2104) of stdin, in hex; $1 is the key. `openssl dgst -sha256 -hmac KEY` gives the
# same, but `ps` shows the key to everybody on the machine. Here it stays within bash.
hmac() {
  local key inner='' outer='' zeros i
  key=$(printf '%s' "$1" | hex)
  [ ${#key} -le 128 ] || key=$(printf '%s' "$1" | sha256 | hex)
  printf -v zeros '%0128d' 0
  key=$key${zeros:${#key}}
  for ((i = 0; i < 128; i += 2)); do
    printf -v inner '%s\\x%02x' "$inner" $((16#${key:i:2} ^ 0x36))
    printf -v outer '%s\\x%02x' "$outer" $((16#${key:i:2} ^ 0x5c))
  done
  { printf '%b' "$inner" && cat; } | sha256 | { printf '%b' "$outer" && cat; } | sha256 | hex
}

# Client id, timestamp, secret; the body is stdin, byte for byte.
sign() { { printf '%s\n%s\n' "$1" "$2" && cat; } | hmac "$3"; }

if [ "${1:-}" = sign ]; then
  IFS= read -r client_id && IFS= read -r timestamp && IFS= read -r secret
  sign "$client_id" "$timestamp" "$secret"
  echo
  exit
fi

for name in MATTER_PUSH_URL CLIENT_ID CLIENT_SECRET; do
  [ -n "${!name:-}" ] || { echo "$name is not set" >&2 && exit 2; }
done

# Written once. Whatever writes it again after signing (jq, a template) may change a byte of it.
if [ "${1:-}" = batch ]; then
  # One push a line, at most 1,000 lines; those of one matter take effect in their order.
  operation=batch key=EXAMPLE-bash/batch
  body='{"op":"upsert","body":{"matterType":"TODO","externalId":"EXAMPLE-bash-batch","title":"审批：差旅报销"}}
{"op":"status","body":{"externalId":"EXAMPLE-bash-batch","bizStatus":"APPROVED"}}'
else
  operation=upsert key=EXAMPLE-bash/created
  body='{"matterType":"TODO","externalId":"EXAMPLE-bash","title":"审批：采购申请"}'
fi
timestamp=$(date +%s) # seconds, not milliseconds
signature=$(printf '%s' "$body" | sign "$CLIENT_ID" "$timestamp" "$CLIENT_SECRET")

# --data-binary sends the bytes as they are; --data would take line feeds out.
# The key is one per change, or per batch: a retry with it is answered, but not applied again.
answer=$(printf '%s' "$body" | curl -sS --max-time 60 "$MATTER_PUSH_URL/api/open/matters/$operation" \
  -H 'Content-Type: application/json' -H "X-Client-Id: $CLIENT_ID" -H "X-Timestamp: $timestamp" \
  -H "X-Signature: $signature" -H "X-Idempotency-Key: $key" --data-binary @-)
printf '%s\n' "$answer" # of a batch: what became of each line, in data.results
[[ $answer =~ ^\{\"code\":0[,}] ]] # the envelope begins with its code: no JSON parser is needed
