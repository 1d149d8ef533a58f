/** The signature doctor names what went wrong, and nothing that did not. */
import { spawnSync } from 'node:child_process';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { bodyVariants } from '../../../src/signature-diagnosis/body-variants';
import { ALL_CAUSES } from '../../../src/signature-diagnosis/causes';
import { type Bounds, diagnose, diagnoseInSlices } from '../../../src/signature-diagnosis/diagnose';
import { WRITERS } from '../../../src/signature-diagnosis/json-writers';
import { type SignatureRejection, search } from '../../../src/signature-diagnosis/search';
import { sentSignature } from '../../../src/storage/push-log/entry';
import {
  COMPACT,
  type Given,
  MISTAKES,
  type Mistake,
  PRETTY,
  signs,
  type Wire,
} from '../../support/mistakes';

const NOW = 1_795_000_000_000;
const PATH = '/api/open/matters/upsert';
const GIVEN: Given = {
  clientId: 'oa-test',
  secret: 'Kq3_vT8wZr1yB6nMd4XhJ0cLfQ9sPgUe2aRtWx5Vz7Y',
  retired: 'Old-secret_0123456789abcdefghijklmnopqrstuvw',
  queryKey: 'Key_of-a-link_0123456789abcdefghijklmnopqrst',
  seconds: NOW / 1000,
  path: PATH,
};
/** As OpenJDK 17 gives a HashMap of these. */
const JAVA_ORDER = '{"summary":"s","pcUrl":null,"externalId":"A","title":"t","matterType":"TODO"}';
const SECRETS = [
  { id: 's2', secret: GIVEN.secret },
  { id: 's1', secret: GIVEN.retired, endsAt: NOW - 1 },
  { id: 'k1', secret: String(GIVEN.queryKey), endsAt: NOW - 1, isQueryKey: true },
];
/** Time enough for all that there is to try. */
const BOUNDS: Bounds = { time: 60_000, clock: () => performance.now() };

const requestOf = ({ timestamp, signature, body }: Wire): SignatureRejection => ({
  clientId: GIVEN.clientId,
  sent: sentSignature(timestamp, signature),
  body,
  path: PATH,
  receivedAt: NOW,
});
const diagnosisOf = (wire: Wire, bounds: Partial<Bounds> = {}) =>
  diagnose(requestOf(wire), SECRETS, { ...BOUNDS, ...bounds });
const causesOf = (wire: Wire) => diagnosisOf(wire).findings.map(({ cause }) => cause);

test.each(MISTAKES.map(([cause, mistake], at) => [cause, at, mistake] as const))(
  '%s (%i), and the diagnosis holds no secret and no signature',
  (cause, _at, mistake) => {
    const wire = mistake(GIVEN);
    const diagnosis = diagnosisOf(wire);
    expect(diagnosis.findings.map((finding) => finding.cause)).toEqual([cause]);
    expectNoSecret(JSON.stringify(diagnosis), wire);
  },
);

/** Neither what the caller sent, nor what would have been right. */
function expectNoSecret(diagnosis: string, wire: Wire): void {
  const expected = createHmac('sha256', GIVEN.secret)
    .update(`${GIVEN.clientId}\n${wire.timestamp}\n`)
    .update(wire.body)
    .digest();
  for (const text of [
    GIVEN.secret,
    GIVEN.retired,
    expected.toString('hex'),
    expected.toString('base64'),
    wire.signature,
    createHash('sha256').update(wire.signature).digest('hex'),
  ]) {
    expect(diagnosis.toLowerCase()).not.toContain(text.toLowerCase());
  }
}

