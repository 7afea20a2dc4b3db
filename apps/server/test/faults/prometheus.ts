/** A Prometheus that scrapes one server as the handbook says, with the alert rules of the installation. */
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { expect, onTestFinished } from 'vitest';

import { freePort } from '../../../../.config/free-ports.ts';
import { temporaryDirectory } from '../process.ts';
import type { Server } from '../process.ts';
import { OPERATOR_TOKEN } from './provider.ts';

const RULES = resolve(import.meta.dirname, '../../deploy/alerts.yaml');
/** Prometheus keeps an alert pending while its rule waits. */
const FIRING = 'firing';

export interface Alert {
  /** Its severity, its name, and the labels of the rule in alphabetical order, such as `ticket ResellerQueueHeldUp zones`. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
}

interface ApiAlert {
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly description: string };
}

export const prometheusMissing: string | undefined =
  spawnSync('prometheus', ['--version']).status === 0 ? undefined : 'Prometheus is not installed';

/** @returns The alerts that fire now. Resolves when it has scraped the server. */
export async function watch(server: Server): Promise<() => Promise<readonly Alert[]>> {
  const directory = temporaryDirectory();
  const port = await freePort();
  const target = new URL(server.operatorUrl).host;
  const file = join(directory, 'prometheus.yml');
  writeFileSync(
    file,
    `global: { scrape_interval: 15s, evaluation_interval: 15s }
rule_files: ['${RULES}']
scrape_configs:
  - job_name: reseller
    authorization: { credentials: '${OPERATOR_TOKEN}' }
    static_configs: [{ targets: ['${target}'] }]
`,
  );
  const given = [`--config.file=${file}`, `--storage.tsdb.path=${join(directory, 'data')}`, `--web.listen-address=127.0.0.1:${port}`];
  const child = spawn('prometheus', given, { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  async function read(path: string): Promise<{ data: { alerts: ApiAlert[]; result: unknown[] } }> {
    return JSON.parse(await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).text());
  }
  await expect.poll(() => read('query?query=reseller_ready').then(({ data }) => data.result.length, String), { interval: 500 }).toBe(1);
  return async () => {
    const { data } = await read('alerts');
    return data.alerts.flatMap(({ state, labels, annotations }) => (state === FIRING ? [{ name: nameOf(labels), ...annotations }] : []));
  };
}

function nameOf({ alertname, severity, instance: _instance, job: _job, ...labels }: Readonly<Record<string, string>>): string {
  const values = Object.entries(labels).toSorted();
  return [severity, alertname, ...values.map(([, value]) => value)].join(' ');
}
