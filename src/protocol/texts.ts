/** The texts of errors and warnings about fields and headers, in Chinese and English. */

import { z } from 'zod';
import { localized, type Text } from './language';

const text = (zh: string, en: string): Text => ({ zh, en });

const LOCAL_TIME = 'yyyy-MM-ddTHH:mm[:ss], yyyy-MM-dd HH:mm[:ss]';
const WITH_OFFSET = '2026-01-31T09:00:00+08:00';

export const TEXTS = {
  required: text('必填', 'is required'),
  requiredForTodo: text('matterType 为 TODO 时必填', 'is required if matterType is TODO'),
  requiredToReplace: text('replaceParties 为 true 时必填', 'is required if replaceParties is true'),
  notToReplace: text(
    'replaceParties 为 true 时不能使用',
    'cannot be used if replaceParties is true',
  ),
  partyInBoth: text('与 parties 中的参与人重复', 'is also in parties'),
  blank: text('不能为空', 'must not be blank'),
  surrogates: text('含有不成对的代理字符', 'contains an unpaired surrogate'),
  controls: text('不能含有控制字符', 'must not contain control characters'),
  url: text(
    '必须是 http、https 或应用协议的 URL，例如 https://oa.example.com/1、weixin://…；不接受 javascript、data、vbscript、file、缺少主机名的 URL 和文件路径（C:\\…）',
    'must be an http, https or app URL, such as https://oa.example.com/1 or weixin://…; URLs without a host, file paths (C:\\…), and the schemes javascript, data, vbscript and file are rejected',
  ),
  status: text(
    '必须是大写下划线格式，例如 PENDING、IN_REVIEW',
    'must be upper snake case, such as PENDING or IN_REVIEW',
  ),
  mark: text(
    '请求体以 BOM（U+FEFF）开头，请使用不带 BOM 的 UTF-8 发送',
    'the body begins with a byte order mark (U+FEFF): send UTF-8 without a byte order mark',
  ),
  overlooked: (position: number, codePoint: string) =>
    text(
      `第 ${position} 个字符（${codePoint}）不易察觉；业务主键按字节比较，不含该字符的是另一个事项`,
      `character ${position} (${codePoint}) is easily overlooked; an id without this character names another matter`,
    ),
  json: text('必须是 JSON 字符串', 'must be a string with a JSON document'),
  instantType: text(
    '必须是时间戳（数字或字符串）或 ISO-8601 时间字符串',
    'must be a timestamp (a number or a string) or an ISO-8601 time as a string',
  ),
  instant: text(
    `不是支持的时间格式，可用：秒或毫秒时间戳、${WITH_OFFSET}、门户时区的 ${LOCAL_TIME}、yyyyMMddHHmmss`,
    `must be epoch seconds or milliseconds, a time such as ${WITH_OFFSET}, or local time of the portal: ${LOCAL_TIME} or yyyyMMddHHmmss`,
  ),
  dateTime: text(
    `必须是 ISO-8601 本地时间，可用：门户时区的 ${LOCAL_TIME}，或 ${WITH_OFFSET}`,
    `must be an ISO-8601 time: ${LOCAL_TIME} in the portal's time zone, or ${WITH_OFFSET} with an offset`,
  ),
  dateDigits: (value: string) => {
    const day = `${value.slice(0, 4)}-${value.slice(4, 6)}-${value.slice(6)}`;
    return text(
      `${value} 是日期，不是时间戳；请写成 ${day}T00:00:00 或 ${value}000000`,
      `${value} is a date, not a timestamp: write ${day}T00:00:00 or ${value}000000`,
    );
  },
  years: text('年份必须在 1970 到 9999 之间', 'must have a year from 1970 to 9999'),
  longPast: text(
    '早于 2000 年，请检查：可能是未赋值的默认时间，也可能该数字并非时间戳',
    'is before the year 2000: possibly a default value, or a number that is not a timestamp',
  ),
  hostAsScheme: text(
    '看起来缺少协议，可能应为 http://… 或 https://…',
    'seems to have no scheme; did you mean http://… or https://…?',
  ),
  day: text('必须是 yyyy-MM-dd 格式的日期', 'must be a date in the form yyyy-MM-dd'),
  tooFarAhead: text('比当前时间晚 24 小时以上', 'is more than 24 hours in the future'),
  before1970: text('不能早于 1970-01-01', 'must not be before 1970-01-01'),
  later: (than: string) => text(`必须晚于 ${than}`, `must be later than ${than}`),
  notEarlier: (than: string) => text(`不能早于 ${than}`, `must not be earlier than ${than}`),
  repeated: text('重复出现', 'occurs more than once'),
  requestId: text('必须是 24 位十六进制', 'must be 24 hex digits'),
  bodyField: text(
    '必须是请求体的字段，如 title 或 parties[].username',
    'must be a field of a body, such as title or parties[].username',
  ),
  setsMatter: text(
    '不能统一设置：否则多个事项的推送会成为同一事项的推送',
    'cannot be set, because this field identifies the matter',
  ),
  valueOrRemove: text(
    '必须且只能含 value 与 remove 之一',
    'must have either value or remove, and not both',
  ),
  scalar: text('必须是文本、数字或布尔值', 'must be text, a number or a boolean'),
  names: (max: number) =>
    text(
      `必须是一个名称，或 1 到 ${max} 个名称的列表`,
      `must be a name, or a list of 1 to ${max} names`,
    ),
  notWithOutcome: text(
    '不能与 outcome 同时使用：成功的推送没有 reason',
    'cannot be used with outcome: a successful push has no reason',
  ),
  withBodies: (max: number) =>
    text(`includeBody 为 true 时最大为 ${max}`, `must be at most ${max} if includeBody is true`),
  cursor: text(
    '不是有效的游标，请使用上一页返回的 nextCursor',
    'is not a valid cursor; use the nextCursor of the previous page',
  ),
  otherCursor: text(
    '游标属于另一个查询，请保持查询条件不变',
    'belongs to another query; do not change the filters between pages',
  ),
  tooHeavy: text(
    '查询结果过大，请减少一次查询的数量',
    'makes the answer too large; request fewer matters at a time',
  ),
  tooManyGroups: (max: number) =>
    text(
      `分组超过 ${max} 个，请用 bizType、fromDay、toDay 缩小范围`,
      `results in more than ${max} groups; narrow the query by bizType, fromDay or toDay`,
    ),
  depth: (max: number) => text(`JSON 嵌套超过 ${max} 层`, `is nested more than ${max} levels deep`),
  tooManyBrackets: (max: number) =>
    text(`对象和数组超过 ${max} 个`, `has more than ${max} objects and lists`),
  tooManyCommas: (max: number) =>
    text(`字段和数组元素超过 ${max} 个`, `has more than ${max} fields and elements`),
  windowTooLong: (by: string, hours: number) =>
    text(
      `按 ${by} 统计时最长 ${hours} 小时`,
      `the window may be at most ${hours} hours long if \`by\` is ${by}`,
    ),
  tooManyLines: (max: number) => text(`超过 ${max} 行`, `has more than ${max} lines`),
  tooManyLineFeeds: (max: number) => text(`换行超过 ${max} 个`, `has more than ${max} line breaks`),
  storedBodies: (max: number) =>
    text(
      `这些推送的请求体合计超过 ${max} 字节，请减少数量`,
      `the stored bodies of these pushes have more than ${max} bytes in total; request fewer pushes`,
    ),
  largeValues: (max: number) =>
    text(`填入后请求体超过 ${max} 字节`, `makes a stored body larger than ${max} bytes`),
  brokenArray: (byte: number, line: number) =>
    text(
      `JSON 数组在第 ${line} 个元素处（字节 ${byte}，从 0 计）有误`,
      `the JSON array is invalid in element ${line}, at byte ${byte} (counted from 0)`,
    ),
  encodingOfLine: (line: number) => text(`第 ${line} 行不是 UTF-8`, `line ${line} is not UTF-8`),
  longLine: (max: number) => text(`一行超过 ${max} 个字符`, `is longer than ${max} characters`),
  lineNotJson: text('不是合法的 JSON', 'is not valid JSON'),
  line: text('必须是含 op 和 body 的 JSON 对象', 'must be a JSON object with op and body'),
  batchKey: (max: number) =>
    text(`批次的幂等键最长 ${max} 个字符`, `may have at most ${max} characters in a batch`),
  keyRepeated: (line: number) => text(`与第 ${line} 行重复`, `is the same as in line ${line}`),
  onlyOnce: text('只能出现一次', 'must occur only once'),
  idempotencyKey: text(
    '必须是 1 到 255 个可打印的 ASCII 字符，首尾不能是空格',
    'must be 1 to 255 printable ASCII characters, without blanks at the ends',
  ),
  trueOrFalse: text('必须是 true 或 false', 'must be true or false'),
  unknownUser: (username: string, similar?: string) =>
    text(
      `用户不存在或已停用: ${username}${similar === undefined ? '' : `；是否应为 ${similar}？`}`,
      `no such user, or the user is disabled: ${username}${similar === undefined ? '' : `; did you mean ${similar}?`}`,
    ),
  unknownStatus: (status: string) =>
    text(
      `${status} 不是标准状态，按未办结处理`,
      `${status} is not a standard status and counts as open`,
    ),
  ahead: text(
    '比当前时间晚 5 分钟以上，请检查时钟',
    'is more than 5 minutes in the future; check the clock',
  ),
} as const;

