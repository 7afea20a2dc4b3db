/** The name server of a sandbox: it answers DNS queries about the domains and addresses of all accounts as they are in the store. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

import { textParts } from '@reseller/adapters';
import type { RecordSet } from '@reseller/adapters';
import packet from 'dns-packet';
import type { Answer, DecodedPacket } from 'dns-packet';

import { answerFrom } from '../core/domain/answers.ts';
import type { DnsAnswer } from '../core/domain/dns-answer.ts';
import type { Ports } from '../ports/ports.ts';
import { readServiceBinding } from '../rules/dns-data.ts';
import { stringOf, wordsOf } from '../rules/dns-text.ts';
import { uint16 } from '../rules/service-binding.ts';
import type { Store } from '../store/store.ts';

/** Where the answers come from: the zones in the store, and the provider's nameservers. */
interface NameSource {
  readonly store: Store;
  readonly ports: Pick<Ports, 'registrar'>;
}

/** A name server that listens. */
export interface NameServer {
  readonly port: number;
  close(): Promise<void>;
}

/** A longer response over UDP is cut, and the client asks again over TCP (RFC 1035, 4.2.1). */
const MAX_UDP_BYTES = 512;
const MAX_QUERY_BYTES = 4_096;
const TCP_TIMEOUT_MS = 5_000;
const CODES: Readonly<Record<DnsAnswer['outcome'], number>> = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };
/** The types that the library does not name. */
const NUMBERED_TYPES: Readonly<Record<string, string>> = { UNKNOWN_64: 'SVCB', UNKNOWN_65: 'HTTPS' };

/**
 * Starts a name server for UDP and TCP.
 *
 * @param port 0 for a free port.
 * @throws Error with the code EADDRINUSE if the port is in use.
 */
export async function startNameServer(
  source: NameSource,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<NameServer> {
  const tcp = createServer((socket) => serveTcp(source, socket));
  tcp.listen(port, host);
  await once(tcp, 'listening');
  const { port: bound } = boundAddressOf(tcp.address());
  const udp = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  udp.on('message', (query, client) => {
    responseToQuery(source, query, MAX_UDP_BYTES).then(
      (response) => response && udp.send(response, client.port, client.address),
      () => {},
    );
  });
  udp.bind(bound, host);
  await once(udp, 'listening');
  return {
    port: bound,
    async close() {
      udp.close();
      tcp.close();
      await Promise.all([once(udp, 'close'), once(tcp, 'close')]);
    },
  };
}

function boundAddressOf(address: ReturnType<ReturnType<typeof createServer>['address']>): AddressInfo {
  if (address === null || typeof address === 'string') throw new TypeError('The name server has no port.');
  return address;
}

/** Each message over TCP follows its length in two bytes. */
function serveTcp(source: NameSource, socket: Socket): void {
  let received = Buffer.alloc(0);
  socket.setTimeout(TCP_TIMEOUT_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    if (received.length < 2) return;
    const length = received.readUInt16BE();
    if (length > MAX_QUERY_BYTES) return void socket.destroy();
    if (received.length < length + 2) return;
    const query = received.subarray(2, length + 2);
    responseToQuery(source, query, Infinity).then(
      (response) => {
        if (!response) return socket.destroy();
        const prefix = Buffer.alloc(2);
        prefix.writeUInt16BE(response.length);
        return socket.end(Buffer.concat([prefix, response]));
      },
      () => socket.destroy(),
    );
  });
}

/** The bits of the flags with the kind of a message (RFC 1035, 4.1.1). A query has 0; NOTIFY and UPDATE have others. */
const OPCODE_BITS = 0x78_00;
const NOTIMP = 4;

