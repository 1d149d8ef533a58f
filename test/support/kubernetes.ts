/** The manifests of ops/kubernetes, and what the API's schemas say of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/infra/config';
import { problemsOf, type Schema } from './json-schema';

const FOLDER = join(__dirname, '../../ops/kubernetes');
const SCHEMAS = join(__dirname, '../kubernetes/schemas.ndjson');

/** Anything that the API server takes. What is below is held to its schema. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Labels;
    readonly annotations?: Labels;
  };
  readonly spec: Spec;
  readonly stringData?: Labels;
}
export type Labels = Readonly<Record<string, string>>;

export interface Selector {
  readonly matchLabels: Labels;
  readonly matchExpressions?: readonly { key: string; operator: string; values: string[] }[];
}

/** As much of all kinds as the tests look at. */
interface Spec {
  readonly selector: Selector & Labels;
  readonly podSelector: Selector;
  readonly template: { readonly metadata: { labels: Labels; annotations?: Labels }; spec: PodSpec };
  readonly ports: readonly { readonly name: string; port: number; readonly targetPort: string }[];
  readonly ingress: readonly { readonly ports: readonly { readonly port: string }[] }[];
  readonly scaleTargetRef: { readonly name: string };
  readonly minReplicaCount: number;
  readonly maxReplicaCount: number;
  readonly triggers: readonly { readonly type: string; readonly metadata: Labels }[];
  readonly podMetricsEndpoints: readonly { port: string; path: string; interval: string }[];
  readonly groups: readonly unknown[];
  readonly timeZone: string;
  readonly jobTemplate: { readonly spec: JobSpec };
  readonly rules: readonly RouteRule[];
}

/** The jobs of a CronJob. */
interface JobSpec {
  readonly backoffLimit: number;
  readonly activeDeadlineSeconds: number;
  readonly template: { readonly spec: PodSpec };
}

/** A rule of an Ingress has `http`, one of an HTTPRoute `backendRefs` and `timeouts`. */
interface RouteRule {
  readonly http?: { readonly paths: readonly { readonly backend: { service: IngressService } }[] };
  readonly backendRefs?: readonly { readonly name: string; readonly port: number }[];
  readonly timeouts?: { readonly request: string };
}

interface IngressService {
  readonly name: string;
  readonly port: { readonly name: string };
}

export interface PodSpec {
  readonly serviceAccountName: string;
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly topologySpreadConstraints?: readonly { readonly labelSelector: Selector }[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly { readonly name: string; readonly secret: { secretName: string } }[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly args?: readonly string[];
  readonly envFrom?: readonly Readonly<Record<string, { readonly name: string }>>[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly resources: Readonly<Record<'requests' | 'limits', Labels>>;
  readonly securityContext: Readonly<Record<string, unknown>>;
}

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold: number;
}

/** A kustomization.yaml. */
export interface Kustomization {
  readonly kind: string;
  readonly namespace?: string;
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly configMapGenerator?: readonly { name: string; envs: readonly string[] }[];
  readonly images?: readonly { name: string; newTag: string }[];
  readonly replicas?: readonly { name: string; count: number }[];
  readonly patches?: readonly { target: { kind: string }; patch: string }[];
}

export const readOps = (path: string) => readFileSync(join(FOLDER, path), 'utf8');

/** Every YAML file of the folder, by path; kustomizations are apart. */
const paths = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.yaml'),
);

function documentsOf(path: string): unknown[] {
  return parseAllDocuments(readOps(path)).map((document) => {
    if (document.errors.length > 0) throw new Error(`${path}: ${document.errors}`);
    return document.toJS();
  });
}

/** By folder, `.` for the uppermost. */
export const kustomizations = new Map(
  paths
    .filter((path) => path.endsWith('kustomization.yaml'))
    .map((path) => [join(path, '..'), documentsOf(path)[0] as Kustomization]),
);

export const manifests = new Map(
  paths
    .filter((path) => !path.endsWith('kustomization.yaml'))
    .map((path) => [path, documentsOf(path) as Manifest[]]),
);

/** What a kustomization brings, that of its resources included; paths of files. */
export function filesOf(folder: string): string[] {
  const { resources = [], components = [] } = kustomizations.get(folder) ?? {};
  const named = [...resources, ...components].map((name) => join(folder, name));
  return named.flatMap((path) => (path.endsWith('.yaml') ? [path] : filesOf(path)));
}

/** The settings that all pods have. */
export const settings = new Map(
  [...readOps('config/settings.env').matchAll(/^([A-Z_]+)=(.*)$/gm)].map(
    ([, name = '', value = '']) => [name, value],
  ),
);

const schemas = new Map(
  readFileSync(SCHEMAS, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; schema: Schema })
    .map(({ name, schema }) => [name, schema]),
);
const document = Object.fromEntries(schemas);