/** @param isRejected true: the service rejects the field; false: the service ignores the field */
export function unusedText(isRejected: boolean) {
  const zh = isRejected ? '' : '，已忽略';
  const en = isRejected ? '' : ', ignored';
  return {
    systemCode: text(
      `系统编码以 client 绑定为准，请勿在请求体中发送${zh}`,
      `is set in the client registration; ${isRejected ? 'do not send it' : 'the sent value is ignored'}`,
    ),
    notApplicable: (operation: string) =>
      text(`${operation} 操作不使用该字段${zh}`, `is not used by ${operation}${en}`),
    unknown: (likely?: string) =>
      text(
        `未知字段${zh}${likely === undefined ? '' : `；是否应为 ${likely}？`}`,
        `unknown field${en}${likely === undefined ? '' : `; did you mean ${likely}?`}`,
      ),
  };
}

/** Separates the Chinese and the English text in a zod message. */
const BETWEEN = '\u0000';

const chinese = z.locales.zhCN().localeError;
const english = z.locales.en().localeError;

export const zodMessage = ({ zh, en }: Text): string => zh + BETWEEN + en;

/** Options for `safeParse`: messages in Chinese and English. */
export const bilingualErrors = {
  error: (issue: z.core.$ZodRawIssue) => {
    const [zh, en] = [messageOf(chinese(issue)), messageOf(english(issue))];
    if (issue.input !== undefined) return zodMessage({ zh, en });
    const { required } = TEXTS;
    if (issue.code === 'invalid_type') return zodMessage(required);
    // For a missing enum field, the zod message lists the accepted values.
    return zodMessage({ zh: `${required.zh}；${zh}`, en: `${required.en}; ${en}` });
  },
};

/** The inverse of `zodMessage`. */
export function localizedOf(message: string): ReturnType<typeof localized> {
  const [zh = '', en = zh] = message.split(BETWEEN);
  return localized({ zh, en });
}

const messageOf = (made: ReturnType<typeof chinese>) =>
  (typeof made === 'string' ? made : made?.message) ?? '';