describe('a digest that Java wrote as a number', () => {
  /** The same request, later, until its digest is as wanted: that is so in a part of them only. */
  const until = (isWanted: (digest: Buffer) => boolean, write: (digest: Buffer) => string) => {
    for (let seconds = GIVEN.seconds; ; seconds += 1) {
      const text = `${GIVEN.clientId}\n${seconds}\n${COMPACT}`;
      const digest = createHmac('sha256', GIVEN.secret).update(text).digest();
      if (!isWanted(digest)) continue;
      const body = Buffer.from(COMPACT);
      const wire = { timestamp: String(seconds), signature: write(digest), body };
      const request = { ...requestOf(wire), receivedAt: seconds * 1_000 };
      return diagnose(request, SECRETS, BOUNDS).findings;
    }
  };
  const first = (digest: Buffer) => digest[0] ?? 0;
  const number = (digest: Buffer) => BigInt(`0x${digest.toString('hex')}`);

  test('has lost the zeros at its beginning', () => {
    const [finding] = until(
      (digest) => first(digest) < 16,
      (digest) => number(digest).toString(16),
    );
    expect(finding).toMatchObject({ cause: 'SIGNATURE_UNPADDED' });
    expect(finding?.explanation).toContain('new BigInteger(1, bytes)');
  });

  test('has a minus where its first bit was set', () => {
    const [finding] = until(
      (digest) => first(digest) >= 128 && first(digest) < 240,
      (digest) => BigInt.asIntN(256, number(digest)).toString(16),
    );
    expect(finding).toMatchObject({ cause: 'SIGNATURE_UNPADDED' });
    expect(finding?.explanation).toContain('new BigInteger(bytes)');
  });
});

