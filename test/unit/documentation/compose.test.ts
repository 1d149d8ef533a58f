/**
 * docker-compose.yml and docker-compose.monitoring.yml: a process that is taken over gains no rights, and can change
 * nothing but its data. Prometheus scrapes what the service opens, and Grafana reads that Prometheus.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { dashboard } from '../../support/prometheus';

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
  readonly environment?: Readonly<Record<string, string>>;
}
type Services = Readonly<Record<string, ComposeService>>;

const ROOT = join(__dirname, '../../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const yaml = (name: string) => parse(read(name), { merge: true });
const { services } = yaml('docker-compose.yml') as { services: Services };
const monitoring = (yaml('docker-compose.monitoring.yml') as { services: Services }).services;
const ADDED = Object.fromEntries(
  Object.entries(monitoring).filter(([name]) => !(name in services)),
);
const ALL = { ...services, ...ADDED };
const DATA: Readonly<Record<string, readonly string[]>> = {
  mongo: ['mongo:/data/db'],
  redis: ['redis:/data'],
  prometheus: ['prometheus:/prometheus'],
  grafana: ['grafana:/var/lib/grafana'],
};
/** 472 is the user of Grafana's image. */
const USERS = ['node', 'mongodb', 'redis', 'nobody', '472'];

const isMounted = (volume: string) => volume.startsWith('./');
/** Files of this project that a service reads, by their path in its container. */
const filesOf = ({ volumes = [] }: ComposeService) =>
  new Map(
    volumes.filter(isMounted).map((volume) => {
      const [file = '', path = '', mode] = volume.split(':');
      expect(mode).toBe('ro');
      return [path, file] as const;
    }),
  );

test('every service is looked at', () => {
  expect(Object.keys(services)).toEqual(['web', 'worker', 'release', 'mongo', 'redis']);
  expect(Object.keys(ADDED)).toEqual(['prometheus', 'grafana']);
});

describe.each(Object.entries(ALL))('%s', (name, service) => {
  test('gains no rights', () => {
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.cap_add).toBeUndefined();
    expect(service.privileged).toBeUndefined();
  });

  test('writes only its data and temporary files', () => {
    expect(service.read_only).toBe(true);
    expect(service.tmpfs).toEqual(['/tmp']);
    expect(service.volumes?.filter((volume) => !isMounted(volume))).toEqual(DATA[name]);
  });

  test('is not root', () => {
    // The image of the service says it itself.
    const user = service.image === 'matter-push' ? userOfImage() : service.user;
    expect(USERS).toContain(user);
  });
});

test('only web is reachable from outside, and the pages of monitoring from this machine', () => {
  const published = Object.entries(ALL).filter(([, { ports }]) => ports !== undefined);
  expect(published.map(([name]) => name)).toEqual(['web', 'prometheus', 'grafana']);
  for (const { ports } of Object.values(ADDED)) expect(ports?.join()).toMatch(/^127\.0\.0\.1:\d+:/);
  // Those of web are 3000 to 3009.
  expect(monitoring.grafana?.ports).toEqual(['127.0.0.1:3100:3000']);
});

describe('Prometheus', () => {
  const prometheus = monitoring.prometheus as ComposeService;
  const files = filesOf(prometheus);
  const config = yaml('ops/prometheus/prometheus.yml');

  test('reads its configuration and the alert rules', () => {
    expect(files.get('/etc/prometheus/prometheus.yml')).toBe('./ops/prometheus/prometheus.yml');
    const rules = config.rule_files.map((path: string) => files.get(path));
    expect(rules).toEqual(['./ops/alerts/matter-push.yml']);
  });

  test('scrapes the port that web and worker open, as often as docs/monitoring.md says', () => {
    const [job] = config.scrape_configs;
    const [{ names, port }] = job.dns_sd_configs;
    expect(names).toEqual(['web', 'worker']);
    for (const name of names) {
      expect(monitoring[name]?.environment).toEqual({ METRICS_PORT: String(port) });
      expect(services[name]?.environment?.METRICS_HOST).toBe('0.0.0.0');
    }
    expect(config.global.scrape_interval).toBe('15s');
    expect(read('docs/monitoring.md')).toContain(
      `scrape_interval: ${config.global.scrape_interval}`,
    );
  });
});

describe('Grafana', () => {
  const files = filesOf(monitoring.grafana as ComposeService);
  const folder = files.get('/etc/grafana/provisioning') ?? '';

  test('reads the Prometheus beside it', () => {
    const [source, ...others] = yaml(`${folder}/datasources/prometheus.yml`).datasources;
    expect(others).toEqual([]);
    const [port] = monitoring.prometheus?.ports ?? [];
    expect(source.url).toBe(`http://prometheus:${port?.split(':').at(-1)}`);
    // The dashboard lets its data source be chosen, and begins with the default one of this type.
    const [variable] = dashboard().templating.list;
    expect([source.type, source.isDefault]).toEqual([variable?.query, true]);
  });

  test('has the dashboard', () => {
    const [provider] = yaml(`${folder}/dashboards/matter-push.yml`).providers;
    const shown = [...files].filter(([path]) => path.startsWith(`${provider.options.path}/`));
    expect(shown.map(([, file]) => file)).toEqual(['./ops/grafana/matter-push.json']);
  });

  test('every file that is mounted is there', () => {
    const all = [...files.values(), ...filesOf(monitoring.prometheus as ComposeService).values()];
    expect(all.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

const userOfImage = () => /^USER (\S+)$/m.exec(read('Dockerfile'))?.[1];
