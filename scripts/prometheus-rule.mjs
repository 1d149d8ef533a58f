#!/usr/bin/env node
/** npm run prometheus-rule: writes the alert rules as the PrometheusRule of ops/kubernetes/monitoring. */
import { readFileSync, writeFileSync } from 'node:fs';

const SOURCE = 'ops/alerts/matter-push.yml';
const TARGET = 'ops/kubernetes/monitoring/prometheus-rule.yaml';
const HEAD = `# The rules of ${SOURCE}, written by \`npm run prometheus-rule\`.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: matter-push
spec:
`;

const at = (path) => new URL(`../${path}`, import.meta.url);
const text = readFileSync(at(SOURCE), 'utf8');
const groups = text.slice(text.indexOf('groups:')).replace(/^(?=.)/gm, '  ');
writeFileSync(at(TARGET), HEAD + groups);
process.stdout.write(`${TARGET} is written\n`);
