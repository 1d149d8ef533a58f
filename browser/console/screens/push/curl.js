/** A push as a shell command that signs it when it is run. Pure. */

/** @param {string} text @returns {string} as one word of a shell, whatever stands in it */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * @param {{ url: string, clientId: string, body: string, idempotencyKey: string | null }} push
 * @returns {string} takes the secret from the variable SECRET; nothing secret is in it
 */
export function commandOf({ url, clientId, body, idempotencyKey }) {
  const lines = [
    `client=${quoted(clientId)}`,
    `body=${quoted(body)}`,
    'now=$(date +%s)',
    `signature=$(printf '%s\\n%s\\n%s' "$client" "$now" "$body" | openssl dgst -sha256 -hmac "$SECRET" -hex | sed 's/^.* //')`,
    `curl -sS ${quoted(url)} -H 'Content-Type: application/json' \\`,
    '  -H "X-Client-Id: $client" -H "X-Timestamp: $now" -H "X-Signature: $signature" \\',
    ...(idempotencyKey === null
      ? []
      : [`  -H ${quoted(`X-Idempotency-Key: ${idempotencyKey}`)} \\`]),
    // Not --data-binary: a body that begins with @ would be the name of a file.
    '  --data-raw "$body"',
  ];
  return `${lines.join('\n')}\n`;
}