test('a byte order mark, and what else nobody sees, is visible in the difference', () => {
  const [signed] = diagnosisOf(signs(`\ufeff${COMPACT}`)(GIVEN)).findings;
  expect(signed?.difference?.signed).toMatch(/^\\ufeff\{/);
  const [sent] = diagnosisOf(signs(COMPACT, `\ufeff${COMPACT}`)(GIVEN)).findings;
  expect(sent?.difference?.sent).toMatch(/^\\ufeff\{/);
});

test('a search that ran out of time says so: ask again', () => {
  const wire = { ...signs(COMPACT)(GIVEN), signature: 'ab'.repeat(32) };
  let now = 0;
  const clock = () => {
    now += 1;
    return now;
  };
  const [cut] = diagnosisOf(wire, { time: 10, clock }).findings;
  expect(cut?.cause).toBe('UNEXPLAINED');
  expect(cut?.fix).toMatch(/^Ask again: the search ran out of time/);
  // One that has tried all that it may comes no further the next time.
  const [most] = diagnosisOf(wire, { maxDigests: 10 }).findings;
  expect(most?.fix).not.toContain('Ask again');
  expect(most?.explanation).toContain('it did not try all known mistakes');
  const [all] = diagnosisOf(wire).findings;
  expect(all?.fix).not.toContain('Ask again');
  expect(all?.explanation).toBe('The search found no known mistake that explains this signature.');
});

describe('a timestamp in a smaller unit, or an empty one', () => {
  test.each([
    [13, 'TIMESTAMP_MILLISECONDS'],
    [16, 'TIMESTAMP_UNIT'],
    [19, 'TIMESTAMP_UNIT'],
  ])('seconds were signed, %i digits were sent', (digits, cause) => {
    const sent = String(GIVEN.seconds).padEnd(digits, '1');
    const wire = { ...signs(COMPACT)(GIVEN), timestamp: sent };
    const { findings } = diagnosisOf(wire);
    expect(findings.map((finding) => finding.cause)).toEqual([cause]);
    expect(findings[0]?.explanation).toContain('signed seconds');
  });

  test('an empty timestamp was signed: a part of the text is missing', () => {
    const text = `${GIVEN.clientId}\n\n${COMPACT}`;
    const signature = createHmac('sha256', GIVEN.secret).update(text).digest('hex');
    const [finding] = diagnosisOf({ ...signs(COMPACT)(GIVEN), signature }).findings;
    expect(finding?.cause).toBe('FIELD_MISSING');
    expect(finding?.explanation).toContain('client\\n\\nbody');
  });
});

test('a query key that works explains nothing: what it signed was right', () => {
  const alive = [{ id: 'k2', secret: 'a living key', endsAt: NOW + 1, isQueryKey: true }];
  const found = (given: Given) =>
    diagnose(requestOf(signs(COMPACT)(given)), alive, BOUNDS).findings;
  const causes = (given: Given) => found(given).map(({ cause }) => cause);
  expect(causes({ ...GIVEN, secret: 'a living key' })).toEqual(['SIGNATURE_RIGHT']);
  const late = { ...GIVEN, secret: 'a living key', seconds: GIVEN.seconds - 1_000 };
  expect(causes(late)).toEqual(['CLOCK_OFF']);
});

describe('two at once', () => {
  /** The body of one mistake, sent in another form. */
  const inBase64 =
    (mistake: Mistake): Mistake =>
    (given) => {
      const wire = mistake(given);
      return { ...wire, signature: Buffer.from(wire.signature, 'hex').toString('base64') };
    };
  const text = (given: Given, separator: string, body: string) =>
    [given.clientId, given.seconds, body].join(separator);
  const sent = (signature: string): Wire => ({
    ...{ timestamp: String(GIVEN.seconds), signature, body: Buffer.from(COMPACT) },
  });
  const hmac = (key: string, signed: string) =>
    createHmac('sha256', key).update(signed).digest('hex');

  test('another body, and base64', () => {
    const wire = inBase64(signs(PRETTY))(GIVEN);
    expect(causesOf(wire)).toEqual(['SIGNATURE_BASE64', 'BODY_PRETTY']);
  });
  test('another body and a literal \\n', () => {
    const wire = sent(hmac(GIVEN.secret, text(GIVEN, '\\n', PRETTY)));
    expect(causesOf(wire)).toEqual(['SEPARATOR_LITERAL', 'BODY_PRETTY']);
  });
  test('another body and a secret with a line feed', () => {
    const wire = sent(hmac(`${GIVEN.secret}\n`, text(GIVEN, '\n', PRETTY)));
    expect(causesOf(wire)).toEqual(['SECRET_WHITE_SPACE', 'BODY_PRETTY']);
  });
  test('milliseconds, and a retired secret', () => {
    const timestamp = `${GIVEN.seconds}123`;
    const signature = hmac(GIVEN.retired, `${GIVEN.clientId}\n${timestamp}\n${COMPACT}`);
    const wire = { ...sent(signature), timestamp };
    expect(causesOf(wire)).toEqual(['TIMESTAMP_MILLISECONDS', 'SECRET_RETIRED']);
  });
  test('a secret whose client rotates: both work', () => {
    const rotating = [{ id: 's3', secret: 'the newest' }, ...SECRETS];
    const found = diagnose(requestOf(signs(PRETTY)(GIVEN)), rotating, BOUNDS);
    expect(found.findings.map(({ cause }) => cause)).toEqual(['BODY_PRETTY']);
  });
});

describe('real writers', () => {
  const matter = JSON.parse(COMPACT);
  const hasPython = spawnSync('python3', ['--version']).status === 0;
  if (!hasPython) console.warn('SKIPPED: no python3 here; its json was not tried');
  const python = (call: string, value: unknown = matter) =>
    spawnSync(
      'python3',
      ['-c', `import json, sys\nv = json.load(sys.stdin)\nsys.stdout.write(${call})`],
      {
        input: JSON.stringify(value),
        env: { ...process.env, PYTHONIOENCODING: 'utf-8' },
      },
    ).stdout.toString();

  (hasPython ? test : test.skip).each([
    ['json.dumps(v)', 'BODY_AS_PYTHON'],
    ['json.dumps(v, ensure_ascii=False)', 'BODY_AS_PYTHON'],
    ['json.dumps(v, separators=(",", ":"))', 'BODY_AS_PYTHON'],
    ['json.dumps(v, sort_keys=True)', 'BODY_SORTED'],
    ['json.dumps(v, indent=4)', 'BODY_PRETTY'],
    ['json.dumps(v, indent=2, ensure_ascii=False)', 'BODY_PRETTY'],
    ['str(v)', 'BODY_NOT_TEXT'],
    [
      'f"{json.dumps(v, ensure_ascii=False, separators=chr(44)+chr(58)).encode()}"',
      'BODY_NOT_TEXT',
    ],
  ])('Python: %s', (call, cause) => {
    const signed = python(call);
    expect(signed).not.toBe('');
    expect(causesOf(signs(signed)(GIVEN))).toEqual([cause]);
  });

  (hasPython ? test : test.skip)('Python: numbers and text that others write otherwise', () => {
    const sent =
      '{"a":1.0,"b":1e5,"c":12345678901234567890,"d":0.00001,"e":1e22,"f":-0,"g":"\\u0007\\/\u{1f680}\u007f","h":-1.50}';
    const signed = spawnSync(
      'python3',
      ['-c', 'import json, sys\nsys.stdout.write(json.dumps(json.load(sys.stdin)))'],
      { input: sent },
    ).stdout.toString();
    expect(causesOf(signs(signed, sent)(GIVEN))).toEqual(['BODY_AS_PYTHON']);
  });

  test('JavaScript: numbers, and names that are numbers', () => {
    const sent = '{"b": 1.0, "2": 1e5, "1": "x", "a": [], "c": {}}';
    const signed = JSON.stringify(JSON.parse(sent));
    expect(causesOf(signs(signed, sent)(GIVEN))).toEqual(['BODY_AS_JAVASCRIPT']);
  });

  test('a name that comes twice', () => {
    const sent = '{"a":1,"b":2,"a":3}';
    const signed = JSON.stringify(JSON.parse(sent));
    expect(causesOf(signs(signed, sent)(GIVEN))).toEqual(['BODY_AS_JAVASCRIPT']);
  });

  test('Java: the order of a HashMap', () => {
    const sent = '{"matterType":"TODO","externalId":"A","title":"t","pcUrl":null,"summary":"s"}';
    const signed = JAVA_ORDER;
    expect(causesOf(signs(signed, sent)(GIVEN))).toEqual(['BODY_AS_JAVA']);
  });

  test('.NET: System.Text.Json', () => {
    const signed = '{"t":"\\u8BF7 \\u003Ca\\u003E \\u002B \\u0022q\\u0022"}';
    const sent = '{"t":"请 <a> + \\"q\\""}';
    expect(causesOf(signs(signed, sent)(GIVEN))).toEqual(['BODY_AS_DOTNET']);
  });

  test('curl -d of a file: sent without its line breaks, or signed without them', () => {
    const sent = '{"a": 1,\n"b": 2}\n';
    const signed = sent.replaceAll('\n', '');
    expect(causesOf(signs(signed, sent)(GIVEN))).toEqual(['BODY_LINES_JOINED']);
  });

  test('GBK, as a platform without UTF-8 signs', () => {
    const sent = '{"title":"请假"}';
    const gbk = Buffer.from('7b227469746c65223a22c7ebbcd9227d', 'hex');
    expect(causesOf(signs(gbk, sent)(GIVEN))).toEqual(['BODY_CHARSET']);
  });
});

describe('the first byte that differs', () => {
  test('is counted in bytes, and shown with what is around it', () => {
    const sent = '{"title":"审批","n":1}';
    const { findings } = diagnosisOf(signs('{"title":"审批","n":1}\n', sent)(GIVEN));
    expect(findings).toMatchObject([{ cause: 'BODY_LINE_FEED_ADDED' }]);
    expect(findings[0]?.difference).toMatchObject({ offset: Buffer.byteLength(sent) });
    // Escaped as in JSON.
    expect(findings[0]?.difference?.signed.endsWith('n\\":1}\\n')).toBe(true);
  });

  test('of a body that is written with blanks', () => {
    const { findings } = diagnosisOf(signs('{"a": "审"}', '{"a":"审"}')(GIVEN));
    expect(findings[0]).toMatchObject({
      cause: 'BODY_AS_PYTHON',
      difference: { offset: 5, sent: '{\\"a\\":\\"审\\"}', signed: '{\\"a\\": \\"审\\"}' },
    });
  });

  test('is not told where no writing of the body was signed', () => {
    expect(diagnosisOf(signs('')(GIVEN)).findings[0]).not.toHaveProperty('difference');
  });
});

describe('nothing is named without cause', () => {
  const random = (): Wire => ({
    timestamp: String(GIVEN.seconds),
    signature: randomBytes(32).toString('hex'),
    body: Buffer.from(COMPACT),
  });

  test('a signature of nothing', () => {
    const { findings, tried, complete } = diagnosisOf(random());
    expect(findings.map(({ cause }) => cause)).toEqual(['UNEXPLAINED']);
    expect({ complete, isMany: tried > 5_000 && tried <= 20_000 }).toEqual({
      ...{ complete: true, isMany: true },
    });
  });

  // A whole search for the lengths of a digest in base64 and of one without its zeros.
  test.each([
    ...[0, 1, 16, 32, 43, 65, 100, 8_000].map((length) => [length, 1_000]),
    ...[44, 63].map((length) => [length, 20_000]),
  ])('one of %i characters', (length = 0, maxDigests) => {
    const signature = randomBytes(length).toString('hex').slice(0, length);
    const { findings } = diagnosisOf({ ...random(), signature }, { maxDigests });
    expect(findings.map(({ cause }) => cause)).toEqual(['SIGNATURE_LENGTH']);
  });

  test('the timestamp is named also where the signature cannot be explained', () => {
    const wire = { ...random(), timestamp: '1700000000' };
    expect(causesOf(wire)).toEqual(['CLOCK_OFF', 'UNEXPLAINED']);
    expect(causesOf({ ...random(), timestamp: 'yesterday' })).toEqual(['TIMESTAMP_NOT_SECONDS']);
  });

  test('nor is the beginning of a secret told by what a decoder makes of it', () => {
    // Of a text that is no hex, Node decodes what it can: here one byte.
    const secrets = [{ id: 's', secret: 'ab-and no hex any more' }];
    const signed = (key: Buffer) => {
      const text = `${GIVEN.clientId}\n${GIVEN.seconds}\n${COMPACT}`;
      const signature = createHmac('sha256', key).update(text).digest('hex');
      const request = requestOf({ ...random(), signature });
      return diagnose(request, secrets, BOUNDS).findings.map(({ cause }) => cause);
    };
    expect(signed(Buffer.from('ab', 'hex'))).toEqual(['UNEXPLAINED']);
    expect(signed(Buffer.alloc(0))).toEqual(['SECRET_UNSET']);
  });

  test('without the body, or a secret, that is said', () => {
    const request = requestOf(random());
    const causes = (over: Partial<SignatureRejection>, secrets = SECRETS) =>
      diagnose({ ...request, ...over }, secrets, BOUNDS).findings.map(({ cause }) => cause);
    expect(causes({ body: undefined })).toEqual(['BODY_NOT_KEPT']);
    expect(causes({}, [])).toEqual(['NO_SECRET']);
    const empty = requestOf(signs('')(GIVEN));
    const { findings } = diagnose({ ...empty, body: undefined }, SECRETS, BOUNDS);
    expect(findings.map(({ cause }) => cause)).toEqual(['BODY_EMPTY']);
  });
});

describe('bounds', () => {
  const wire = (body: string | Buffer): Wire => ({
    timestamp: String(GIVEN.seconds),
    signature: 'ab'.repeat(32),
    body: Buffer.from(body as string),
  });

  test('so many digests and no more', () => {
    expect(diagnosisOf(wire(COMPACT), { maxDigests: 100 })).toMatchObject({
      ...{ tried: 100, complete: false, findings: [{ cause: 'UNEXPLAINED' }] },
    });
  });

  test('so much time and no more, by the given clock', () => {
    let now = 0;
    const clock = () => {
      now += 1;
      return now;
    };
    const { tried, complete } = diagnosisOf(wire(COMPACT), { time: 50, clock });
    expect({ tried: tried <= 60, complete }).toEqual({ tried: true, complete: false });
  });

  test('a body of 1 MiB is tried; of a larger one all but its writings', () => {
    const body = (bytes: number) => `{"a": "${'x'.repeat(bytes - 9)}"}`;
    const large = body(1024 * 1024);
    const compact = JSON.stringify(JSON.parse(large));
    const bounded = (sent: string, mistake: Mistake) =>
      diagnosisOf({ ...mistake(GIVEN), body: Buffer.from(sent) }, { maxDigests: 500 }).findings[0]
        ?.cause;
    const trimmed = (it: string) => signs(`${it}\n`, it);
    expect(bounded(large, trimmed(large))).toBe('BODY_LINE_FEED_ADDED');
    expect(compact.length).toBeLessThan(large.length);
    const larger = body(1024 * 1024 + 1);
    expect(bounded(larger, trimmed(larger))).toBe('UNEXPLAINED');
    const given = { ...GIVEN, secret: `${GIVEN.secret}\n` };
    const found = diagnosisOf({ ...signs(larger, larger)(given) }, { maxDigests: 500 });
    expect(found.findings[0]?.cause).toBe('SECRET_WHITE_SPACE');
  });

  test('each body that is made is a step of its own, also where it is the same as another one', () => {
    // All writers write it the same on one line; without these steps a slice would end only after all.
    const made = [...bodyVariants(Buffer.from('[0]'))];
    expect(made.length).toBeGreaterThan(2 * WRITERS.length);
    expect(made.filter((variant) => variant === undefined).length).toBeGreaterThan(WRITERS.length);
    const steps = [...search(requestOf(wire('[0]')), SECRETS)];
    const nothings = steps.filter((isDigest) => !isDigest).length;
    expect(nothings).toBeGreaterThan(WRITERS.length);
    expect(diagnosisOf(wire('[0]')).tried).toBe(steps.length - nothings);
  });

  test('what is nested more deeply than any push is not written anew: indented it would be megabytes', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    const sizes = (body: string) =>
      [...bodyVariants(Buffer.from(body))].map((variant) => variant?.bytes.length ?? 0);
    const deep = `[${Array(120).fill(nested(60)).join()}]`;
    const flat = `[${Array(220).fill(nested(32)).join()}]`;
    expect(Math.max(...sizes(deep))).toBeLessThan(10 * deep.length);
    expect(Math.max(...sizes(flat))).toBeGreaterThan(10 * flat.length);
  });

  test('in slices others get their turn', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const found = await diagnoseInSlices(requestOf(wire(COMPACT)), SECRETS, BOUNDS);
    clearInterval(timer);
    expect(found.findings.map(({ cause }) => cause)).toEqual(['UNEXPLAINED']);
    expect(turns).toBeGreaterThan(3);
  });
});

