/** Lines that anybody can cause: five of a kind in a second, then a count of the rest. */
import pino from 'pino';
import { createTellLine, type LineKind } from '../../src/ingress/told-lines';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const REFUSED: LineKind = {
  level: 'info',
  text: 'refused',
  reason: 'SIGNATURE_MISMATCH',
  code: 401,
};

function teller() {
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { base: null, timestamp: false },
    { write: (l) => lines.push(JSON.parse(l)) },
  );
  const tell = createTellLine(logger);
  const crowd = (count: number, kind: LineKind = REFUSED) => {
    for (let n = 0; n < count; n += 1) tell(kind, { requestId: `${n}` });
  };
  return { lines, crowd };
}

test('a few are told as they are, and nothing after them', () => {
  const { lines, crowd } = teller();
  crowd(5);
  jest.advanceTimersByTime(10_000);
  expect(lines.map(({ requestId, msg }) => [requestId, msg])).toEqual(
    ['0', '1', '2', '3', '4'].map((id) => [id, 'refused']),
  );
});

test('of a crowd the rest is counted in one line, and the next second begins anew', () => {
  const { lines, crowd } = teller();
  crowd(1_000);
  expect(lines).toHaveLength(5);
  jest.advanceTimersByTime(1_000);
  expect(lines[5]).toEqual({
    ...{ level: 30, msg: 'refused, and more of them', untold: 995 },
    ...{ reason: 'SIGNATURE_MISMATCH', code: 401 },
  });
  crowd(6);
  jest.advanceTimersByTime(1_000);
  expect(lines).toHaveLength(12);
});

test('another reason, another client and another level have lines of their own', () => {
  const { lines, crowd } = teller();
  crowd(50);
  crowd(2, { ...REFUSED, reason: 'RATE_LIMITED' });
  crowd(2, { ...REFUSED, clientId: 'oa' });
  crowd(2, { ...REFUSED, level: 'warn' });
  expect(lines).toHaveLength(11);
});
