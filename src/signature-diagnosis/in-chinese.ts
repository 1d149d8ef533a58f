/** Translates the diagnosis of a rejected signature into Chinese. */
import type { Diagnosis, Finding } from '../protocol/log-page';
import { ALL_CAUSES, ASK_AGAIN, type Cause, toFinding } from './causes';

const SAME_BYTES = '请求体只生成一次（字节），对这些字节签名并原样发送。';
const THE_TEXT = '签名串为 clientId + "\\n" + timestamp + "\\n" + 请求体，换行为 0x0A。';
const THE_SECRET = '密钥须与生成时显示的完全一致，前后不带任何内容。';
const THE_HEX = 'X-Signature 只发送 HMAC-SHA256 的 64 位十六进制。';
const SECONDS = '发送 Unix 秒级整数时间戳，并对实际发送的同一字符串签名。';
const ASK_AGAIN_LATER = '请再次查询：服务繁忙，本次诊断提前结束，还有未尝试的情形。';

const CATALOGUE: Readonly<Record<Cause, readonly [explanation: string, fix: string]>> = {
  BODY_EMPTY: ['签名时请求体为空', SAME_BYTES],
  BODY_LINE_FEED_ADDED: [
    '签名时请求体末尾多了换行',
    `${SAME_BYTES}Shell 中用 printf %s 代替 echo，用 curl --data-binary 代替 -d。`,
  ],
  BODY_TRIMMED: ['签名时去掉了请求体首尾的空白', SAME_BYTES],
  BODY_CRLF: ['签名时换行为 CRLF，发送时为 LF', SAME_BYTES],
  BODY_LF: ['签名时换行为 LF，发送时为 CRLF', SAME_BYTES],
  BODY_LINES_JOINED: ['签名时去掉了请求体中的换行', SAME_BYTES],
  BODY_BOM: ['签名时请求体前带有 BOM', SAME_BYTES],
  BODY_WITHOUT_BOM: ['发送的请求体前带有未签名的 BOM', SAME_BYTES],
  BODY_AS_JAVASCRIPT: ['请求体被 JavaScript 重新序列化（紧凑格式）', SAME_BYTES],
  BODY_AS_PYTHON: ['请求体被 Python 重新序列化', SAME_BYTES],
  BODY_AS_PHP: ['请求体被 PHP 重新序列化', SAME_BYTES],
  BODY_AS_GO: ['请求体被 Go 重新序列化', SAME_BYTES],
  BODY_AS_JAVA: ['请求体被 Java 重新序列化', SAME_BYTES],
  BODY_AS_DOTNET: ['请求体被 .NET 重新序列化', SAME_BYTES],
  BODY_SORTED: ['签名时字段按名称排序', SAME_BYTES],
  BODY_PRETTY: ['签名时请求体带缩进', SAME_BYTES],
  BODY_WITHOUT_NULLS: ['签名时去掉了值为 null 的字段', SAME_BYTES],
  BODY_NOT_TEXT: ['签名的不是请求体，而是对象转换成的文本', SAME_BYTES],
  BODY_CHARSET: ['签名时使用了其他字符集', `${SAME_BYTES}请使用 UTF-8。`],
  BODY_ENCODED: ['请求体在签名前被编码', SAME_BYTES],
  BODY_HASHED: ['签名的是请求体的哈希', SAME_BYTES],
  SEPARATOR_MISSING: ['client id、timestamp 与请求体之间没有分隔符', THE_TEXT],
  SEPARATOR_LITERAL: [
    '换行处签入了反斜杠和字母',
    `${THE_TEXT}PHP 中 "\\n" 须用双引号，Bash 中用 $'\\n' 或 printf。`,
  ],
  SEPARATOR_CRLF: ['换行处为 CR LF', THE_TEXT],
  SEPARATOR_OTHER: ['换行处为其他字符', THE_TEXT],
  SEPARATOR_EXTRA: ['签名串多了一个换行', THE_TEXT],
  FIELDS_REORDERED: ['client id、timestamp 与请求体的顺序不对', THE_TEXT],
  FIELD_MISSING: ['client id、timestamp、请求体没有全部签入', THE_TEXT],
  FIELDS_NAMED: ['签名串中带有字段名', THE_TEXT],
  PATH_INCLUDED: ['签入了请求路径', `${THE_TEXT}不包含路径。`],
  CLIENT_ID_OTHER: ['签名所用的 client id 写法与发送的不同', THE_TEXT],
  SECRET_IN_TEXT: ['签名串中包含密钥', `${THE_TEXT}密钥只用作 HMAC 的 key。`],
  TIMESTAMP_MILLISECONDS: ['时间戳为毫秒', SECONDS],
  TIMESTAMP_UNIT: ['时间戳为微秒或纳秒', SECONDS],
  TIMESTAMP_NOT_SECONDS: ['时间戳不是整数秒', SECONDS],
  TIMESTAMP_TAKEN_TWICE: ['签名与发送用了不同的时间戳', SECONDS],
  TIME_ZONE: ['时间戳相差一个时区：把本地时间当成了 UTC', '使用与时区无关的 Unix 时间。'],
  CLOCK_OFF: ['调用方时钟不准', '用 NTP 校时；允许误差 300 秒。'],
  SECRET_RETIRED: [
    '使用了已失效的密钥',
    '使用最近一次轮换生成的密钥；"matterctl client rotate" 可再次轮换。',
  ],
  QUERY_KEY_ENDED: [
    '使用了已到期或已撤销的查询密钥',
    '由运维执行 "matterctl client console" 重新生成链接。',
  ],
  SECRET_WHITE_SPACE: ['所用密钥带有空白字符', `${THE_SECRET}请去除首尾空白。`],
  SECRET_QUOTED: ['所用密钥带有引号', THE_SECRET],
  SECRET_NAMED: ['所用密钥前带有名称，如同配置文件中的一行', `${THE_SECRET}读取值，而不是整行。`],
  SECRET_CASE: ['密钥的大小写被改变', THE_SECRET],
  SECRET_ENCODED: ['密钥在使用前被解码或编码', `${THE_SECRET}key 为其 UTF-8 字节。`],
  SECRET_HASHED: ['用密钥的哈希作为 key', THE_SECRET],
  SECRET_CUT: ['密钥首尾缺少一个字符', THE_SECRET],
  SECRET_IS_AN_ID: ['把 client id 或密钥编号当成了密钥', THE_SECRET],
  SECRET_UNSET: [
    '所用密钥为空，或为 null、undefined 之类的单词',
    `${THE_SECRET}请检查程序从哪里读取密钥。`,
  ],
  SIGNATURE_BASE64: ['签名以 base64 发送', THE_HEX],
  SIGNATURE_RAW: ['签名以原始字节发送，而非十六进制', THE_HEX],
  SIGNATURE_PREFIXED: ['签名前后带有其他内容', THE_HEX],
  SIGNATURE_SEPARATED: ['签名的十六进制之间有分隔符', THE_HEX],
  SIGNATURE_UNPADDED: ['签名的十六进制缺少补零', THE_HEX],
  SIGNATURE_CUT: ['签名被截断', THE_HEX],
  SIGNATURE_ENCODED_TWICE: ['签名被再次编码', THE_HEX],
  SIGNATURE_IS_SECRET: [
    '把密钥本身当作签名发送',
    '密钥已在网络上传输，请先轮换；之后只用它签名，不要发送。',
  ],
  SIGNATURE_LENGTH: ['签名不是 64 个字符', THE_HEX],
  HASH_OTHER: ['使用了 SHA-256 以外的哈希', '使用 HMAC-SHA256。'],
  NOT_HMAC: ['使用了普通哈希而不是 HMAC', '使用 HMAC-SHA256，以密钥为 key。'],
  KEY_AND_TEXT_SWAPPED: ['密钥与签名串位置颠倒', '检查 HMAC 函数的参数顺序。'],
  SIGNATURE_RIGHT: ['按当前信息签名正确', '请重新发送：收到时 client 或密钥尚未生效。'],
  BODY_NOT_KEPT: [
    '该请求的请求体未保留，几乎无法诊断',
    '请等待几分钟后重新发送，再查询新的请求。超过 16 KiB 的请求体不保留。',
  ],
  NO_SECRET: [
    '该 client 没有可读取的密钥，无法诊断',
    '由运维执行 "matterctl client rotate" 生成。',
  ],
  UNEXPLAINED: [
    '未找到能得出该签名的已知错误',
    '请计算所签请求体的 SHA-256，与 bodyHash 比较；并用 "matterctl doctor" 检查密钥。',
  ],
};

