/** The sample configuration of nginx, with the nginx of the machine in front of a service. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as overTls } from 'node:https';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';

import { expect, onTestFinished, test } from 'vitest';
import type { TestContext } from 'vitest';

import { freePort, freePorts } from '../../../.config/free-ports.ts';
import { startServer, temporaryDirectory } from './process.ts';
import type { Server } from './process.ts';

const FILE = resolve(import.meta.dirname, '../deploy/nginx.conf');

function skipWithoutNginx({ skip }: TestContext): void {
  if (spawnSync('nginx', ['-v']).error) skip('nginx is not installed');
  if (spawnSync('openssl', ['version']).error) skip('openssl is not installed');
}

interface Proxy {
  readonly ca: string;
  readonly plainPort: number;
  readonly port: number;
  get(
    path: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; headers: Readonly<Record<string, unknown>>; body: string }>;
}

/** Starts nginx with the sample, whose ports, certificate and upstream are replaced. It ends with the test. */
async function startNginx(upstream: string): Promise<Proxy> {
  const folder = temporaryDirectory();
  const [key, certificate] = [join(folder, 'privkey.pem'), join(folder, 'fullchain.pem')];
  const subject = ['-subj', '/CN=api.example.com', '-addext', 'subjectAltName=DNS:api.example.com'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', certificate, ...subject],
    {
      stdio: 'ignore',
    },
  );
  const [plainPort = 0, port = 0] = await freePorts(2);
  const sample = readFileSync(FILE, 'utf8')
    .replaceAll(/^ *listen \[::\].*\n/gm, '')
    .replace('listen 80;', `listen 127.0.0.1:${plainPort};`)
    .replace('listen 443 ', `listen 127.0.0.1:${port} `)
    .replace('127.0.0.1:4010', upstream)
    .replaceAll('/etc/ssl/reseller', folder);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join('\n');
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${join(folder, 'nginx.pid')}; error_log stderr; events {}\nhttp { access_log off; ${temporary}\n${sample} }\n`,
  );
  const nginx = spawn('nginx', ['-p', folder, '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void nginx.kill('SIGTERM'));
  const ca = readFileSync(certificate, 'utf8');
  const proxy: Proxy = {
    ca,
    plainPort,
    port,
    async get(path, headers = {}) {
      const response = await new Promise<IncomingMessage>((done, fail) => {
        const sent = overTls({ host: '127.0.0.1', port, path, headers, ca, servername: 'api.example.com' }, done);
        sent.on('error', fail).end();
      });
      return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
    },
  };
  await expect
    .poll(() =>
      proxy.get('/healthz').then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBeGreaterThan(0);
  return proxy;
}

function service(): Promise<Server> {
  return startServer({
    RESELLER_DATA_DIR: temporaryDirectory(),
    RESELLER_LOG_LEVEL: 'info',
    RESELLER_TRUST_PROXY: '127.0.0.1',
    RESELLER_ALLOWED_HOSTS: 'api.example.com',
  });
}

test('nginx serves the API over TLS with its headers, and passes on the address of the client and no other', async (context) => {
  skipWithoutNginx(context);
  const server = await service();
  const proxy = await startNginx(new URL(server.baseUrl).host);
  const { status, headers, body } = await proxy.get('/domain/list', {
    host: 'api.example.com',
    'x-service-apikey': server.apiKey,
    'x-forwarded-for': '203.0.113.9',
    forwarded: 'for=203.0.113.9',
  });
  expect([status, JSON.parse(body).status]).toEqual([200, 'success']);
  expect(headers).toMatchObject({ 'strict-transport-security': 'max-age=31536000', 'x-content-type-options': 'nosniff' });
  expect(headers['server']).toBe('nginx');
  await expect.poll(() => server.logged()).toContain('/domain/list');
  expect(server.logged()).not.toContain('203.0.113.9');

  const plain = await fetch(`http://127.0.0.1:${proxy.plainPort}/domain/list`);
  expect(plain.status).toBe(403);
  const old = new Promise((done, fail) => {
    const socket = connect({
      host: '127.0.0.1',
      port: proxy.port,
      ca: proxy.ca,
      servername: 'api.example.com',
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
    });
    socket.on('secureConnect', () => done('connected')).on('error', fail);
  });
  await expect(old).rejects.toThrow(/protocol|alert|ECONNRESET/i);
});

test('nginx limits the requests of an address, and its refusals have the envelope', async (context) => {
  skipWithoutNginx(context);
  const server = await service();
  const proxy = await startNginx(new URL(server.baseUrl).host);
  const headers = { host: 'api.example.com', 'x-service-apikey': server.apiKey };
  const responses = await Promise.all(Array.from({ length: 400 }, () => proxy.get('/domain/list', headers)));
  const refused = responses.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
  expect(responses.length).toBe(responses.filter(({ status }) => status === 200 || status === 429).length);
  expect(JSON.parse(refused[0]?.body ?? '')).toMatchObject({ status: 'error', type: 'rate_limited', data: null });
  expect(refused[0]?.headers).toMatchObject({ 'retry-after': '1', 'content-type': 'application/json' });
});

test('nginx responds with the envelope while the service is away', async (context) => {
  skipWithoutNginx(context);
  const proxy = await startNginx(`127.0.0.1:${await freePort()}`);
  const { status, headers, body } = await proxy.get('/domain/list', { host: 'api.example.com' });
  expect([status, JSON.parse(body).type, headers['retry-after']]).toEqual([503, 'unavailable', '2']);
});
