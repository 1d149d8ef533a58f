/** The formats of a report: for people, for programs, and as the message of a robot in a group chat. */
import type { Language } from '../../../src/protocol/language';
import { type NoReport, noReportMessage, type ReportMessage, reportMessage } from './message';
import type { PushReport } from './read-report';

export const REPORT_FORMATS = ['text', 'json', 'wecom', 'dingtalk', 'feishu'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];
export type RobotFormat = Exclude<ReportFormat, 'text' | 'json'>;

/** Markdown of both robots breaks lines differently. Feishu has no Markdown in messages of the type `post`. */
const ROBOTS: Readonly<Record<RobotFormat, (message: ReportMessage) => object>> = {
  wecom: ({ title, lines, link }) => ({
    msgtype: 'markdown',
    markdown: { content: [`**${title}**`, ...lines, `[${link.text}](${link.url})`].join('\n') },
  }),
  dingtalk: ({ title, lines, link }) => ({
    msgtype: 'markdown',
    markdown: {
      title,
      text: [`### ${title}`, ...lines, `[${link.text}](${link.url})`].join('\n\n'),
    },
  }),
  feishu: ({ language, title, lines, link }) => ({
    msg_type: 'post',
    content: {
      post: {
        [language === 'zh' ? 'zh_cn' : 'en_us']: {
          title,
          content: [
            ...lines.map((text) => [{ tag: 'text', text }]),
            [{ tag: 'a', text: link.text, href: link.url }],
          ],
        },
      },
    },
  }),
};

export const isRobot = (format: ReportFormat): format is RobotFormat => format in ROBOTS;

interface Form {
  readonly format: ReportFormat;
  readonly language: Language;
}

/** @returns the lines of the report in a format; JSON is one line */
export function reportLines(report: PushReport, { format, language }: Form): readonly string[] {
  if (format === 'json') return [JSON.stringify(report)];
  return messageLines(reportMessage(report, language), format);
}

/** @returns the lines that state why there is no report; JSON is one line with `clientId` and `error` */
export function noReportLines(why: NoReport, { format, language }: Form): readonly string[] {
  const { clientId, cause: error } = why;
  if (format === 'json') return [JSON.stringify({ clientId, error })];
  return messageLines(noReportMessage(why, language), format);
}

function messageLines(
  message: ReportMessage,
  format: Exclude<ReportFormat, 'json'>,
): readonly string[] {
  if (isRobot(format)) return [JSON.stringify(ROBOTS[format](message))];
  const { title, lines, link } = message;
  return [title, ...lines, `${link.text}: ${link.url}`];
}
