/** The pods of ops/kubernetes: probes, ports, drains, selectors and scaling fit each other and the service. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { STAGES } from '../../../src/observability/metrics';
import { ALIVE_PATH, READY_PATH } from '../../../src/protocol/paths';
import {
  CONFIG,
  type Container,
  containerOf,
  DEPLOYMENTS,
  type Labels,
  type Manifest,
  ofKind,
  PODS,
  type Probe,
  SCALED,
} from '../../support/kubernetes';
import { parseExpression, type Selector } from '../../support/prometheus';

const ROOT = join(__dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const COMPONENT = 'app.kubernetes.io/component';
/** By process, then by metric. */
const METRICS: Record<string, Record<string, { readonly labels: readonly string[] }>> = JSON.parse(
  read('test/golden/metrics.json'),
);
/** Each process tells it of the whole deployment. */
const OF_ALL = ['matter_push_backlog_age_seconds'];
const metricOf = ({ name }: Selector) => name.replace(/_(?:bucket|sum|count)$/, '');
/** Whether a selector finds a sample that a process has. */
const finds = (selector: Selector, process: string) => {
  const { labels = [] } = METRICS[process]?.[metricOf(selector)] ?? {};
  const stages = labels.includes('stage') ? STAGES : [''];
  return stages.some((stage) => selector.matches({ process, ...(stage && { stage }) }));
};

const probesOf = ({ startupProbe, livenessProbe, readinessProbe }: Container) =>
  [startupProbe, livenessProbe, readinessProbe].filter((one): one is Probe => one !== undefined);
const isWithin = (wanted: Labels, labels: Labels) =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);
/** The pods that labels choose, by the name of what makes them. */
const chosenBy = (labels: Labels) =>
  PODS.filter(({ spec }) => isWithin(labels, spec.template.metadata.labels)).map(
    ({ metadata }) => metadata.name,
  );
const namesOfPorts = (name: string) =>
  PODS.filter(({ metadata }) => metadata.name === name).flatMap((pod) =>
    (containerOf(pod).ports ?? []).map((port) => port.name),
  );

describe.each(PODS)('a pod of $metadata.name', (pod) => {
  const { spec } = pod.spec.template;
  const container = containerOf(pod);

  test('runs a script that the build makes', () => {
    const [node, script = ''] = container.command;
    expect(node).toBe('node');
    const source = script.replace('dist/', '').replace(/js$/, 'ts');
    expect(existsSync(join(ROOT, source))).toBe(true);
    expect(read('Procfile')).toContain(` ${script}\n`);
  });

  test('may do nothing but its work', () => {
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect([spec.automountServiceAccountToken, spec.enableServiceLinks]).toEqual([false, false]);
    const [account] = ofKind('ServiceAccount');
    expect(spec.serviceAccountName).toBe(account?.metadata.name);
    // The user of the image is the one that its base calls node: 1000.
    expect(read('Dockerfile')).toContain('\nUSER node\n');
  });

  test('has room reserved, and a bound of memory', () => {
    expect(Object.keys(container.resources.requests)).toEqual(['cpu', 'memory']);
    expect(container.resources.limits).toHaveProperty('memory');
  });

  test('asks its ports only for what they answer', () => {
    const ports = new Map((container.ports ?? []).map((port) => [port.name, port.containerPort]));
    const known: Record<string, number> = { http: CONFIG.PORT, metrics: CONFIG.METRICS_PORT };
    for (const [name, port] of ports) expect([name, port]).toEqual([name, known[name]]);
    for (const { httpGet } of probesOf(container)) {
      expect([...ports.keys()]).toContain(httpGet.port);
      expect([ALIVE_PATH, READY_PATH]).toContain(httpGet.path);
    }
    const annotations = pod.spec.template.metadata.annotations ?? {};
    const scraped = annotations['prometheus.io/port'];
    expect(scraped ?? String(CONFIG.METRICS_PORT)).toBe(String(CONFIG.METRICS_PORT));
  });
});

