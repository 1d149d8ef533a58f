/** The CronJob of ops/kubernetes: its pod, its Secret and its command line. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { matterctl } from '../../support/cli-tool';
import {
  CONFIG,
  type Container,
  CRON_JOBS,
  containerOf,
  kustomizations,
  type Manifest,
  ofKind,
  PODS,
} from '../../support/kubernetes';
import { startReceiver } from '../../support/receiver';

const ROOT = join(__dirname, '../../..');
const [cronJob] = CRON_JOBS as [Manifest];
const { timeZone, jobTemplate } = cronJob.spec;
const pod = jobTemplate.spec.template.spec;
const [container] = pod.containers as [Container];
const [release] = PODS.filter(({ kind }) => kind === 'Job') as [Manifest];
const secretOf = (name: string) => pod.volumes?.find((one) => one.name === name)?.secret.secretName;

test('its pod has the image and the rights of the other pods', () => {
  const { fsGroup, ...context } = pod.securityContext;
  expect(context).toEqual(release.spec.template.spec.securityContext);
  expect(fsGroup).toBe(context.runAsGroup);
  expect(container.securityContext).toEqual(containerOf(release).securityContext);
  expect(container.image).toBe(containerOf(release).image);
  const [account] = ofKind('ServiceAccount');
  expect(pod.serviceAccountName).toBe(account?.metadata.name);
  expect([pod.automountServiceAccountToken, pod.enableServiceLinks]).toEqual([false, false]);
  expect(Object.keys(container.resources.requests)).toEqual(['cpu', 'memory']);
  expect(container.resources.limits).toHaveProperty('memory');
});

test('it has no access to the servers, and its Secret is described', () => {
  expect(container.envFrom).toBeUndefined();
  const [mount] = container.volumeMounts ?? [];
  const secret = secretOf(mount?.name ?? '');
  const page = readFileSync(join(ROOT, 'docs/scaling.md'), 'utf8');
  expect(page).toContain(`create secret generic ${secret} `);
  const files = (container.args ?? []).flatMap((arg) => /-file=(.*)/.exec(arg)?.[1] ?? []);
  expect(files).toHaveLength(2);
  for (const file of files) {
    const key = file.replace(`${mount?.mountPath}/`, '');
    expect(page).toContain(`--from-file=${key}=`);
  }
});

test('a failed run is not repeated, and its day is that of the service', () => {
  expect(jobTemplate.spec.backoffLimit).toBe(0);
  expect(jobTemplate.spec.activeDeadlineSeconds).toBeGreaterThan(60);
  expect(timeZone).toBe(CONFIG.PORTAL_TIME_ZONE);
});

test('it asks the Service by its name', () => {
  const [service] = ofKind('Service');
  expect(container.args).toContain(`--url=http://${service?.metadata.name}`);
  expect(kustomizations.get('report')?.namespace).toBe(kustomizations.get('base')?.namespace);
});

test('its command line is one that matterctl runs', async () => {
  const [node, script = ''] = container.command;
  const source = script.replace('dist/', '').replace(/js$/, 'ts');
  expect([node, existsSync(join(ROOT, source))]).toEqual(['node', true]);
  const service = await startReceiver({ status: 404 });
  const folder = mkdtempSync(join(tmpdir(), 'report-'));
  writeFileSync(join(folder, 'secret'), 's3cret');
  writeFileSync(join(folder, 'post-url'), `${service.url}/robot?key=1`);
  const args = (container.args ?? []).map((arg) =>
    arg
      .replace(/^--url=.*/, `--url=${service.url}`)
      .replace(container.volumeMounts?.[0]?.mountPath ?? '', folder),
  );
  const { exitCode, stderr } = await matterctl(args);
  await service.stop();
  rmSync(folder, { recursive: true });
  // It has asked the service, which is none.
  expect(service.posts[0]?.headers['x-client-id']).toBe('oa-report');
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringContaining('is --url the address of the service?'),
  });
});
