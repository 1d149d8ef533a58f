/** The components of ops/kubernetes fit the pods, the Service, the alert rules and the limits of the service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ENDPOINTS } from '../../../src/protocol/endpoints';
import { ID_LIST_LIMIT } from '../../../src/protocol/id-lines';
import {
  CONFIG,
  containerOf,
  DEPLOYMENTS,
  kustomizations,
  type Labels,
  type Manifest,
  ofKind,
  PODS,
  type Selector,
} from '../../support/kubernetes';

const ROOT = join(__dirname, '../../..');
const MEBIBYTE = 1_048_576;

/** The only manifest of a kind. */
function one(kind: string): Manifest {
  const [manifest, ...others] = ofKind(kind);
  if (!manifest || others.length > 0) throw new Error(`not one ${kind}`);
  return manifest;
}

const isChosen = ({ matchLabels, matchExpressions = [] }: Selector, labels: Labels) =>
  Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
  matchExpressions.every(({ key, operator, values }) => {
    expect(operator).toBe('In');
    return values.includes(labels[key] ?? '');
  });

describe('the PodMonitor', () => {
  const { selector, podMetricsEndpoints } = one('PodMonitor').spec;

  test('chooses web and worker alone', () => {
    const chosen = PODS.filter(({ spec }) => isChosen(selector, spec.template.metadata.labels));
    expect(chosen).toEqual(DEPLOYMENTS);
  });

  test('scrapes the port of the metrics as often as the scaling needs', () => {
    expect(podMetricsEndpoints).toEqual([{ port: 'metrics', path: '/metrics', interval: '15s' }]);
    for (const deployment of DEPLOYMENTS) {
      const { ports = [] } = containerOf(deployment);
      const { containerPort } = ports.find(({ name }) => name === 'metrics') ?? {};
      expect(containerPort).toBe(CONFIG.METRICS_PORT);
    }
  });

  test('is alone: the component removes the annotations that another Prometheus would follow', () => {
    const [patch] = kustomizations.get('monitoring')?.patches ?? [];
    expect(patch?.target).toEqual({ kind: 'Deployment' });
    const [{ op, path }] = parse(patch?.patch ?? '') as [{ op: string; path: string }];
    expect([op, path]).toEqual(['remove', '/spec/template/metadata/annotations']);
    // Only these annotations: no other one is lost with them.
    for (const { spec } of DEPLOYMENTS) {
      const names = Object.keys(spec.template.metadata.annotations ?? {});
      expect(names.length).toBeGreaterThan(0);
      expect(names.filter((name) => !name.startsWith('prometheus.io/'))).toEqual([]);
    }
  });
});

test('the PrometheusRule has the rules of ops/alerts: `npm run prometheus-rule` writes them', () => {
  const { groups } = parse(readFileSync(join(ROOT, 'ops/alerts/matter-push.yml'), 'utf8'));
  expect(one('PrometheusRule').spec.groups).toEqual(groups);
});

describe('the ways from outside', () => {
  const [service] = ofKind('Service');
  const ports = service?.spec.ports ?? [];
  /** Milliseconds: the answer that takes longest. */
  const slowest = Math.max(
    ...ENDPOINTS.map(({ timeout }) => (typeof timeout === 'number' ? timeout : CONFIG[timeout])),
  );
  const seconds = (text = '') => Number(text.replace(/s$/, '')) * 1_000;
  const ofRule = ({ spec }: Manifest) => spec.rules[0];

  test('the Ingress leads to web, and waits and reads long enough', () => {
    const ingress = one('Ingress');
    const backends = ofRule(ingress)?.http?.paths.map(({ backend }) => backend.service);
    expect(backends).toEqual([{ name: service?.metadata.name, port: { name: ports[0]?.name } }]);
    const { annotations = {} } = ingress.metadata;
    const body = annotations['nginx.ingress.kubernetes.io/proxy-body-size'];
    const largest = Math.max(CONFIG.BATCH_BODY_LIMIT, ID_LIST_LIMIT);
    expect(Number(body?.replace(/m$/, '')) * MEBIBYTE).toBeGreaterThan(largest);
    const wait = annotations['nginx.ingress.kubernetes.io/proxy-read-timeout'];
    expect(seconds(wait)).toBeGreaterThan(slowest);
  });

  test('the HTTPRoute leads to web, and waits long enough', () => {
    const rule = ofRule(one('HTTPRoute'));
    expect(rule?.backendRefs).toEqual([{ name: service?.metadata.name, port: ports[0]?.port }]);
    expect(seconds(rule?.timeouts?.request)).toBeGreaterThan(slowest);
  });
});
