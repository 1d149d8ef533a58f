/** The signing examples, run as their README says: against the vectors, and against a service. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sign } from '../../src/protocol/signature';
import { matterModel } from '../../src/storage/ledger/matters';
import { copyExample, missingTools } from '../support/example-run';
import { type Service, startService } from '../support/service';

const EXAMPLES = join(__dirname, '../../examples/signing');
interface Vector {
  readonly name: string;
  readonly clientId: string;
  readonly secret: string;
  readonly timestamp: string;
  readonly body: string;
  readonly signature: string;
}

interface Language {
  readonly name: string;
  readonly command: string;
  /** How the externalId of its push ends. */
  readonly id: string;
  /** The same, compiled once: each run of `command` compiles anew. */
  readonly compiled?: { readonly build: string; readonly command: string };
  /** Tools and their lowest major versions. */
  readonly needs: Readonly<Record<string, number>>;
}

const VECTORS: Vector[] = JSON.parse(readFileSync(join(EXAMPLES, 'vectors.json'), 'utf8'));
const LANGUAGES: Language[] = [
  { name: 'Bash', command: 'bash send.sh', id: 'bash', needs: { bash: 3, openssl: 1, curl: 7 } },
  { name: 'JavaScript', command: 'node send.mjs', id: 'node', needs: { node: 20 } },
  { name: 'Python', command: 'python3 send.py', id: 'python', needs: { python3: 3 } },
  {
    ...{ name: 'Java', command: 'java Send.java', id: 'java', needs: { java: 11, javac: 11 } },
    compiled: {
      build: 'javac --release 8 -Xlint:-options -Werror -d classes Send.java',
      command: 'java -XX:TieredStopAtLevel=1 -cp classes Send',
    },
  },
  {
    ...{ name: 'Go', command: 'go run main.go', id: 'go', needs: { go: 1 } },
    compiled: { build: 'go build -o main-of-go main.go', command: './main-of-go' },
  },
  { name: 'PHP', command: 'php send.php', id: 'php', needs: { php: 8 } },
  { name: 'C#', command: 'dotnet run --', id: 'csharp', needs: { dotnet: 8 } },
];

const { run, env: ENV, folder, remove } = copyExample(EXAMPLES);
let service: Service;

beforeAll(async () => {
  service = await startService({ processes: true });
});
afterAll(async () => {
  await service?.stop();
  remove();
});

const settings = () => ({
  MATTER_PUSH_URL: service.urlOf(),
  CLIENT_ID: service.clientId,
  CLIENT_SECRET: service.secret,
});

test.each(VECTORS)('the vector is what the service expects: $name', (vector) => {
  const { secret, clientId, timestamp, body, signature } = vector;
  expect(sign(secret, clientId, timestamp, Buffer.from(body, 'utf8'))).toBe(signature);
});

test('their README names every command', () => {
  const rows = readFileSync(join(EXAMPLES, 'README.md'), 'utf8').matchAll(
    /^\| ([^|]+) \| [^|]+ \| `([^|]+)` \|/gm,
  );
  const named = LANGUAGES.map(({ name, command }) => [name, command]);
  expect([...rows].map(([, name, command]) => [name, command])).toEqual(named);
});

for (const language of LANGUAGES) {
  const missing = missingTools(language.needs, ENV);
  if (missing) {
    console.warn(`SKIPPED: the example in ${language.name} was not tried, for want of ${missing}`);
    test.skip(`the example in ${language.name} (skipped: no ${missing} here)`, () => {});
  } else {
    describe(`the example in ${language.name}`, () => {
      tryExample(language);
      if (language.name === 'Bash') tryHiding(language);
    });
  }
}