describe.each(DEPLOYMENTS)('$metadata.name', (deployment) => {
  const { spec, metadata } = deployment;
  const pod = spec.template.spec;
  const { startupProbe, livenessProbe, readinessProbe } = containerOf(deployment);

  test('selects its own pods, and no others', () => {
    expect(chosenBy(spec.selector.matchLabels)).toEqual([metadata.name]);
    const spread = pod.topologySpreadConstraints ?? [];
    expect(spread.length).toBe(2);
    for (const { labelSelector } of spread) {
      expect(chosenBy(labelSelector.matchLabels)).toEqual([metadata.name]);
    }
  });

  test('is given longer than its drain takes', () => {
    expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(CONFIG.DRAIN_TIMEOUT);
  });

  test('lives as long as its process answers, and is ready where its servers are', () => {
    expect(startupProbe?.httpGet.path).toBe(ALIVE_PATH);
    expect(livenessProbe?.httpGet.path).toBe(ALIVE_PATH);
    expect(readinessProbe?.httpGet.path).toBe(READY_PATH);
    // The answer may take as long as a look at a server that is silent.
    expect(readinessProbe?.timeoutSeconds).toBeGreaterThan(2);
  });

  test('one at a time may be away, by one budget', () => {
    const budgets = ofKind('PodDisruptionBudget').filter((budget) =>
      chosenBy(budget.spec.selector.matchLabels).includes(metadata.name),
    );
    expect(budgets.map((one) => one.spec)).toMatchObject([{ maxUnavailable: 1 }]);
    expect(budgets.flatMap((one) => chosenBy(one.spec.selector.matchLabels))).toEqual([
      metadata.name,
    ]);
  });
});

test('web is seen to be leaving within DRAIN_DELAY', () => {
  const web = DEPLOYMENTS.find(({ metadata }) => metadata.name.endsWith('web'));
  const { periodSeconds, failureThreshold } = containerOf(web as Manifest).readinessProbe as Probe;
  expect(periodSeconds * failureThreshold * 1_000).toBeLessThan(CONFIG.DRAIN_DELAY);
});

test('the Service leads to web, by a port that it has', () => {
  const [service, ...others] = ofKind('Service');
  expect(others).toEqual([]);
  const chosen = chosenBy(service?.spec.selector ?? {});
  expect(chosen).toEqual(['matter-push-web']);
  for (const { targetPort } of service?.spec.ports ?? []) {
    expect(chosen.flatMap(namesOfPorts)).toContain(targetPort);
  }
});

test('network policies choose pods that there are, by ports that those have', () => {
  for (const { metadata, spec } of ofKind('NetworkPolicy')) {
    const chosen = chosenBy(spec.podSelector.matchLabels);
    expect([metadata.name, chosen.length > 0]).toEqual([metadata.name, true]);
    for (const { port } of spec.ingress.flatMap(({ ports }) => ports)) {
      expect(chosen.flatMap(namesOfPorts)).toContain(port);
    }
  }
});

const processOf = (name: string) =>
  PODS.find(({ metadata }) => metadata.name === name)?.metadata.labels?.[COMPONENT] ?? '';

describe.each(SCALED)('the scaling of $metadata.name', ({ spec }) => {
  test('has bounds, and a target that there is', () => {
    expect(DEPLOYMENTS.map(({ metadata }) => metadata.name)).toContain(spec.scaleTargetRef.name);
    // One may die.
    expect(spec.minReplicaCount).toBeGreaterThan(1);
    expect(spec.maxReplicaCount).toBeGreaterThan(spec.minReplicaCount);
  });

  test.each(spec.triggers)('$metadata.query is about metrics that there are', (trigger) => {
    const { query = '', threshold, ignoreNullValues } = trigger.metadata;
    expect(trigger.type).toBe('prometheus');
    const { problems, selectors, labels } = parseExpression(query);
    expect(problems).toEqual([]);
    expect(selectors.length).toBeGreaterThan(0);
    const own = processOf(spec.scaleTargetRef.name);
    for (const selector of selectors) {
      const metric = METRICS[own]?.[metricOf(selector)];
      expect(metric?.labels).toEqual(expect.arrayContaining([...labels]));
      const found = Object.keys(METRICS).filter((process) => finds(selector, process));
      const isOfAll = OF_ALL.includes(selector.name);
      expect(found).toEqual(isOfAll ? Object.keys(METRICS) : [own]);
      // What each process tells of the same thing must not be added up.
      if (isOfAll) expect(query).toMatch(/^max\(/);
    }
    // A rate needs two scrapes, and by default Prometheus scrapes once a minute.
    for (const [, minutes] of query.matchAll(/\[(.*?)\]/g)) expect(minutes).toBe('3m');
    expect(Number(threshold)).toBeGreaterThan(0);
    // What is not known must not count as nothing: the pool would shrink while nobody looks.
    expect(ignoreNullValues).toBe('false');
  });
});
