/** ops/kubernetes: what the API takes; kustomizations and settings, of which no schema tells. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CONFIG,
  containerOf,
  DEPLOYMENTS,
  filesOf,
  kustomizations,
  type Manifest,
  manifests,
  ofKind,
  PODS,
  problemsIn,
  problemsInKustomization,
  REQUIRED,
  readOps,
  SCALED,
  settings,
} from '../../support/kubernetes';

const ROOT = join(__dirname, '../../..');
/** What operators add where their cluster has it. */
const COMPONENTS = ['monitoring', 'ingress', 'http-route'];
const ALL = [...manifests].flatMap(([path, documents]) =>
  documents.map((manifest) => ({ name: `${path} ${manifest.kind}`, manifest })),
);

describe('the form', () => {
  test.each(ALL)('$name is what the API takes', ({ manifest }) => {
    expect(problemsIn(manifest)).toEqual([]);
  });

  const [deployment] = DEPLOYMENTS;
  const [scaled] = SCALED;
  const [podMonitor] = ofKind('PodMonitor');
  const [rule] = ofKind('PrometheusRule');
  const [ingress] = ofKind('Ingress');
  const [route] = ofKind('HTTPRoute');
  /** A copy with one place changed; undefined takes it away. */
  function changed(manifest: Manifest | undefined, path: string, value: unknown): Manifest {
    const copy = structuredClone(manifest) as unknown as Record<string, unknown>;
    const steps = path.split('.');
    const last = steps.pop() ?? '';
    const at = steps.reduce((node, step) => node[step] as Record<string, unknown>, copy);
    if (value === undefined) delete at[last];
    else at[last] = value;
    return copy as unknown as Manifest;
  }

  test.each([
    ['a kind that there is not', changed(deployment, 'kind', 'Deploymnt')],
    ['a version of another kind', changed(deployment, 'apiVersion', 'v1')],
    ['a field that there is not', changed(deployment, 'spec.template.spec.gracePeriod', 30)],
    [
      'a text for a number',
      changed(deployment, 'spec.template.spec.terminationGracePeriodSeconds', '30'),
    ],
    ['no selector', changed(deployment, 'spec.selector', undefined)],
    ['a label that is a number', changed(deployment, 'metadata.labels', { app: 1 })],
    [
      'a threshold that is a number',
      changed(scaled, 'spec.triggers.0.metadata', { threshold: 64 }),
    ],
    ['a scaling without a target', changed(scaled, 'spec.scaleTargetRef', undefined)],
    ['a behaviour that there is not', changed(scaled, 'spec.advanced.behavior', {})],
    ['a PodMonitor without a selector', changed(podMonitor, 'spec.selector', undefined)],
    [
      'an interval that is a number',
      changed(podMonitor, 'spec.podMetricsEndpoints.0.interval', 15),
    ],
    ['an alert without an expression', changed(rule, 'spec.groups.0.rules.0.expr', undefined)],
    ['a severity beside the labels', changed(rule, 'spec.groups.0.rules.0.severity', 'info')],
    ['an unknown type of path', changed(route, 'spec.rules.0.matches.0.path.type', 'Prefix')],
    ['a path without a type', changed(ingress, 'spec.rules.0.http.paths.0.pathType', undefined)],
    ['a host name with a scheme', changed(route, 'spec.hostnames', ['https://push.example.com'])],
  ])('%s is noticed', (_what, manifest) => {
    expect(problemsIn(manifest)).not.toEqual([]);
  });
});

describe('the kustomizations', () => {
  test.each([...kustomizations])('that of %s is one', (_folder, kustomization) => {
    expect(problemsInKustomization(kustomization)).toEqual([]);
  });

  test.each([
    ['a field that there is not', { resource: ['base'] }],
    ['a kind of another version', { kind: 'Component' }],
    ['a number of pods that is a text', { replicas: [{ name: 'web', count: '2' }] }],
    ['an image without a tag', { images: [{ name: 'web', newName: 'web' }] }],
  ])('%s is noticed', (_what, change) => {
    const changed = { ...kustomizations.get('.'), ...change };
    expect(problemsInKustomization(changed)).not.toEqual([]);
  });

  test('name what is there, and leave out only the example of a Secret', () => {
    const named = new Set(['.', 'scaled', 'release', 'report', ...COMPONENTS].flatMap(filesOf));
    const there = [...manifests.keys()];
    expect([...named].filter((path) => !there.includes(path))).toEqual([]);
    expect(there.filter((path) => !named.has(path))).toEqual(['config/secret.example.yaml']);
  });

  test('put everything into the namespace that there is', () => {
    const [namespace] = ofKind('Namespace');
    const named = [...kustomizations.values()].flatMap((one) => one.namespace ?? []);
    expect(new Set(named)).toEqual(new Set([namespace?.metadata.name]));
  });

  test('the image is of this version, and every pod has it', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(kustomizations.get('image')?.images).toMatchObject([{ newTag: version }]);
    const [image] = kustomizations.get('image')?.images ?? [];
    expect(PODS.map((pod) => containerOf(pod).image)).toEqual(PODS.map(() => image?.name));
    for (const folder of ['base', 'release', 'report']) {
      expect(kustomizations.get(folder)?.components).toEqual(['../image']);
    }
  });

  test('a number of pods is fixed where nothing scales them, and nowhere else', () => {
    const fixed = kustomizations.get('.')?.replicas ?? [];
    expect(fixed.map(({ name }) => name)).toEqual(DEPLOYMENTS.map(({ metadata }) => metadata.name));
    expect(DEPLOYMENTS.filter(({ spec }) => 'replicas' in spec)).toEqual([]);
    expect(SCALED.map(({ spec }) => spec.scaleTargetRef.name).sort()).toEqual(
      DEPLOYMENTS.map(({ metadata }) => metadata.name).sort(),
    );
  });
});

describe('the settings', () => {
  test('are settings of the service, with values that it takes', () => {
    expect([...settings.keys()].filter((name) => !(name in CONFIG))).toEqual([]);
    expect(settings.size).toBeGreaterThan(3);
  });

  test('what is required stands in the Secret alone', () => {
    const [secret] = ofKind('Secret');
    expect(Object.keys(secret?.stringData ?? {})).toEqual(REQUIRED);
    expect(REQUIRED.filter((name) => settings.has(name))).toEqual([]);
  });

  test.each(PODS)('$metadata.name reads both', (pod) => {
    const [generated] = kustomizations.get('config')?.configMapGenerator ?? [];
    const [secret] = ofKind('Secret');
    expect(containerOf(pod).envFrom).toEqual([
      { configMapRef: { name: generated?.name } },
      { secretRef: { name: secret?.metadata.name } },
    ]);
  });
});

test('docs/scaling.md names each component, and the components are Components', () => {
  const page = readFileSync(join(ROOT, 'docs/scaling.md'), 'utf8');
  for (const folder of COMPONENTS) {
    expect(kustomizations.get(folder)?.kind).toBe('Component');
    expect(page).toContain(`](../ops/kubernetes/${folder})`);
  }
});

test('docs/scaling.md shows how to apply each of them', () => {
  const paper = readFileSync(join(ROOT, 'docs/scaling.md'), 'utf8');
  for (const folder of ['', '/release', '/scaled', '/report']) {
    expect(paper).toContain(`kubectl apply -k ops/kubernetes${folder}\n`);
  }
  expect(readOps('config/secret.example.yaml')).toContain('docs/scaling.md');
});
