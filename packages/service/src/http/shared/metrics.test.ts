import performanceHooks from 'node:perf_hooks';

import { expect, test, vi } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';

/** The value of a series; undefined if it is missing. */
async function valueOf(service: TestOperator, series: string): Promise<number | undefined> {
  const { text } = await service.operate('/metrics');
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

test.each(engines)('on %s, shows the delay of scheduled jobs, and counts the jobs that ran', async (engine) => {
  const service = await startOperator({ engine });
  const age = () => valueOf(service, 'reseller_queue_oldest_age_seconds{queue="period_ends"}');
  await service.runScheduledJobs();
  const before = (await valueOf(service, 'reseller_scheduled_jobs_total')) ?? 0;
  expect(await age()).toBe(0);
  // 3,600 seconds into a later month.
  const month = new Date(service.clock.now());
  service.clock.advanceTo(new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 1, 1)).toISOString());
  const late = await age();
  expect(late).toBeGreaterThanOrEqual(3_600);
  expect(late).toBeLessThan(3_660);
  const done = await service.runScheduledJobs();
  expect(done).toBeGreaterThan(0);
  expect([await age(), await valueOf(service, 'reseller_scheduled_jobs_total')]).toEqual([0, before + done]);
  expect(await valueOf(service, 'reseller_scheduled_job_failures_total')).toBe(0);
});

test.each(engines)('on %s, counts the entries of the request log', async (engine) => {
  const service = await startOperator({ engine });
  const entries = () => valueOf(service, 'reseller_request_log_entries');
  await service.call('listRequests');
  const before = (await entries()) ?? 0;
  for (let request = 0; request < 3; request++) await service.call('listVmHosts');
  // PostgreSQL numbers entries when an account reads its log.
  await service.call('listRequests');
  const after = await entries();
  expect(after).toBeGreaterThanOrEqual(before + 3);
  expect(after).toBeLessThanOrEqual(before + 5);
  expect(await valueOf(service, 'reseller_store_bytes')).toBeGreaterThan(10_000);
});

test('observes the process once for all services in it, because an observer never stops', async () => {
  const [one, other] = [await startOperator(), await startOperator()];
  const observed = vi.spyOn(performanceHooks, 'monitorEventLoopDelay');
  const further = await startOperator();
  expect(observed).not.toHaveBeenCalled();
  for (const service of [one, other, further]) expect(await valueOf(service, 'process_cpu_seconds_total')).toBeGreaterThan(0);
});

test('counts requests without a valid key or token, by API', async () => {
  const service = await startOperator();
  await service.send('/vm/list/hosts');
  await service.send('/vm/list/hosts', { headers: { 'x-service-apikey': 'unknown' } });
  await service.operate('/accounts', { headers: { authorization: 'Bearer unknown' } });
  expect(await valueOf(service, 'reseller_authentication_failures_total{api="reseller"}')).toBe(2);
});

test('counts a 503 by its cause', async () => {
  const service = await startOperator();
  const { body } = await service.call('createVm', { form: SMALL_VM });
  service.hypervisor.failing = new Error('the hypervisor is away');
  expect((await service.operate(`/vms/${Object(body).data.identifier}/stop`, { method: 'POST' })).status).toBe(503);
  expect(await valueOf(service, 'reseller_unavailable_total{api="operator",cause="infrastructure",system="hypervisor"}')).toBe(1);
});

test('shows its other metrics while the store cannot be read', async () => {
  const service = await startOperator();
  const inStore = ['reseller_store_bytes', 'reseller_request_log_entries', 'reseller_queue_oldest_age_seconds{queue="zones"}'];
  expect(await valueOf(service, 'reseller_ready')).toBe(1);
  for (const name of inStore) expect(await valueOf(service, name)).toBeDefined();
  await service.store.close();
  for (const name of inStore) expect(await valueOf(service, name)).toBeUndefined();
  expect(await valueOf(service, 'reseller_scheduled_job_failures_total')).toBe(0);
});