const DETAILS: Readonly<Record<string, string>> = {
  'a line feed after it': '末尾有换行',
  'CR LF after it': '末尾有 CR LF',
  'a CR after it': '末尾有 CR',
  'a blank after it': '末尾有空格',
  'a blank before it': '开头有空格',
  'a tab after it': '末尾有制表符',
  'blanks around it': '首尾有空格',
  'a line feed before it': '开头有换行',
  'a byte order mark before it': '开头有 BOM',
  'double quotes': '双引号',
  'single quotes': '单引号',
  'lower case': '小写',
  'upper case': '大写',
  'decoded from base64': '经 base64 解码',
  'decoded from hex': '经十六进制解码',
  'in base64': 'base64',
  'in hex': '十六进制',
  'percent-encoded': 'URL 编码',
  'for a form': '表单编码',
  'the last character': '最后一个',
  'the first character': '第一个',
  'the client id': 'client id',
  'it was empty': '为空',
  'the caller signed seconds and sent a smaller unit': '签名用秒，发送的单位更小',
  'the caller signed milliseconds and sent a different timestamp': '签名用毫秒，与发送的时间戳不同',
  'the caller signed a fraction': '签名带小数',
  'it did not try all known mistakes': '尚未尝试全部已知错误',
  'JSON.stringify(body), or another compact writer': 'JSON.stringify(body) 或其他紧凑格式',
  'a compact writer': '紧凑格式',
  'compact, like a map in Go': '紧凑格式，如 Go 的 map',
  'json.Marshal of a struct': 'json.Marshal（struct）',
  'json.Marshal of a map': 'json.Marshal（map）',
  'json_encode with JSON_UNESCAPED_UNICODE': 'json_encode，JSON_UNESCAPED_UNICODE',
  'json_encode with JSON_UNESCAPED_SLASHES': 'json_encode，JSON_UNESCAPED_SLASHES',
  'Gson, without nulls': 'Gson，不含 null 字段',
  'Gson, numbers as doubles': 'Gson，数字按 double 处理',
  'json.dumps with sort_keys and separators': 'json.dumps，sort_keys 与 separators',
  'ksort and json_encode': 'ksort 与 json_encode',
  'with blanks': '分隔符后带空格',
  'at the top only': '仅最外层',
  'at the top only, with json_encode': '仅最外层，json_encode',
  'without nulls': '不含 null 字段',
  'a HashMap': 'HashMap',
  'a HashMap and Gson': 'HashMap 与 Gson',
  'the text within the string': '字符串中的文本',
  'as a JSON string': '作为 JSON 字符串',
  'as curl -d does': '与 curl -d 相同',
  'bytes in a Python f-string': 'Python f-string 中的 bytes',
  'str(dict) in Python': 'Python 的 str(dict)',
  'toString() of a Map in Java': 'Java 中 Map 的 toString()',
  'double quotes, and a line feed': '双引号和换行',
  'single quotes, and a line feed': '单引号和换行',
  'typographic quotes': '排版引号',
  backticks: '反引号',
  unpadded: '缺少补位的 =',
  'the whole number, like new BigInteger(1, bytes) in Java':
    '按整数输出，如 Java 的 new BigInteger(1, bytes)',
  'the digest as a signed number, like new BigInteger(bytes) in Java':
    '按有符号整数输出，如 Java 的 new BigInteger(bytes)',
  'it is as long as a digest in base64': '长度与 base64 形式的摘要相同',
  'each byte as a signed number': '每个字节按有符号数输出',
};

