/** The text of a report, in Chinese and English. Names of systems and codes contain no character of Markdown. */
import type { Language, Text } from '../../../src/protocol/language';
import { isReason, REASONS } from '../../../src/protocol/reasons';
import { zonedTime } from '../local-time';
import type { OpenReason, PushReport, ReportCounts } from './read-report';

export interface ReportMessage {
  readonly language: Language;
  readonly title: string;
  readonly lines: readonly string[];
  readonly link: { readonly text: string; readonly url: string };
}

/** Maximum reasons in a message: robots limit its length. */
const MAX_REASONS = 10;

/** The placeholders `{0}`, `{1}` … stand for the values. */
const WORDS = {
  title: { zh: 'Matter Push 推送报告：{0}', en: 'Matter Push report for {0}' },
  window: { zh: '时段：{0} 至 {1}', en: 'from {0} to {1}' },
  before: { zh: '对比：{0} 至 {1}', en: 'compared with {0} to {1}' },
  received: { zh: '收到：{0}（对比时段 {1}）', en: 'received: {0} (before: {1})' },
  written: { zh: '写入：{0}（对比时段 {1}）', en: 'written: {0} (before: {1})' },
  failed: { zh: '失败：{0}（对比时段 {1}）', en: 'failed: {0} (before: {1})' },
  incomplete: {
    zh: '【注意】服务未能统计全部推送，以下数字均为下限',
    en: 'ATTENTION: the service could not count all pushes, so the numbers are minimums',
  },
  unauthenticated: {
    zh: '【注意】被拒绝的推送，不计入仍然失败的事项：{0}（{1}）：{2}',
    en: 'ATTENTION: rejected pushes, not among the open failures: {0} ({1}): {2}',
  },
  unauthenticatedHint: {
    zh: '原因请用 matterctl doctor 在业务系统的机器上查找（任何知道 client_id 的人也能造成）',
    en: 'to find the cause, run matterctl doctor where the business system runs (anyone who knows the client id can cause these, too)',
  },
  open: {
    zh: '仍然失败的事项：{0}（对比时段 {1}）',
    en: 'matters with an open failure: {0} (before: {1})',
  },
  atLeast: { zh: '至少 {0}', en: 'at least {0}' },
  reason: {
    zh: '- {0}（{1}）：事项 {2}，推送 {3}，最早 {4}，请求 {5}',
    en: '- {0} ({1}): matters {2}, pushes {3}, oldest {4}, request {5}',
  },
  moreReasons: { zh: '- 其他原因：{0} 种', en: '- other reasons: {0}' },
  batches: {
    zh: '整体被拒绝的批次：{0}（日志无法判断之后是否已重发）',
    en: 'batches rejected as a whole: {0} (the log does not show whether they were sent again)',
  },
  notRecorded: {
    zh: '没有日志条目的失败推送：{0}',
    en: 'failed pushes without an entry in the log: {0}',
  },
  link: { zh: '在控制台查看', en: 'open the console' },
  noReport: { zh: 'Matter Push 推送报告未能生成', en: 'Matter Push report: could not be made' },
  cause: { zh: 'Client {0} 的报告未能生成：{1}', en: 'the report of {0} could not be made: {1}' },
} as const satisfies Readonly<Record<string, Text>>;

type Word = keyof typeof WORDS;

const sayIn =
  (language: Language) =>
  (name: Word, ...values: readonly (string | number)[]) =>
    WORDS[name][language].replace(/\{(\d)\}/g, (_, at) => String(values[Number(at)]));

/** Writes a report as a message. */
export function reportMessage(report: PushReport, language: Language): ReportMessage {
  const { systemCode, timeZone, before, reasons, refusedBatches, notRecorded, link } = report;
  const say = sayIn(language);
  const time = (at: string) => zonedTime(Math.floor(Date.parse(at) / 1_000) * 1_000, timeZone);
  const count = (counts: ReportCounts, name: 'received' | 'written' | 'failed' | 'open') => {
    const number = counts[name].toLocaleString('en-US');
    return counts.complete ? number : say('atLeast', number);
  };
  const compared = (name: 'received' | 'written' | 'failed' | 'open') =>
    say(name, count(report, name), count(before, name));
  const reasonLine = ({ reason, matters, pushes, oldest, requestId }: OpenReason) =>
    say('reason', reason, meaningOf(reason, language), matters, pushes, time(oldest), requestId);
  const unauthenticated = report.unauthenticatedReasons.map(({ reason, pushes }) =>
    say('unauthenticated', reason, meaningOf(reason, language), pushes.toLocaleString('en-US')),
  );
  const lines = [
    ...(report.complete ? [] : [say('incomplete')]),
    ...unauthenticated,
    ...(unauthenticated.length > 0 ? [say('unauthenticatedHint')] : []),
    say('window', time(report.from), time(report.to)),
    say('before', time(before.from), time(before.to)),
    compared('received'),
    compared('written'),
    compared('failed'),
    compared('open'),
    ...reasons.slice(0, MAX_REASONS).map(reasonLine),
  ];
  const hidden = reasons.length - MAX_REASONS;
  if (hidden > 0) lines.push(say('moreReasons', hidden));
  if (refusedBatches > 0) lines.push(say('batches', refusedBatches));
  if (notRecorded > 0) lines.push(say('notRecorded', notRecorded));
  const title = say('title', systemCode);
  return { language, title, lines, link: { text: say('link'), url: link } };
}

/** Why there is no report. */
export interface NoReport {
  readonly clientId: string;
  readonly cause: string;
  /** Address at which people reach the service. */
  readonly publicUrl: string;
}

/** Writes the message of a report that could not be made. */
export function noReportMessage(
  { clientId, cause, publicUrl }: NoReport,
  language: Language,
): ReportMessage {
  const say = sayIn(language);
  return {
    language,
    title: say('noReport'),
    lines: [say('cause', plain(clientId), plain(cause))],
    link: { text: say('link'), url: `${publicUrl}/console` },
  };
}

/** Characters of a text that the service or a gateway chose. */
const MAX_FOREIGN = 400;

/** Removes the characters with which a foreign text could format a message, or mention people. */
const plain = (text: string) => text.replace(/[<>[\]*`~#|\\@]/g, ' ').slice(0, MAX_FOREIGN);

/** The message of a reason. A newer service may have a reason that this program does not know. */
const meaningOf = (reason: string, language: Language) =>
  isReason(reason) ? REASONS[reason].text[language] : '?';
