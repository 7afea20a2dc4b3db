/** Services that are slow, stream or close the connection, as the first operation of a run and later. */
import { parseDocument } from '@reseller/contract';
import { runContract, TargetError } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { sendJson, startServer } from './raw-server.ts';
import type { RawServer } from './raw-server.ts';

const OBJECT = { 'application/json': { schema: { type: 'object', required: ['id'] } } };

function documentOf(first: object, ...names: readonly string[]): unknown {
  const paths = names.map((name) => [
    `/${name}`,
    { get: { operationId: name, responses: { 200: { description: 'Fine.', content: OBJECT } } } },
  ]);
  const responses = { 200: { description: 'Fine.', content: first } };
  return {
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: { '/first': { get: { operationId: 'first', responses } }, ...Object.fromEntries(paths) },
  };
}

async function runAgainst({ url }: RawServer, document: unknown, timeout = 10_000): Promise<Report> {
  return runContract({ document: parseDocument(document), target: url, timeout });
}

function rowsOf({ coverage }: Report): readonly (readonly string[])[] {
  return coverage.map(({ operation, verdict, reason }) => [operation, verdict, reason]);
}

describe('a first operation', () => {
  test('that streams is judged by its head, and the others are judged', async () => {
    const server = await startServer(({ path }, response) => {
      if (path !== '/first') return sendJson(response, 200, {});
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    });
    const report = await runAgainst(server, documentOf({ 'text/event-stream': { schema: { type: 'string' } } }, 'second'));
    expect(rowsOf(report)).toEqual([
      ['first', 'passed', ''],
      ['second', 'violation', ''],
    ]);
  });

  test('that does not respond in time is unverified, and the others are judged', async () => {
    const server = await startServer(({ path }, response) => {
      if (path !== '/first') sendJson(response, 200, {});
    });
    const report = await runAgainst(server, documentOf(OBJECT, 'second'), 200);
    expect(rowsOf(report)).toEqual([
      ['first', 'unverified', expect.stringContaining('there was no response')],
      ['second', 'violation', ''],
    ]);
  });

  test('of a service that answers nothing at all ends the run after three requests', async () => {
    const server = await startServer(() => {});
    await expect(runAgainst(server, documentOf(OBJECT, 'b', 'c', 'd', 'e'), 200)).rejects.toThrow(TargetError);
    expect(server.received).toHaveLength(3);
  });
});

describe('a read that closes the connection in place of a response', () => {
  test('is a violation, wherever it stands', async () => {
    const server = await startServer(({ path }, response) => {
      if (path === '/first' || path === '/third') response.destroy();
      else sendJson(response, 200, { id: 1 });
    });
    const report = await runAgainst(server, documentOf(OBJECT, 'second', 'third'));
    expect(
      report.findings
        .filter(({ verdict }) => verdict === 'violation')
        .map(({ message, touches }) => [message, touches.map(({ operation }) => operation)]),
    ).toEqual([['the connection closed in place of a response', ['first', 'third']]]);
    expect(rowsOf(report)).toEqual([
      ['first', 'violation', 'it closed the connection in place of a response'],
      ['second', 'passed', ''],
      ['third', 'violation', 'it closed the connection in place of a response'],
    ]);
    expect(report.coverage.map(({ statuses }) => statuses.map(({ status, times }) => `${status} ${times}`))).toEqual([
      ['200 0'],
      ['200 1'],
      ['200 0'],
    ]);
  });

  test('once, as a connection that was kept open may, is none', async () => {
    let closed = 0;
    const server = await startServer(({ path }, response) => {
      if (path === '/second' && closed++ === 0) response.destroy();
      else sendJson(response, 200, { id: 1 });
    });
    expect(rowsOf(await runAgainst(server, documentOf(OBJECT, 'second')))).toEqual([
      ['first', 'passed', ''],
      ['second', 'passed', ''],
    ]);
  });
});
