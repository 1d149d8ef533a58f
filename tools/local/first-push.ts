/** The demo client of `npm start`, and the users that exist. */
export interface Demo {
  clientId: string;
  secret: string;
  usernames: string[];
}

/**
 * Lines for a shell that sign and send one push. The signature is computed where they are
 * pasted, since a timestamp is good for 300 s only.
 */
export function firstPush(url: string, demo: Demo): string {
  const body = JSON.stringify({
    matterType: 'TODO',
    externalId: 'DEMO-1',
    title: '审批：采购申请',
    parties: [{ username: demo.usernames[0], partyRole: 'ASSIGNEE' }],
  });
  return [
    `client='${demo.clientId}'; secret='${demo.secret}'; now=$(date +%s)`,
    `body='${body}'`,
    `signature=$(printf '%s\\n%s\\n%s' "$client" "$now" "$body" | openssl dgst -sha256 -hmac "$secret" | sed 's/^.* //')`,
    `curl -sS '${url}/api/open/matters/upsert' -H 'Content-Type: application/json' \\`,
    `  -H "X-Client-Id: $client" -H "X-Timestamp: $now" -H "X-Signature: $signature" --data-binary "$body"; echo`,
  ].join('\n');
}
