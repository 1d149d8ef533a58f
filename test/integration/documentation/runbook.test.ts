/** The commands of the runbook, as an operator would type them: each is there, and does its work. */
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { matterctl } from '../../support/cli-tool';
import { untilKnown } from '../../support/known-client';
import { runbookCommands } from '../../support/runbook';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

let service: SharedService;
let requestId: string;
beforeAll(async () => {
  service = await sharedService();
  const ring = createKeyRing([String(service.env.SECRET_KEYS)]);
  const admin = createClientAdmin(service.db, ring, Date.now);
  const { secret } = await admin.create({ clientId: 'oa', systemCode: 'OA' });
  await untilKnown({ url: service.urlOf(), clientId: 'oa', secret: String(secret) });
  const body = { matterType: 'TODO', externalId: 'RUNBOOK', title: 'x' };
  const answer = await service.push('upsert', body, { clientId: 'oa', secret: String(secret) });
  requestId = String(answer.requestId);
});
afterAll(() => service.stop());

const run = (args: readonly string[]) => matterctl(args, { env: service.env });
const commands = runbookCommands();

test('there are some', () => {
  expect(commands.length).toBeGreaterThan(15);
});

test.each(commands.map((args) => [args.join(' '), args] as const))(
  'matterctl %s',
  async (_, args) => {
    const real = args.map((arg) => (arg === '<requestId>' ? requestId : arg));
    const done = await run(real);
    const isOnlyNamed = done.exitCode === 2 && !real.some((arg) => arg.startsWith('-'));
    const told = isOnlyNamed ? await run([...real, '--help']) : done;
    expect(told).toMatchObject({ exitCode: 0 });
    if (isOnlyNamed) expect(told.stdout).toContain(`Usage: matterctl ${real.join(' ')} `);
  },
);
