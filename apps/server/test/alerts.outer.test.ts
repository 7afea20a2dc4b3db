/** The alert rules: well-formed, and about metrics that a running service has. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { parser } from '@prometheus-io/lezer-promql';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

import { newDatabase, SHARED } from './database.ts';
import { startServer, temporaryDirectory } from './process.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const FILE = resolve(import.meta.dirname, '../deploy/alerts.yaml');
const groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[] = parse(readFileSync(FILE, 'utf8')).groups;
const rules = groups.flatMap((group) => group.rules);
/** A metric that Prometheus itself makes for each target. */
const OWN_OF_PROMETHEUS = 'up';

/** The texts of all nodes of a kind in a PromQL expression. */
function nodesOf(expression: string, kind: string): string[] {
  const found: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ name, from, to }) => {
      if (name === kind) found.push(expression.slice(from, to));
    },
  });
  return found;
}

async function metricsOf(environment: Readonly<Record<string, string>>): Promise<string> {
  const server = await startServer({ ...SHARED, ...environment });
  const response = await fetch(`${server.operatorUrl}/metrics`, { headers: { authorization: `Bearer ${SHARED.RESELLER_OPERATOR_TOKEN}` } });
  const metrics = await response.text();
  await server.end('SIGTERM');
  return metrics;
}

test('the rules have the members that Prometheus knows, and expressions that it can parse', () => {
  expect(rules.length).toBeGreaterThan(10);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const rule of rules) {
    expect(Object.keys(rule).filter((key) => !['alert', 'expr', 'for', 'labels', 'annotations'].includes(key))).toEqual([]);
    expect(rule.for ?? '1m').toMatch(/^\d+[smhd]$/);
    expect(Object.keys(rule.annotations).toSorted()).toEqual(['description', 'runbook', 'summary']);
    expect(['page', 'ticket']).toContain(rule.labels['severity']);
    expect(rule.annotations['runbook']).toBe(`/opt/reseller/OPERATIONS.md#${rule.alert.toLowerCase()}`);
    expect({ rule: rule.alert, errors: nodesOf(rule.expr, '⚠') }).toEqual({ rule: rule.alert, errors: [] });
  }
});

test('each rule has its paragraph in the handbook, and each paragraph its rule', () => {
  const handbook = readFileSync(resolve(import.meta.dirname, '../../../packages/service/OPERATIONS.md'), 'utf8');
  const [, alerts = ''] = handbook.split(/^## Alerts$/m);
  const paragraphs = [...alerts.matchAll(/^### (\w+)\n\n.{40}/gm)].map(([, name]) => name);
  expect(paragraphs.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});

test('every metric of the rules exists in a running service, on either engine', { tags: 'deep' }, async () => {
  const [embedded, shared] = await Promise.all([
    metricsOf({ RESELLER_DATA_DIR: temporaryDirectory() }),
    metricsOf({ DATABASE_URL: await newDatabase() }),
  ]);
  const namesIn = (metrics: string) =>
    new Set([...metrics.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) => seriesOf(name, type)));
  const known = new Set([...namesIn(shared), ...namesIn(embedded)]);
  const used = new Set(rules.flatMap(({ expr }) => nodesOf(expr, 'VectorSelector').flatMap((selector) => nodesOf(selector, 'Identifier'))));
  expect(used.size).toBeGreaterThan(10);
  expect([...used].filter((name) => name !== OWN_OF_PROMETHEUS && !known.has(name))).toEqual([]);
  expect(shared).toMatch(/^reseller_instances 1$/m);
  expect(shared).toMatch(
    /^reseller_build_info\{version="[\d.]+",schema="\d{4}-[a-z-]+",node="v\d+\.[\d.]+",engine="postgres",mode="sandbox"\} 1$/m,
  );
  expect(embedded).toMatch(/^reseller_store_bytes [1-9]\d{4,}$/m);
  expect(embedded).not.toMatch(/^reseller_database_connections_in_use/m);
  expect(embedded).toMatch(/^reseller_store_disk_free_ratio 0\.\d+$/m);
  expect(shared).not.toMatch(/^reseller_store_disk_free_ratio \d/m);
  expect(shared).toMatch(/^reseller_database_connections_max [1-9]/m);
  expect(embedded).toMatch(/^reseller_queue_oldest_age_seconds\{queue="period_ends"\} 0$/m);
  expect(embedded).toMatch(/^reseller_ready 1$/m);
});

function seriesOf(name: string, type: string | undefined): string[] {
  return type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}