/** @returns a line for each problem that the API server would see in its form */
export function problemsIn(manifest: Manifest): string[] {
  const kind = `${manifest.apiVersion}/${manifest.kind}`;
  const schema = schemas.get(kind);
  if (!schema) return [`no kind ${kind}`];
  return problemsOf(schema, manifest, { document });
}

const TEXT: Schema = { type: 'string' };
const list = (items: Schema): Schema => ({ type: 'array', items });
/** All of its fields. */
const exactly = (properties: Record<string, Schema>, ...optional: string[]): Schema => ({
  type: 'object',
  properties,
  additionalProperties: false,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});
/** As much of kustomize as these files use: it has no schema of its own to fetch. */
const KUSTOMIZATION_FIELDS: Record<string, Schema> = {
  apiVersion: TEXT,
  kind: TEXT,
  namespace: TEXT,
  resources: list(TEXT),
  components: list(TEXT),
  configMapGenerator: list(exactly({ name: TEXT, envs: list(TEXT) })),
  images: list(exactly({ name: TEXT, newName: TEXT, newTag: TEXT })),
  replicas: list(exactly({ name: TEXT, count: { type: 'integer', minimum: 1 } })),
  patches: list(exactly({ target: exactly({ kind: TEXT }), patch: TEXT })),
};
const KUSTOMIZATION: Schema = {
  ...exactly(KUSTOMIZATION_FIELDS, ...Object.keys(KUSTOMIZATION_FIELDS).slice(2)),
  anyOf: [
    ['kustomize.config.k8s.io/v1beta1', 'Kustomization'],
    ['kustomize.config.k8s.io/v1alpha1', 'Component'],
  ].map(([apiVersion, kind]) => ({
    properties: { apiVersion: { const: apiVersion }, kind: { const: kind } },
  })),
};

/** @returns a line for each problem that kustomize would see in its form */
export const problemsInKustomization = (kustomization: unknown): string[] =>
  problemsOf(KUSTOMIZATION, kustomization, { document: {} });

const all = [...manifests.values()].flat();
export const ofKind = (...kinds: string[]) => all.filter(({ kind }) => kinds.includes(kind));
/** Whatever makes pods of the service. */
export const PODS = ofKind('Deployment', 'Job');
export const DEPLOYMENTS = ofKind('Deployment');
export const SCALED = ofKind('ScaledObject');
export const CRON_JOBS = ofKind('CronJob');

export function containerOf({ spec }: Manifest): Container {
  const [container] = spec.template.spec.containers;
  if (!container) throw new Error('no container');
  return container;
}

/** Settings that come from the Secret. */
export const REQUIRED = ['MONGO_URL', 'REDIS_URL', 'SECRET_KEYS'];
/** What the processes of the pods run with. */
export const CONFIG = readConfig({
  ...Object.fromEntries(settings),
  MONGO_URL: 'mongodb://host/db',
  REDIS_URL: 'redis://host',
  SECRET_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
});
