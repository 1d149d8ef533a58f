/** Lines that can come in crowds: the first of a kind in a second, then a count of the rest. */
import pino from 'pino';
import {
  createFoldedLog,
  type FoldedLogOptions,
  type LineKind,
} from '../../../src/infra/folded-log';

const REFUSED: LineKind = {
  level: 'info',
  text: 'rejected',
  reason: 'SIGNATURE_MISMATCH',
  code: 401,
};

/** The seconds pass when the test says so. */
function teller(options: Pick<FoldedLogOptions, 'isUnavailable'> = {}) {
  const lines: Record<string, unknown>[] = [];
  const due: (() => void)[] = [];
  const logger = pino(
    { level: 'debug', base: null, timestamp: false },
    { write: (l) => lines.push(JSON.parse(l)) },
  );
  const tell = createFoldedLog(logger, { ...options, later: (_ms, work) => void due.push(work) });
  const crowd = (count: number, kind: LineKind = REFUSED) => {
    for (let n = 0; n < count; n += 1) tell(kind, { requestId: `${n}` });
  };
  const secondPasses = () => {
    for (const work of due.splice(0)) work();
  };
  return { lines, crowd, secondPasses };
}

test('one that is alone is told as it is, and nothing after it', () => {
  const { lines, crowd, secondPasses } = teller();
  crowd(1);
  secondPasses();
  expect(lines.map(({ requestId, msg }) => [requestId, msg])).toEqual([['0', 'rejected']]);
});

test('of a crowd the rest is counted in one line, and the next second begins anew', () => {
  const { lines, crowd, secondPasses } = teller();
  crowd(900);
  expect(lines).toHaveLength(1);
  secondPasses();
  expect(lines.slice(1)).toEqual([
    {
      ...{ level: 30, msg: 'rejected: lines suppressed', suppressed: 899 },
      ...{ reason: 'SIGNATURE_MISMATCH', code: 401 },
    },
  ]);
  crowd(6);
  secondPasses();
  expect(lines).toHaveLength(4);
});

test('another reason, another client and another level have lines of their own', () => {
  const { lines, crowd } = teller();
  crowd(50);
  crowd(2, { ...REFUSED, reason: 'RATE_LIMITED' });
  crowd(2, { ...REFUSED, clientId: 'oa' });
  crowd(2, { ...REFUSED, level: 'warn' });
  expect(lines).toHaveLength(4);
});

test('of a kind that asks for more, more are told as they are', () => {
  const { lines, crowd, secondPasses } = teller();
  crowd(8, {
    level: 'error',
    text: 'gave up the pushes of a matter after failed commits',
    maxPerSecond: 5,
  });
  secondPasses();
  expect(lines.map(({ suppressed }) => suppressed)).toEqual([...Array(5).fill(undefined), 3]);
});

test('however many clients there are, a second has its bound of lines, and none is uncounted', () => {
  const { lines, crowd, secondPasses } = teller();
  for (let client = 0; client < 5_000; client += 1)
    crowd(2, { ...REFUSED, clientId: `c${client}` });
  secondPasses();
  expect(lines.length).toBeLessThanOrEqual(2 * 201);
  const told = lines.filter(({ suppressed }) => suppressed === undefined).length;
  const counted = lines.reduce((sum, { suppressed = 0 }) => sum + Number(suppressed), 0);
  expect(told + counted).toBe(10_000);
});

test('what follows from an outage that is known is told at debug alone', () => {
  const away = new Set<string>();
  const { lines, crowd, secondPasses } = teller({ isUnavailable: (server) => away.has(server) });
  const kind: LineKind = { level: 'warn', text: 'wake failed', dueTo: ['redis'] };
  crowd(1, kind);
  secondPasses();
  away.add('redis');
  crowd(3, kind);
  crowd(1, { ...kind, dueTo: ['mongodb'], text: 'something else' });
  secondPasses();
  const levels = pino.levels.values;
  expect(lines.map(({ level }) => level)).toEqual([
    ...[levels.warn, levels.debug, levels.warn, levels.debug],
  ]);
});