const PATTERNS: readonly (readonly [english: RegExp, chinese: string])[] = [
  [/^it has (\d+) characters$/, '实际 $1 个字符'],
  [/^it is as long as (\S+) in hex$/, '长度与十六进制形式的 $1 相同'],
  [/^it is as long as (\S+) in base64$/, '长度与 base64 形式的 $1 相同'],
  [/^(\d+) s ahead$/, '快 $1 秒'],
  [/^(\d+) s behind$/, '慢 $1 秒'],
  [/^the signed timestamp is (\d+) s earlier$/, '签名用的时间戳早 $1 秒'],
  [/^the signed timestamp is (\d+) s later$/, '签名用的时间戳晚 $1 秒'],
  [/^(?:secret|key) (\S+)$/, '密钥 $1'],
  [/^the id (\S+) of a secret$/, '密钥编号 $1'],
  [/, raw bytes$/, '，原始字节'],
  [/^indented by (\d) blanks/, '缩进 $1 个空格'],
  [/^indented by tabs/, '缩进为制表符'],
  [/^indented by Jackson$/, 'Jackson 的缩进'],
  [/, as (\S+) does$/, '，与 $1 相同'],
  [/, the secret before the text$/, '，密钥在签名串之前'],
  [/, the secret after the text$/, '，密钥在签名串之后'],
  [/; the signature is in base64$/, '；签名为 base64'],
  [/, base64$/, '，base64'],
];

/** The first ending that matches applies. */
const ENDINGS: readonly (readonly [english: string, chinese: string])[] = [
  [', and a line feed', '，末尾有换行'],
  [' and a line feed', '，末尾有换行'],
  [', with CRLF', '，换行为 CRLF'],
];

export function inChinese(diagnosis: Diagnosis): Diagnosis {
  return { ...diagnosis, findings: diagnosis.findings.map(findingInChinese) };
}

function findingInChinese(finding: Finding): Finding {
  const cause = ALL_CAUSES.find((it) => it === finding.cause);
  if (!cause) return finding;
  const [explanation, fix] = CATALOGUE[cause];
  const how = detailOf(finding, cause);
  const isCutOff = finding.fix.startsWith(ASK_AGAIN);
  return {
    ...finding,
    explanation: how === undefined ? `${explanation}。` : `${explanation}：${how}。`,
    fix: isCutOff ? ASK_AGAIN_LATER + fix : fix,
  };
}

/** @returns undefined if the finding has no detail */
function detailOf({ explanation }: Finding, cause: Cause): string | undefined {
  const before = `${toFinding(cause).explanation.slice(0, -1)}: `;
  if (!explanation.startsWith(before)) return undefined;
  const how = explanation.slice(before.length, -1);
  if (DETAILS[how] !== undefined) return DETAILS[how];
  const [ending = '', chineseEnding = ''] =
    ENDINGS.find(([english]) => how.endsWith(english)) ?? [];
  const start = how.slice(0, how.length - ending.length);
  const translated =
    DETAILS[start] ?? PATTERNS.reduce((text, [from, to]) => text.replace(from, to), start);
  return translated + chineseEnding;
}
