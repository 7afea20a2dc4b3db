import { once } from 'node:events';

import { createRecorder } from '@reseller/contract/engine';

import { CannotRunError } from '../cannot-run.ts';
import { safeConsole } from '../console.ts';
import type { Console } from '../console.ts';
import { openChosenDocument } from '../document.ts';
import type { Arguments } from '../options.ts';
import { startProxy } from '../proxy.ts';
import type { Proxy, ProxyOptions } from '../proxy.ts';
import { resellerRules } from '../reseller.ts';
import { conclude } from './conclude.ts';

/** Judges the traffic between a client and a service until it is stopped, then prints the report. */
export async function runProxy(args: Arguments, output: Console, signal: AbortSignal | undefined): Promise<0 | 1> {
  const loaded = await openChosenDocument(args);
  const recorder = createRecorder(loaded.document, resellerRules(loaded.document));
  const safe = safeConsole(output, []);
  const proxy = await start({
    target: args.target,
    port: args.port,
    recorder,
    onExchange: safe.progress,
  });
  safe.print(`Contract proxy: ${proxy.url} -> ${args.target.href} (Ctrl-C ends it and prints the report)`);
  if (signal?.aborted === false) await once(signal, 'abort');
  await proxy.close();
  const report = recorder.report(args.target);
  if (report.traffic.length === 0)
    throw new CannotRunError('No response to an operation of the document passed through the proxy, so nothing was checked.');
  return conclude({ report, loaded, args, output: safe, secrets: [] });
}

async function start(options: ProxyOptions): Promise<Proxy> {
  try {
    return await startProxy(options);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
      throw new CannotRunError(`Port ${options.port} is in use. Choose another with --port.`, { cause: error });
    throw error;
  }
}