describe('hostile bodies', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['no UTF-8', Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x7b])],
    ['no JSON', '{"a":'],
    ['nested deeply', deep],
    ['a name that is dangerous', '{"__proto__":{"a":1},"constructor":null,"toString":1}'],
    ['places of the template', '{"a":"{client}{time}{body}$1$&"}'],
    ['half a pair', '{"a":"\\ud800","\\udc00":1}'],
    ['a number beyond all', '[1e999,-1e999,1e-999,-0.0]'],
    ['a mere text', '"text"'],
    ['a mere number', '1'],
    ['white space', ' \r\n\t '],
    ['bytes of 0', Buffer.alloc(1000)],
  ])('%s', (_what, body) => {
    const right = signs(body, body)(GIVEN);
    expect(causesOf(right)).toEqual(['SIGNATURE_RIGHT']);
    const wrong = diagnosisOf({ ...right, signature: 'ab'.repeat(32) }, { maxDigests: 3_000 });
    expect(wrong.findings.map(({ cause }) => cause)).toEqual(['UNEXPLAINED']);
  });
});

test('every cause has its tests', () => {
  const tested = new Set(MISTAKES.map(([cause]) => cause));
  const others = ALL_CAUSES.filter((cause) => !tested.has(cause));
  // The rest is tried above, or has no signer of its own in these tests.
  expect(others).toEqual([
    ...['BODY_LINES_JOINED', 'BODY_AS_DOTNET', 'SIGNATURE_LENGTH', 'BODY_NOT_KEPT'],
    ...['NO_SECRET', 'UNEXPLAINED'],
  ]);
});
