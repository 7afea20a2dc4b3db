import { createHash, createPublicKey } from 'node:crypto';
import type { JsonWebKey } from 'node:crypto';

/** The curves of ECDSA keys: their names in SSH, in JSON Web Keys, and the bytes of a coordinate. */
const CURVES = [
  { ssh: 'nistp256', jwk: 'P-256', bytes: 32 },
  { ssh: 'nistp384', jwk: 'P-384', bytes: 48 },
  { ssh: 'nistp521', jwk: 'P-521', bytes: 66 },
] as const;
const ED25519_BYTES = 32;
/** The first byte of a point whose two coordinates follow. */
const UNCOMPRESSED_POINT = 4;
const MIN_RSA_BITS = 1024;

/**
 * Reads the public key in a form (specification: PUT /vm/create, `ssh_key`, "URL-encoded public key"). The value may be URL-encoded a
 * second time within the form. Keys of security keys (FIDO, `sk-…@openssh.com`) are accepted too.
 *
 * @returns The key in OpenSSH notation. Undefined if the value is not a public key in that notation.
 */
export function publicKeyOf(value: string): string | undefined {
  const [, type = '', body = '', comment = ''] =
    /^([a-z0-9@.-]+) ([A-Za-z0-9+/]+={0,2})(?: (\P{Cc}*))?$/u.exec(decoded(value).trim()) ?? [];
  const bytes = Buffer.from(body, 'base64');
  const fields = fieldsOf(bytes);
  if (fields === undefined || fields.shift()?.toString('latin1') !== type || !isKey(type, fields)) return undefined;
  return [type, bytes.toString('base64'), ...(comment === '' ? [] : [comment])].join(' ');
}

/** What `ssh-keygen -l` prints of a key. */
export interface KeyDetails {
  readonly type: string;
  /** `SHA256:` and the digest in Base64 without padding. */
  readonly fingerprint: string;
  /** Empty if the key has none. */
  readonly comment: string;
}

/** @param key In the notation that `publicKeyOf` returns. */
export function keyDetailsOf(key: string): KeyDetails {
  const [type = '', body = '', ...comment] = key.split(' ');
  const digest = createHash('sha256').update(Buffer.from(body, 'base64')).digest('base64');
  return { type, fingerprint: `SHA256:${digest.replaceAll('=', '')}`, comment: comment.join(' ') };
}

/** The character after the key type shows the encoding: none, `%20` for spaces, or `+` for spaces. */
function decoded(value: string): string {
  const [, space] = /^(?:[a-z0-9@.-]|%40)+( |%20|\+)/i.exec(value) ?? [];
  if (space !== '%20' && space !== '+') return value;
  const text = space === '+' ? value.replaceAll('+', ' ') : value;
  // decodeURIComponent would throw on a comment that is not UTF-8.
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'));
}

/** The fields of a key (RFC 4253, section 6.6), each after its length. Undefined if the lengths do not match the bytes. */
function fieldsOf(bytes: Buffer): Buffer[] | undefined {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    const start = at + 4;
    if (start > bytes.length) return undefined;
    at = start + bytes.readUInt32BE(at);
    if (at > bytes.length) return undefined;
    fields.push(bytes.subarray(start, at));
  }
  return fields;
}

/** Whether the fields after the type are those of a key of the type (RFC 4253, 5656 and 8709; PROTOCOL.u2f of OpenSSH). */
function isKey(type: string, fields: readonly Buffer[]): boolean {
  const hardware = /^sk-(.+)@openssh\.com$/.exec(type)?.[1];
  if (hardware === undefined) return isPlainKey(type, fields);
  const application = fields.at(-1);
  if (application === undefined || application.length === 0) return false;
  return (hardware === 'ssh-ed25519' || hardware === 'ecdsa-sha2-nistp256') && isPlainKey(hardware, fields.slice(0, -1));
}

function isPlainKey(type: string, fields: readonly Buffer[]): boolean {
  const [first, second] = fields;
  if (first === undefined) return false;
  if (type === 'ssh-ed25519') {
    return (
      fields.length === 1 && first.length === ED25519_BYTES && isPublic({ kty: 'OKP', crv: 'Ed25519', x: first.toString('base64url') })
    );
  }
  if (second === undefined || fields.length !== 2) return false;
  if (type === 'ssh-rsa') return isRsaKey(first, second);
  const curve = CURVES.find(({ ssh }) => type === `ecdsa-sha2-${ssh}` && first.toString('latin1') === ssh);
  if (curve === undefined || second.length !== 1 + 2 * curve.bytes || second[0] !== UNCOMPRESSED_POINT) return false;
  const [x, y] = [second.subarray(1, 1 + curve.bytes), second.subarray(1 + curve.bytes)];
  return isPublic({ kty: 'EC', crv: curve.jwk, x: x.toString('base64url'), y: y.toString('base64url') });
}

function isRsaKey(exponent: Buffer, modulus: Buffer): boolean {
  // A leading zero byte only says that the number is positive.
  const bytes = modulus[0] === 0 ? modulus.subarray(1) : modulus;
  return bytes.length * 8 >= MIN_RSA_BITS && isPublic({ kty: 'RSA', e: exponent.toString('base64url'), n: bytes.toString('base64url') });
}

/** Whether Node accepts the key, which also checks that a point is on its curve. */
function isPublic(key: JsonWebKey): boolean {
  try {
    createPublicKey({ key, format: 'jwk' });
    return true;
  } catch {
    return false;
  }
}
