/** The demo client and the demo users of `npm start`. */
export interface Demo {
  clientId: string;
  secret: string;
  usernames: string[];
}

/**
 * Shell commands that sign and send one push. They compute the signature themselves, because a timestamp is valid for
 * only 300 s.
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
