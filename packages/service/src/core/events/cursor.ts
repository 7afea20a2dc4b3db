/** Cursors of the feed of events: a position in the feed of one account, with a checksum that tells a cursor of another account or a cut one. */
import { crc32 } from 'node:zlib';

/** Of the 15 digits that a cursor may have. The others are the position. */
const CHECKSUM_DIGITS = 5;

/** @param position Of the last event that the reader has seen. 0 is the beginning, which is the same in each feed. */
export function feedCursor(accountId: string, position: number): string {
  const checksum = crc32(`${accountId} ${position}`) % 10 ** CHECKSUM_DIGITS;
  return position === 0 ? '0' : `${position}${String(checksum).padStart(CHECKSUM_DIGITS, '0')}`;
}

/** The position of a cursor. Undefined if it is not a cursor of this account. */
export function feedPosition(accountId: string, cursor: string): number | undefined {
  const position = Number(cursor.slice(0, -CHECKSUM_DIGITS));
  return feedCursor(accountId, position) === cursor ? position : undefined;
}
