/** A page in a real Chromium, from the same origin as the service. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import type { Server } from 'node:http';
import { delimiter, join } from 'node:path';

import packaged from '@sparticuz/chromium';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/**
 * The system's Chromium if there is one, else the one inside an npm package.
 *
 * @param directory Where the latter is unpacked: another test that unpacks it at the same time must not find half of it.
 */
export async function launchBrowser(directory: string): Promise<Browser> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const system = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
  if (system === undefined) process.env['TMPDIR'] = directory;
  return chromium.launch({
    executablePath: system ?? (await packaged.executablePath()),
    args: [
      // In a single process, Chromium ends with the first page that is closed.
      ...(system === undefined ? packaged.args.filter((argument) => argument !== '--single-process') : []),
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      // Chromium refuses its sandbox to root.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
}

/** Serves a script to a page, and everything else from the service. */
export async function serveWith(script: string, service: string): Promise<{ origin: string; server: Server }> {
  const server = createServer((request, response) => {
    const { method, url = '/', headers } = request;
    if (url === '/page') response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>');
    else if (url === '/program.js') response.setHeader('content-type', 'text/javascript').end(script);
    else
      request.pipe(
        send(service + url, { method, headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        }),
      );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { origin: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`, server };
}
