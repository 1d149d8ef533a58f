/** A service as it comes, without settings: what callers may rely on wherever they meet one. */
import { type Service, startService } from '../../support/service';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** As PHP and Python write JSON by default. */
const escaped = (value: unknown) =>
  JSON.stringify(value).replace(
    /[^\0-\x7f]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
const longest = (length: number) => '办'.repeat(length);

describe('a body', () => {
  const todo = { matterType: 'TODO', externalId: 'LONG', title: '审批' };

  test('of 44,000 Chinese characters passes, written as \\uXXXX', async () => {
    const body = escaped({ ...todo, content: longest(44_000) });
    expect(body.length).toBeGreaterThan(256 * 1024);
    expect(await service.push('upsert', body)).toMatchObject({ code: 0 });
  });

  test('with every field at its longest passes, and one of them written as \\uXXXX', async () => {
    const url = `https://example.com/${'x'.repeat(2_028)}`;
    const { content, ...rest } = {
      ...todo,
      ...{ title: longest(512), summary: longest(2_000), content: longest(65_536) },
      ...{ pcUrl: url, mobileUrl: url, bizType: longest(64), payloadJson: `"${longest(65_534)}"` },
      parties: ['alice', 'bob'].map((username) => ({ username, partyRole: 'ASSIGNEE' })),
    };
    const body = `${JSON.stringify(rest).slice(0, -1)},"content":${escaped(content)}}`;
    expect(await service.push('upsert', body)).toMatchObject({ code: 0 });
  });

  test('of more than 1 MiB is too large', async () => {
    const body = JSON.stringify({ ...todo, more: 'x'.repeat(1024 * 1024) });
    expect(await service.push('upsert', body)).toMatchObject({
      code: 413,
      reason: 'BODY_TOO_LARGE',
    });
  });
});

test('nobody has a rate: a crowd is let in, and no header tells of one', async () => {
  const sent = Array.from({ length: 900 }, (_, n) =>
    service.push('upsert', { matterType: 'TODO', externalId: `CROWD-${n % 8}`, title: 'x' }),
  );
  const answers = await Promise.all(sent);
  expect(answers.filter(({ code }) => code === 429)).toEqual([]);
  expect(answers.filter(({ headers }) => 'ratelimit' in headers)).toEqual([]);
});