/** Undefined for a message that is not a query. */
async function responseToQuery({ store, ports }: NameSource, message: Buffer, maxBytes: number): Promise<Buffer | undefined> {
  const query = decodedMessage(message);
  const [question, ...others] = query?.questions ?? [];
  if (query === undefined || question === undefined || others.length > 0 || query.type !== 'query') return undefined;
  const opcode = (query.flags ?? 0) & OPCODE_BITS;
  if (opcode !== 0) return packet.encode({ type: 'response', id: query.id ?? 0, flags: opcode | NOTIMP, questions: [question] });
  const name = question.name.toLowerCase();
  const type = NUMBERED_TYPES[question.type] ?? question.type;
  const { outcome, answers, authorities, isAuthoritative } = await store.read((db) =>
    answerFrom(db, { name, type, nameservers: ports.registrar.standardNameservers }),
  );
  const flags = (isAuthoritative ? packet.AUTHORITATIVE_ANSWER : 0) | CODES[outcome];
  const response = packet.encode({
    type: 'response',
    id: query.id ?? 0,
    flags,
    questions: [question],
    answers: answers.flatMap(packetAnswersOf),
    authorities: authorities.flatMap(packetAnswersOf),
  });
  if (response.length <= maxBytes) return response;
  return packet.encode({ type: 'response', id: query.id ?? 0, flags: flags | packet.TRUNCATED_RESPONSE, questions: [question] });
}

function decodedMessage(message: Buffer): DecodedPacket | undefined {
  try {
    return packet.decode(message);
  } catch {
    return undefined;
  }
}

function packetAnswersOf({ name, type, ttl, data }: RecordSet): Answer[] {
  return data.map((text) => packetAnswerOf({ name, ttl }, type, text));
}

function packetAnswerOf(common: { readonly name: string; readonly ttl: number }, type: string, text: string): Answer {
  const parts = text.split(' ');
  const [first = '', second = '', third = '', fourth = ''] = parts;
  switch (type) {
    case 'A':
    case 'AAAA':
    case 'CNAME':
    case 'DNAME':
    case 'NS':
    case 'PTR':
      return { ...common, type, data: text };
    case 'MX':
      return { ...common, type, data: { preference: Number(first), exchange: second } };
    case 'SRV':
      return { ...common, type, data: { priority: Number(first), weight: Number(second), port: Number(third), target: fourth } };
    case 'CAA': {
      const value = stringOf(wordsOf(text)?.[2] ?? '') ?? '';
      const known = { flags: Number(first), tag: 'issue', value, issuerCritical: Number(first) >= 128 } as const;
      // The types of the library know three tags, and the library writes any.
      return { ...common, type, data: Object.assign(known, { tag: second }) };
    }
    case 'TXT':
      return { ...common, type, data: textParts(text).map((part) => Buffer.from(part)) };
    case 'NAPTR': {
      const words = wordsOf(text) ?? [];
      const [flags = '', services = '', regexp = ''] = words.slice(2, 5).map(stringOf);
      const data = { order: Number(first), preference: Number(second), flags, services, regexp, replacement: words[5] ?? '.' };
      return { ...common, type, data };
    }
    case 'SSHFP':
      return { ...common, type, data: { algorithm: Number(first), hash: Number(second), fingerprint: third } };
    case 'TLSA': {
      const [usage, selector, matchingType] = [Number(first), Number(second), Number(third)];
      return { ...common, type, data: { usage, selector, matchingType, certificate: Buffer.from(fourth, 'hex') } };
    }
    case 'HTTPS':
    case 'SVCB': {
      const opaque = { ...common, type: 'NULL', data: bytesOfBinding(text) } as const;
      return Object.assign(opaque, { type: type === 'HTTPS' ? 'UNKNOWN_65' : 'UNKNOWN_64' });
    }
    case 'SOA': {
      const [serial, refresh, retry, expire, minimum] = parts.slice(2).map(Number);
      return { ...common, type, data: { mname: first, rname: second, serial, refresh, retry, expire, minimum } };
    }
    default:
      throw new Error(`The name server cannot write records of the type ${type}.`);
  }
}

/** The data of an SVCB or HTTPS record as it is sent (RFC 9460, 2.2). */
function bytesOfBinding(text: string): Buffer {
  const binding = readServiceBinding(text);
  if (binding === undefined) throw new Error(`${text} is not the data of an SVCB or HTTPS record.`);
  const labels = binding.target === '.' ? [] : binding.target.split('.');
  return Buffer.concat([
    uint16(binding.priority),
    ...labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.alloc(1),
    ...binding.parameters.flatMap(({ number, bytes }) => [uint16(number), uint16(bytes.length), bytes]),
  ]);
}
