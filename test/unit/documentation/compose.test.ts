/** docker-compose.yml: a process that is taken over gains no rights, and can change nothing but its data. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

interface ComposeService {
  readonly image: string;
  readonly user?: string;
  readonly security_opt?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly privileged?: boolean;
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
}

const ROOT = join(__dirname, '../../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const { services } = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Readonly<Record<string, ComposeService>>;
};
const DATA: Readonly<Record<string, readonly string[]>> = {
  mongo: ['mongo:/data/db'],
  redis: ['redis:/data'],
};

test('every service is looked at', () => {
  expect(Object.keys(services)).toEqual(['web', 'worker', 'release', 'mongo', 'redis']);
});

describe.each(Object.entries(services))('%s', (name, service) => {
  test('gains no rights', () => {
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.cap_add).toBeUndefined();
    expect(service.privileged).toBeUndefined();
  });

  test('writes only its data and temporary files', () => {
    expect(service.read_only).toBe(true);
    expect(service.tmpfs).toEqual(['/tmp']);
    expect(service.volumes).toEqual(DATA[name]);
  });

  test('is not root', () => {
    // The image of the service says it itself.
    const user = service.image === 'matter-push' ? userOfImage() : service.user;
    expect(['node', 'mongodb', 'redis']).toContain(user);
  });
});

test('only web is reachable from outside', () => {
  const published = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
  expect(published.map(([name]) => name)).toEqual(['web']);
});

const userOfImage = () => /^USER (\S+)$/m.exec(read('Dockerfile'))?.[1];
