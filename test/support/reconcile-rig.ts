/** What the tests of `matterctl reconcile` share: a ledger that a service wrote, files, and the two commands. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeCollection } from '../../src/infra/mongo';
import { matterModel } from '../../src/storage/ledger/matters';
import { matterctl, withoutProgress } from './cli-tool';
import type { SharedService } from './service';
import { sharedService } from './shared-service';

/** To be called at the top of a file: its hooks empty the ledger after each test and clear the folder at the end. */
export function useReconcileRig() {
  let service: SharedService;
  const folder = mkdtempSync(join(tmpdir(), 'matterctl-reconcile-'));
  const secretFile = join(folder, 'secret');
  const matters = () => nativeCollection(matterModel(service.db));
  beforeAll(async () => {
    service = await sharedService();
    writeFileSync(secretFile, service.secret);
  });
  afterEach(() => matters().deleteMany({}));
  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  /** The options with which a client signs. */
  const signer = () => [
    ...['--client-id', service.clientId, '--secret-file', secretFile],
    ...['--url', service.urlOf()],
  ];
  const run = async (file: string, ...more: string[]) => {
    const args = ['reconcile', file, '--system-code', 'TEST', ...more];
    return withoutProgress(await matterctl(args, { env: service.env }));
  };
  return {
    folder,
    matters,
    signer,
    service: () => service,
    /** @returns its path */
    write: (name: string, content: string | Buffer): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
    /** @returns the summary */
    push: async (file: string) => {
      const pushed = await matterctl(['push', file, ...signer(), '--json']);
      expect(pushed).toMatchObject({ exitCode: 0 });
      return JSON.parse(pushed.stdout);
    },
    run,
    /** @returns what it printed with --json: a line for each difference, and the summary */
    compare: async (file: string, ...more: string[]) => {
      const { exitCode, stdout, stderr } = await run(file, '--json', ...more);
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      const { summary } = lines.pop();
      return { exitCode, stderr, lines, summary };
    },
  };
}
