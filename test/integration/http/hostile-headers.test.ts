/** The three auth headers, bent, doubled and in odd company: rejected as decided, without any harm. */
import { type Hostile, harmless, rejected } from '../../support/hostile-guard';
import { epochSeconds, type HeaderList } from '../../support/hostile-post';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
  await service.push('upsert', { matterType: 'TODO', externalId: 'KEPT', title: 'as it was' });
});
afterAll(() => service.stop());

/** Would conclude the matter that is there. */
const BODY = { externalId: 'KEPT', bizStatus: 'DONE' };
/** Changes nothing even where it is well signed. */
const NONE = { externalId: 'NONE' };
const rejects = (about: Omit<Hostile, 'body'>, reason: Parameters<typeof rejected>[2]) =>
  rejected(service, { body: BODY, ...about }, reason);
const MISSING = 'HMAC_HEADERS_MISSING';
const WINDOW = 'TIMESTAMP_OUT_OF_WINDOW';
const MISMATCH = 'SIGNATURE_MISMATCH';

describe('X-Timestamp', () => {
  const now = epochSeconds;
  // Node takes the bytes of a header for Latin-1.
  const fullWidth = (text: string) =>
    Buffer.from(
      text.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
    ).toString('latin1');
  test.each<[string, () => string]>([
    ['letters', () => 'abc'],
    ['an exponent, 1e9', () => '1e9'],
    ['the right second as an exponent', () => `${now() / 1e9}e9`],
    ['hex', () => `0x${now().toString(16)}`],
    ['a plus sign', () => `+${now()}`],
    ['a minus sign', () => `-${now()}`],
    ['a fraction', () => `${now()}.5`],
    ['a fraction of nothing', () => `${now()}.0`],
    ['milliseconds', () => String(Date.now())],
    ['13 digits of the right second', () => String(now()).padStart(13, '0')],
    ['full-width digits', () => fullWidth(String(now()))],
    ['blanks within', () => String(now()).replace(/^.../, '$& ')],
    ['two, joined', () => `${now()}, ${now()}`],
    ['NaN', () => 'NaN'],
    ['Infinity', () => 'Infinity'],
    ['301 seconds ago', () => String(now() - 301)],
    // Seconds may pass on the way; the edge itself is a unit test with a clock that stands.
    ['330 seconds ahead', () => String(now() + 330)],
    ['a year ago', () => String(now() - 31_536_000)],
    ['999999999999', () => '999999999999'],
    ['0', () => '0'],
  ])('%s is out of the window, however well signed', async (_what, timestamp) => {
    await rejects({ as: { timestamp: timestamp() } }, WINDOW);
  });

  test.each(['', ' ', '\t '])('%j is none: HTTP cuts blanks off', async (timestamp) => {
    await rejects({ as: { timestamp } }, MISSING);
  });

  test.each<[string, () => string]>([
    ['299 seconds ahead', () => String(now() + 299)],
    ['300 seconds ahead', () => String(now() + 300)],
    ['270 seconds ago', () => String(now() - 270)],
    ['leading zeros up to 12 digits', () => String(now()).padStart(12, '0')],
  ])('%s is within', async (_what, timestamp) => {
    const heard = await harmless(service, { body: NONE, as: { timestamp: timestamp() } });
    expect(heard).toMatchObject({ code: 404, reason: 'MATTER_NOT_FOUND' });
  });

  test('blanks around it are cut off by HTTP: whoever signed without them is right', async () => {
    const timestamp = String(now());
    const padded: Hostile['headers'] = (signed) =>
      signed.map(([name, value]) => [name, name === 'X-Timestamp' ? ` \t${value} ` : value]);
    const heard = await harmless(service, { body: NONE, as: { timestamp }, headers: padded });
    expect(heard).toMatchObject({ code: 404 });
    await rejects({ as: { timestamp: ` ${timestamp}` } }, MISMATCH);
    await rejects({ as: { timestamp: `${timestamp} ` } }, MISMATCH);
  });
});

describe('the auth headers', () => {
  const NAMES = ['X-Client-Id', 'X-Timestamp', 'X-Signature'];
  const again = (name: string, as: string, change: (value: string) => string) => ({
    headers: (signed: [string, string][]): HeaderList =>
      signed.flatMap(([known, value]) =>
        known === name
          ? [
              [known, value],
              [as, change(value)],
            ]
          : [[known, value]],
      ),
  });
  const same = (value: string) => value;

  test.each(NAMES)('%s sent twice is rejected, in any case of its name', async (name) => {
    await rejects(again(name, name, same), MISSING);
    await rejects(again(name, name.toLowerCase(), same), MISSING);
    await rejects(
      again(name, name.toUpperCase(), () => 'another'),
      MISSING,
    );
    await rejects(
      again(name, name, () => ''),
      MISSING,
    );
  });

  test.each(NAMES)('%s left out is rejected', async (name) => {
    await rejects({ headers: (signed) => signed.filter(([known]) => known !== name) }, MISSING);
  });

  test.each([
    '__proto__',
    'constructor',
    'prototype',
    'hasOwnProperty',
    'toString',
    'x-client-id-',
  ])('a header named %s beside them harms nothing, and stands for nothing', async (name) => {
    const beside: Hostile['headers'] = (signed) => [[name, 'x'], ...signed, [name, '{"a":1}']];
    expect(await harmless(service, { body: NONE, headers: beside })).toMatchObject({ code: 404 });
    const instead: Hostile['headers'] = (signed) =>
      signed.map(([known, value]) => [known === 'X-Signature' ? name : known, value]);
    await rejects({ headers: instead }, MISSING);
  });

  test.each([
    '__proto__',
    'constructor',
    '{"$ne":null}',
    '$where',
    "' || '1'=='1",
    '*',
    'x'.repeat(8_000),
  ])('a client id %j is that of nobody', async (clientId) => {
    await rejects({ as: { clientId } }, MISMATCH);
  });
});
