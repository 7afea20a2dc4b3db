/** Reads the write-ahead log of a store that did not end cleanly, as SQLite does (https://sqlite.org/fileformat2.html#walformat). */

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;

/**
 * A power failure can leave holes in what no sync had confirmed, which is at most a few batches. Behind a hole, there can be as many bytes of
 * frames as this.
 */
const MAX_UNCONFIRMED_BYTES = 1_048_576;

/**
 * Whether frames are damaged that a sync had confirmed. SQLite itself ignores everything from the first damaged frame on, without an error.
 *
 * @param log The content of the file.
 */
export function isDamaged(log: Buffer): boolean {
  if (log.length < HEADER_BYTES) return false;
  const magic = log.readUInt32BE(0);
  // The last bit is the order of bytes in the checksums.
  if ((magic & ~1) >>> 0 !== MAGIC) return true;
  const isBigEndian = (magic & 1) === 1;
  const salts = log.subarray(16, 24);
  let sums = checksum(log.subarray(0, HEADER_BYTES - 8), [0, 0], isBigEndian);
  if (!areStored(sums, log, HEADER_BYTES - 8)) return true;
  const frameBytes = FRAME_HEADER_BYTES + log.readUInt32BE(8);
  for (let at = HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    sums = checksum(log.subarray(at, at + 8), sums, isBigEndian);
    sums = checksum(log.subarray(at + FRAME_HEADER_BYTES, at + frameBytes), sums, isBigEndian);
    // A frame with other salts is from before the log was last begun again.
    const isValid = log.subarray(at + 8, at + 16).equals(salts) && areStored(sums, log, at + 16);
    if (!isValid) return framesFrom(log, { at: at + frameBytes, frameBytes, salts }) * frameBytes > MAX_UNCONFIRMED_BYTES;
  }
  return false;
}

/** The number of frames that were written since the log was last begun again. */
function framesFrom(log: Buffer, { at, frameBytes, salts }: { at: number; frameBytes: number; salts: Buffer }): number {
  let frames = 0;
  for (let next = at; next + frameBytes <= log.length; next += frameBytes) if (log.subarray(next + 8, next + 16).equals(salts)) frames++;
  return frames;
}

type Checksums = readonly [number, number];

function areStored([one, two]: Checksums, log: Buffer, at: number): boolean {
  return log.readUInt32BE(at) === one && log.readUInt32BE(at + 4) === two;
}

/** @param bytes A multiple of 8. */
function checksum(bytes: Buffer, before: Checksums, isBigEndian: boolean): Checksums {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [one, two] = before;
  for (let at = 0; at < bytes.length; at += 8) {
    one = (one + view.getUint32(at, !isBigEndian) + two) >>> 0;
    two = (two + view.getUint32(at + 4, !isBigEndian) + one) >>> 0;
  }
  return [one, two];
}
