/**
 * The page's own texts, English and Chinese; those of the operations come with the OpenAPI document.
 * Marks: `code` and **emphasis**.
 */

/** @typedef {import('./shapes').Words} Words */

/** @satisfies {Readonly<Record<string, Words>>} */
export const WORDS = {
  language: ['Language', '语言'],
  contents: ['Contents', '目录'],
  search: ['Search', '搜索'],
  copy: ['Copy', '复制'],
  copied: ['Copied', '已复制'],
  selected: ['Selected: press Ctrl+C', '已选中，请按 Ctrl+C'],
  document: ['For machines: `openapi.json`', '机器可读：`openapi.json`'],
  notLoaded: [
    'The OpenAPI document could not be loaded. Load the page again.',
    '无法加载 OpenAPI 文档，请刷新页面。',
  ],

  overview: ['Overview', '概述'],
  signing: ['How to sign', '如何签名'],
  signingSteps: [
    'Every request has three headers. The signature covers these bytes, with one line feed between the parts and none at the end:',
    '每个请求携带三个请求头。签名串由以下字节组成，各部分之间一个换行符，末尾没有换行：',
  ],
  signingKey: [
    '`X-Signature` is the HMAC-SHA256 of these bytes in hex. The key is the client secret (its UTF-8 bytes). Sign exactly the bytes that you send. A body that is serialized again after signing does not match.',
    '以 client_secret 的 UTF-8 字节为密钥计算 HMAC-SHA256，十六进制结果即 `X-Signature`。必须对实际发送的字节签名：签名后重新序列化请求体会导致验签失败。',
  ],
  examplesAbout: [
    'The same in seven languages, with the standard library only. Each file sends one push. With the argument `sign` it signs its standard input instead.',
    '七种语言的完整示例，只用语言自带的库。每个文件发送一次推送；以 `sign` 为参数时，改为对标准输入的内容签名。',
  ],
  programmingLanguage: ['Programming language', '编程语言'],
  exampleNotLoaded: [
    'The example could not be loaded. Choose it again.',
    '无法加载示例，请重新选择。',
  ],
  vectors: [
    'Test vectors: signatures of many bodies and secrets, which your code must reproduce:',
    '自己的代码必须得出的签名，含各种请求体和密钥：',
  ],
  signingExample: ['An example to test your own code', '用于核对自己代码的示例'],
  headers: ['Headers', '请求头'],
  optional: ['optional', '可选'],
  required: ['required', '必填'],

  endpoints: ['Operations', '接口'],
  body: ['Body', '请求体'],
  answer: ['Answer', '响应'],
  answerHeaders: ['Headers of answers', '响应头'],
  answerFields: ['All fields:', '全部字段：'],
  bodyFields: ['Fields of', '字段说明：'],
  example: ['Example', '示例'],
  details: ['Fields, answers and errors', '字段、响应与错误'],
  answerDetails: ['Answers', '响应'],
  rejections: ['Possible errors', '可能的错误'],
  tryThis: ['Try it', '试一试'],
  field: ['Field', '字段'],
  meaning: ['Meaning', '说明'],
  header: ['Header', '名称'],

  errors: ['Errors', '错误'],
  errorsAbout: [
    'Your program should evaluate `reason`, not `message`. If `retryable` is true, the same push may succeed later.',
    '请依据 `reason` 编程，不要依据 `message`。`retryable` 为 true 时，同一推送稍后可能成功。',
  ],
  code: ['Code', '状态码'],
  reason: ['Reason', '原因'],
  retry: ['Retry', '可重试'],
  yes: ['retry later', '可稍后重试'],
  no: ['do not retry', '不可重试'],
  tryIt: ['Try it', '在线试用'],
  tryAbout: [
    'The page signs in your browser and sends the request to this service. The secret stays in the memory of this page: it is neither stored nor sent.',
    '在浏览器中完成签名并发送到本服务。密钥只保留在本页内存中，不会存储，也不会发送。',
  ],
  dryRun: ['Dry run', '试运行'],
  dryRunHint: [
    'The service checks signature, rate, body and users, and writes nothing. Without a dry run, the push is written to the ledger.',
    '只校验签名、速率、请求体和用户，不写入。不勾选时会真实写入台账。',
  ],
  demoFilled: [
    'The form contains the demo client of `npm start`: press the button.',
    '已填入 `npm start` 的演示客户端，直接点击按钮即可。',
  ],
  clientId: ['Client id', '客户端 ID'],
  secret: ['Client secret', '客户端密钥'],
  operation: ['Operation', '接口'],
  exampleChoice: ['Example', '示例'],
  idempotencyKey: ['X-Idempotency-Key (optional)', 'X-Idempotency-Key（可选）'],
  idempotencyHint: [
    'A retry with the same key and body gets the first outcome.',
    '使用同一键和同一请求体重试时，返回首次结果。',
  ],
  send: ['Sign and send', '签名并发送'],
  signOnly: ['Sign only', '仅签名'],
  sending: ['Sending…', '发送中…'],
  incomplete: ['Enter the client id and the secret.', '请填写客户端 ID 和密钥。'],

  notPrintable: [
    'Client id and key may contain printable ASCII characters only.',
    '客户端 ID 和幂等键只能包含可打印的 ASCII 字符。',
  ],

  result: ['Result', '结果'],
  success: ['Success', '成功'],
  wouldPass: [
    'Dry run: it would be accepted. Nothing was written.',
    '试运行：校验通过，未写入任何内容。',
  ],
  rejected: ['Rejected', '被拒绝'],
  partly: ['Some lines failed; the others were applied', '部分行失败，其余行已处理'],
  wouldFailPartly: [
    'Dry run: some lines would fail. Nothing was written.',
    '试运行：部分行校验不通过，未写入任何内容。',
  ],
  line: ['Line', '行号'],
  matter: ['Matter', '事项'],
  lineAccepted: ['would be accepted', '校验通过'],
  noAnswer: [
    'There was no answer. Is the service running? Does a proxy or firewall close the connection?',
    '没有收到响应。请检查服务是否在运行、中间网络是否断开。',
  ],
  replayed: [
    'This is the outcome of the first attempt with this key. The retry was not applied again.',
    '这是该幂等键首次请求的结果，没有重复生效。',
  ],
  signedText: ['Signed text', '签名串'],
  asCurl: ['The same request with curl, valid for 300 s', '等效 curl 命令，300 秒内有效'],
  whatToLookAt: ['What to check', '排查建议'],
  diagnosis: ['Cause of the wrong signature', '签名错在哪里'],
  diagnosisAbout: [
    'The service recognizes common mistakes. Enter the `requestId` of a 401 of this client here and the correct secret in the form above. The query itself needs a valid signature.',
    '服务能识别常见的签名错误。在此填写该客户端任一 401 响应的 `requestId`，在上方表单中填写正确的密钥，然后查询：查询本身也必须正确签名。',
  ],
  diagnose: ['Find the cause', '查询原因'],
  diagnosisRejected: [
    'The query was rejected too: is the secret in the form correct?',
    '查询也被拒绝：表单中的密钥是否正确？',
  ],
  noDiagnosis: [
    'There is no diagnosis. The entry appears about a second after the 401. The log keeps only some of many rejections, and does not show those of other clients.',
    '没有诊断结果：记录在 401 之后约一秒写入，大量被拒绝的请求只保留一部分，其他客户端的记录不会返回。',
  ],
};

