/** The introduction of the OpenAPI document. */
import { MAX_BRACKETS, MAX_COMMAS, MAX_JSON_DEPTH } from '../protocol/json-body';
import { reasonTable } from './reasons';

/** Developers check their signing code with this example. */
export const SIGNATURE_EXAMPLE = {
  clientId: 'demo-oa',
  secret: 's3cret-of-demo-oa',
  timestamp: '1717200000',
  body: '{"matterType":"TODO","externalId":"A-1","title":"请假申请：张三"}',
  signature: '2b0b992d360b22f5acb51d85bf995d83eb6b39144839f5fd3e90eb76c0ca5fa3',
};

const ENGLISH = `Source systems push to-dos and notices (matters) with signed POST requests. The service writes each
matter into the portal's ledger. Pushes of one matter take effect one at a time, in the order of acceptance.
The service answers \`code: 0\` only after the database has confirmed the write.

- **Signing.** X-Signature is the HMAC-SHA256, in hex, of clientId + LF + timestamp + LF + body, with
  the secret of the client as key. Sign the exact bytes that you send.
- **Retrying.** Retry if you get no answer or \`retryable\` is true. Send the same X-Idempotency-Key and body, and a new
  X-Timestamp and signature. Wait the seconds in Retry-After; without this header, wait 1 s, 2 s, 4 s.
- **Order.** Send the next push of a matter only after the answer to the previous push.
- **Bodies.** A JSON object in UTF-8, without Content-Encoding; a batch has one object per push. Maximum: ${MAX_JSON_DEPTH} levels, ${MAX_BRACKETS}
  objects and lists, ${MAX_COMMAS} fields and elements. Unknown fields are ignored, except in push-logs/resend, which
  rejects them. A field systemCode is ignored: the client id determines the system. Values that are too long are rejected. Lengths are counted in UTF-16 units.
- **Status.** The HTTP status is \`code\`, or 200 for code 0. With HTTP_STATUS_MODE=always-200, the HTTP status is 200 for
  every path under /api/open, and only \`code\` shows the result.
- **New fields** and reasons may be added. Programs should evaluate \`reason\`, not \`message\`. If a reason
  is unknown, evaluate \`code\` and \`retryable\`.`;

const CHINESE = `第三方系统以签名的 POST 请求推送待办和通知，服务将其写入门户的事项台账，同一事项按受理顺序逐个生效。
只有数据库确认写入之后才返回 \`code: 0\`。

- **签名**：X-Signature 是以 client_secret 为密钥、对 clientId + LF + timestamp + LF + 请求体 计算的
  HMAC-SHA256（十六进制）。必须对实际发送的字节签名。
- **重试**：没有收到响应或 \`retryable\` 为 true 时重试：同一 X-Idempotency-Key、同一请求体，新的
  X-Timestamp 和签名。有 Retry-After 时按其等待，否则依次等待 1、2、4 秒。
- **顺序**：同一事项的上一次推送得到响应之后再发送下一次。
- **请求体**：UTF-8 编码的 JSON 对象（批次中每条推送一个对象），嵌套最多 ${MAX_JSON_DEPTH} 层，对象和数组最多 ${MAX_BRACKETS} 个，
  字段和数组元素最多 ${MAX_COMMAS} 个，不使用 Content-Encoding。未知字段会被忽略（push-logs/resend 除外，该接口会拒绝），包括
  systemCode，系统编码始终取自 client。超长内容会被拒绝，不会截断；长度按 UTF-16 编码单元计。
- **状态码**：HTTP 状态码等于 \`code\`（0 对应 200）。HTTP_STATUS_MODE=always-200 时 /api/open 下的响应
  状态码均为 200，仅以 \`code\` 区分。
- **新字段**和新的 reason 可能会加入响应。请依据 \`reason\` 编程，不要依据 \`message\`；遇到未知的 reason 时
  依据 \`code\` 和 \`retryable\`。`;

export function introduction(): string {
  const { clientId, secret, timestamp, body, signature } = SIGNATURE_EXAMPLE;
  const example = [
    '```text',
    `client id  ${clientId}`,
    `secret     ${secret}`,
    `timestamp  ${timestamp}`,
    `body       ${body}`,
    `signature  ${signature}`,
    '```',
  ].join('\n');
  return [ENGLISH, CHINESE, example, reasonTable()].join('\n\n');
}
