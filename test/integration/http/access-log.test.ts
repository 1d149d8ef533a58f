/** One line for each request, where LOG_REQUESTS is on. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { todo } from '../../support/push-bodies';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

let service: Service;
beforeAll(async () => {
  service = await startService({ env: { LOG_REQUESTS: 'on' } });
});
afterAll(() => service.stop());

interface RequestLine {
  readonly msg: string;
  readonly requestId: string;
  readonly [field: string]: unknown;
}

const linesSoFar = () =>
  readFileSync(String(service.webs[0]?.logFile), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as RequestLine)
    .filter(({ msg }) => msg === 'request');

const lineOf = (requestId: string) =>
  until(`the line of ${requestId}`, async () => {
    const lines = linesSoFar().filter((line) => line.requestId === requestId);
    expect(lines.length).toBeLessThan(2);
    return lines[0];
  });

const ms = expect.any(Number);

test('a push: who, what became of it, and how long each stage took', async () => {
  const answer = await service.push('upsert', todo('L-1'));
  expect(await lineOf(answer.requestId)).toMatchObject({
    method: 'POST',
    path: '/api/open/matters/upsert',
    clientId: 'tester',
    status: 200,
    answered: true,
    outcome: 'CREATED',
    ms,
    stages: { verify: ms, admit: ms, log: ms, wait: ms },
  });
});

test.each([
  {
    name: 'a wrong signature',
    push: () => service.push('upsert', todo('L-2'), { secret: 'wrong' }),
    line: { status: 401, reason: 'SIGNATURE_MISMATCH' },
    stages: [],
  },
  {
    name: 'a body with a mistake',
    push: () => service.push('upsert', { ...todo('L-3'), title: 3 }),
    line: { status: 400, reason: 'VALIDATION_FAILED', clientId: 'tester' },
    stages: ['verify'],
  },
  {
    name: 'a matter that is not there',
    push: () => service.push('status', { externalId: 'L-4', status: 'DONE' }),
    line: { status: 404, reason: 'MATTER_NOT_FOUND', clientId: 'tester' },
    stages: ['verify', 'admit', 'log', 'wait'],
  },
])('$name has its reason, and the stages that it came through', async ({ push, line, stages }) => {
  const answer = await push();
  const found = await lineOf(answer.requestId);
  expect(found).toMatchObject(line);
  expect(Object.keys(found.stages as object)).toEqual(stages);
});

test('a caller who goes before the answer has a line too', async () => {
  const path = '/api/open/matters/delete';
  const gone = request(`${service.urlOf()}${path}`, {
    method: 'POST',
    headers: { 'Content-Length': 10 },
  });
  gone.on('error', () => undefined); // it is destroyed below
  gone.write('{');
  const [socket] = await once(gone, 'socket');
  if (socket.connecting) await once(socket, 'connect');
  // Its head has been read once a later request was answered.
  await service.push('upsert', todo('L-5'));
  gone.destroy();
  const line = await until('the line', async () => linesSoFar().find((one) => one.path === path));
  expect(line).toMatchObject({ method: 'POST', answered: false });
});