/** What to check after a 401, by reason. */
/** @satisfies {Readonly<Record<string, readonly Words[]>>} */
export const HINTS = {
  SIGNATURE_MISMATCH: [
    [
      'Is the client id correct, letter by letter? An unknown client gets the same answer.',
      '客户端 ID 是否逐字正确？未知客户端得到同样的响应。',
    ],
    [
      'Is the secret the current one, without a space or line feed around it? After a rotation the old secret stops working.',
      '密钥是否为当前密钥、前后没有空格或换行？轮换后旧密钥会失效。',
    ],
    [
      'Does your code sign exactly the text shown below, with a line feed between the parts and none at the end?',
      '自己的代码是否对下方完全相同的文本签名？各部分之间一个换行符，末尾没有换行。',
    ],
    [
      'Does a gateway change the body, or does your library serialize the JSON again after signing?',
      '网关是否改动了请求体，或代码在签名后重新序列化了 JSON？',
    ],
  ],
  TIMESTAMP_OUT_OF_WINDOW: [
    [
      'The caller’s clock may be wrong by at most 300 s. `X-Timestamp` is in seconds, not in milliseconds.',
      '调用方时钟误差不能超过 300 秒。`X-Timestamp` 的单位是秒，不是毫秒。',
    ],
  ],
  SIGNATURE_REUSED: [
    [
      'This signature was used earlier for another operation or with another key. Send again: the page creates a new signature.',
      '该签名早先已用于其他接口或其他幂等键。再次发送即可，会重新签名。',
    ],
  ],
  HMAC_HEADERS_MISSING: [
    [
      'The page sent all three headers. A proxy or gateway removes them.',
      '本页已发送全部三个请求头：中间的网关或代理去掉了它们。',
    ],
  ],
};

/** The title of one of several examples. @param {string} name @returns {Words} */
export const exampleNamed = (name) => [`Example: ${name}`, `示例：${name}`];

/** @param {string} command @returns {Words} */
export const exampleRun = (command) => [
  `Run \`${command}\` with \`MATTER_PUSH_URL\`, \`CLIENT_ID\` and \`CLIENT_SECRET\` in its environment. Files:`,
  `在环境变量中设置 \`MATTER_PUSH_URL\`、\`CLIENT_ID\` 和 \`CLIENT_SECRET\`，然后运行 \`${command}\`。文件：`,
];

/** The number of search results. @param {number} count @param {number} most the number shown @returns {Words} */
export function foundCount(count, most) {
  if (count === 0) return ['Nothing found', '没有找到'];
  if (count <= most) return [`${count} found`, `找到 ${count} 项`];
  return [`${count} found, showing the first ${most}`, `找到 ${count} 项，显示前 ${most} 项`];
}

/** @param {number} seconds that this browser is ahead @returns {Words} */
export const clockHint = (seconds) => [
  `The clock of this browser is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the service.`,
  `本机时钟比服务${seconds > 0 ? '快' : '慢'} ${Math.abs(seconds)} 秒。`,
];

/** The rules of a schema as texts, by JSON Schema keyword. */
/** @satisfies {Readonly<Record<string, (value: unknown) => Words>>} */
export const RULES = {
  maxLength: (value) => [`at most ${value} characters`, `最多 ${value} 个字符`],
  minimum: (value) => [`at least ${value}`, `不小于 ${value}`],
  maximum: (value) => [`at most ${value}`, `不大于 ${value}`],
  minItems: (value) => [`at least ${value} elements`, `至少 ${value} 个`],
  maxItems: (value) => [`at most ${value} elements`, `最多 ${value} 个`],
  default: (value) => [`default: \`${value}\``, `默认 \`${value}\``],
};