function tryExample({ command, id, compiled }: Language): void {
  const externalId = `EXAMPLE-${id}`;
  const quick = compiled?.command ?? command;
  const signWith = async (how: string, { name, clientId, timestamp, secret, body }: Vector) => {
    const input = `${clientId}\n${timestamp}\n${secret}\n${body}`;
    const { stdout, stderr } = await run(`${how} sign`, {}, input);
    return [name, stdout, stderr];
  };
  const expected = VECTORS.map(({ name, signature }) => [name, `${signature}\n`, '']);

  beforeAll(async () => {
    if (compiled) expect(await run(compiled.build)).toMatchObject({ code: 0 });
  });

  test('signs every vector', async () => {
    const signed: string[][] = [];
    for (const vector of VECTORS) signed.push(await signWith(quick, vector));
    expect(signed).toEqual(expected);
    for (const vector of VECTORS.slice(0, 1)) {
      expect(await signWith(command, vector)).toEqual(expected[0]);
    }
  });

  test('sends a push that is answered code 0 and is in the ledger as it was written', async () => {
    const { code, stdout, stderr } = await run(command, settings());
    expect([code, stderr]).toEqual([0, '']);
    const { data, ...envelope } = JSON.parse(stdout);
    expect(envelope).toMatchObject({ code: 0 });
    expect(data).toMatchObject({ externalId, outcome: 'CREATED' });
    const key = { systemCode: 'TEST', externalId };
    const matter = await matterModel(service.db).findOne(key).lean();
    expect(matter).toMatchObject({ matterType: 'TODO', title: '审批：采购申请' });
  });

  test('sends a batch whose lines are all in the ledger, in their order', async () => {
    const { code, stdout, stderr } = await run(`${command} batch`, settings());
    expect([stderr, code]).toEqual(['', 0]);
    const { data, ...envelope } = JSON.parse(stdout);
    expect(envelope).toMatchObject({ code: 0 });
    expect(data).toMatchObject({
      ...{ total: 2, succeeded: 2, failed: 0 },
      results: [
        { line: 1, code: 0, externalId: `${externalId}-batch`, outcome: 'CREATED' },
        { line: 2, code: 0, externalId: `${externalId}-batch`, outcome: 'UPDATED' },
      ],
    });
    const key = { systemCode: 'TEST', externalId: `${externalId}-batch` };
    const matter = await matterModel(service.db).findOne(key).lean();
    expect(matter).toMatchObject({ title: '审批：差旅报销', bizStatus: 'APPROVED' });
  });

  test('prints a rejection and does not exit 0', async () => {
    const { code, stdout } = await run(command, { ...settings(), CLIENT_SECRET: 'wrong' });
    expect(JSON.parse(stdout)).toMatchObject({ code: 401, reason: 'SIGNATURE_MISMATCH' });
    expect(code).not.toBe(0);
  });

  test('names the setting that is missing, and does not exit 0', async () => {
    for (const name of Object.keys(settings())) {
      const { code, stdout, stderr } = await run(quick, { ...settings(), [name]: '' });
      expect([stdout, stderr]).toEqual(['', expect.stringContaining(`${name} is not set`)]);
      expect(code).not.toBe(0);
    }
  });
}

/** Before every tool that the example calls comes one that notes its command line. */
function tryHiding({ command }: Language): void {
  test('shows its secret in no command line', async () => {
    const [bin, log] = [join(folder, 'bin'), join(folder, 'command-lines')];
    mkdirSync(bin);
    for (const tool of ['openssl', 'curl', 'od', 'tr', 'cat', 'date']) {
      const script = `#!/bin/sh\necho "${tool} $*" >>'${log}'\nPATH=\${PATH#*:} exec ${tool} "$@"\n`;
      writeFileSync(join(bin, tool), script, { mode: 0o755 });
    }
    const { code } = await run(command, { ...settings(), PATH: `${bin}:${process.env.PATH}` });
    expect(code).toBe(0);
    const lines = readFileSync(log, 'utf8');
    expect(lines).toContain('openssl dgst');
    expect(lines).toContain(service.clientId);
    expect(lines).not.toContain(service.secret);
    expect(lines).not.toContain(Buffer.from(service.secret).toString('hex'));
  });
}
