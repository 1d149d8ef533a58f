/** Makes the texts that a caller may have signed by mistake instead of `CORRECT_TEXT`. */
import type { Cause } from './causes';

/** A wrong text. The templates `before` and `after` surround the body. */
export interface SigningText {
  readonly cause: Cause;
  /** Detail of the mistake. */
  readonly how: string;
  readonly before: string;
  readonly after: string;
  readonly hasBody: boolean;
  /** True if the search combines this mistake with other mistakes. */
  readonly isCommon: boolean;
}

export interface Signed {
  readonly client: string;
  readonly time: string;
  readonly path: string;
  /** The last part of the path, such as `upsert`. */
  readonly operation: string;
  readonly secret: string;
}

export const CORRECT_TEXT = { before: '{client}\n{time}\n', after: '', hasBody: true } as const;

const BODY = '{body}';
const [CLIENT, TIME, PATH, SECRET] = ['{client}', '{time}', '{path}', '{secret}'] as const;

const OTHER_SEPARATORS = [
  ...['&', '|', ':', '.', ',', ';', ' ', '\t', '-', '_', '+', '#', '/', '/n', '\r', '\n\n'],
  ...['||', '::', '%0A', '\\\\n', '<br>'],
];
const SEPARATORS: readonly (readonly [Cause, string])[] = [
  ['SEPARATOR_MISSING', ''],
  ['SEPARATOR_LITERAL', '\\n'],
  ['SEPARATOR_CRLF', '\r\n'],
  ['SEPARATOR_LITERAL', '\\r\\n'],
  ...OTHER_SEPARATORS.map((separator) => ['SEPARATOR_OTHER', separator] as const),
];
const ALL = ['\n', ...SEPARATORS.map(([, separator]) => separator)];
const LIKELY: readonly string[] = ['\n', ''];

const REORDERED = [
  [TIME, CLIENT, BODY],
  [CLIENT, BODY, TIME],
  [TIME, BODY, CLIENT],
  [BODY, TIME, CLIENT],
  [BODY, CLIENT, TIME],
];
const SHORTENED = [
  [TIME, BODY],
  [CLIENT, BODY],
  [BODY],
  [BODY, TIME],
  [BODY, CLIENT],
  [CLIENT, TIME],
  [TIME, CLIENT],
  [TIME],
  [CLIENT],
];
const WITH_PATH = [
  [CLIENT, TIME, PATH, BODY],
  [PATH, CLIENT, TIME, BODY],
  [CLIENT, PATH, TIME, BODY],
  [CLIENT, TIME, BODY, PATH],
  ['POST', PATH, CLIENT, TIME, BODY],
  [CLIENT, TIME, 'POST', PATH, BODY],
  ['POST', PATH, TIME, BODY],
  ['POST', PATH, TIME, CLIENT, BODY],
  [TIME, 'POST', PATH, BODY],
  [TIME, CLIENT, 'POST', PATH, BODY],
  ['POST', PATH, BODY],
  [PATH, TIME, BODY],
  [TIME, PATH, BODY],
  [CLIENT, TIME, 'POST', BODY],
];
const NAMED = [
  `clientId=${CLIENT}&timestamp=${TIME}&body=${BODY}`,
  `client_id=${CLIENT}&timestamp=${TIME}&body=${BODY}`,
  `body=${BODY}&clientId=${CLIENT}&timestamp=${TIME}`,
  `clientId=${CLIENT}\ntimestamp=${TIME}\nbody=${BODY}`,
  `X-Client-Id:${CLIENT}\nX-Timestamp:${TIME}\n${BODY}`,
  `X-Client-Id: ${CLIENT}\nX-Timestamp: ${TIME}\n${BODY}`,
];
const WITH_SECRET = [
  [CLIENT, TIME, BODY, SECRET],
  [SECRET, CLIENT, TIME, BODY],
  [CLIENT, SECRET, TIME, BODY],
  [CLIENT, TIME, SECRET, BODY],
];
const EXTRA = [
  `\n${CLIENT}\n${TIME}\n${BODY}`,
  `${CLIENT}\n\n${TIME}\n${BODY}`,
  `${CLIENT}\n${TIME}\n\n${BODY}`,
  `${CLIENT}\n${TIME}\n${BODY}\n\n`,
  `${CLIENT} \n${TIME}\n${BODY}`,
  `${CLIENT}\n${TIME} \n${BODY}`,
  `${CLIENT}\r\n${TIME}\n${BODY}`,
  `${CLIENT}\n${TIME}\r\n${BODY}`,
];

export function signingTexts(clientId: string): SigningText[] {
  const right = [CLIENT, TIME, BODY];
  const others = [clientId.toLowerCase(), clientId.toUpperCase(), ''];
  return [
    ...SEPARATORS.map(([cause, separator]) =>
      text(cause, right.join(separator), ['', '\\n', '\r\n'].includes(separator)),
    ),
    ...EXTRA.map((it) => text('SEPARATOR_EXTRA', it, false)),
    ...joined('FIELDS_REORDERED', REORDERED),
    ...joined('FIELD_MISSING', SHORTENED),
    ...joined('PATH_INCLUDED', WITH_PATH, ['\n']),
    ...[
      [CLIENT, TIME, '{operation}', BODY],
      ['{operation}', CLIENT, TIME, BODY],
    ].map((fields) => text('PATH_INCLUDED', fields.join('\n'), false)),
    ...NAMED.map((it) => text('FIELDS_NAMED', it, false)),
    ...joined('SECRET_IN_TEXT', WITH_SECRET, []),
    ...others
      .filter((other) => other !== clientId)
      .map((other) => text('CLIENT_ID_OTHER', `${other}\n${TIME}\n${BODY}`, false)),
  ];
}

/** @param likely the separators for which `isCommon` is true */
function joined(
  cause: Cause,
  orders: readonly (readonly string[])[],
  likely = LIKELY,
): SigningText[] {
  return ALL.flatMap((separator) =>
    orders.map((order) => text(cause, order.join(separator), likely.includes(separator))),
  );
}

function text(cause: Cause, template: string, isCommon: boolean): SigningText {
  const [before = '', after = ''] = template.split(BODY);
  const how = JSON.stringify(template).slice(1, -1).replace(/[{}]/g, '');
  return { cause, how: `"${how}"`, before, after, hasBody: template.includes(BODY), isCommon };
}

/** Uses one pass, because a value can contain a placeholder. */
export function fillTemplate(template: string, signed: Signed): string {
  return template.replace(
    /\{(client|time|path|operation|secret)\}/g,
    (_, name: keyof Signed) => signed[name],
  );
}
