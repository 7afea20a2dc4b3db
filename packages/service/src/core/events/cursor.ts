/** Cursors of the feed of events: a position in the feed of one account, with a checksum that tells a cursor of another account or a cut one. */
import { sha256 } from '../../rules/credentials.ts';

/** Of the 15 digits that a cursor may have. The others are the position. */
const CHECKSUM_DIGITS = 5;

/** @param position Of the last event that the reader has seen. 0 is the beginning, which is the same in each feed. */
export function cursorOf(accountId: string, position: number): string {
  return position === 0 ? '0' : `${position}${checksumOf(accountId, position)}`;
}

/** The position of a cursor. Undefined if it is not a cursor of this account. */
export function positionOf(accountId: string, cursor: string): number | undefined {
  const position = Number(cursor.slice(0, -CHECKSUM_DIGITS));
  return cursorOf(accountId, position) === cursor ? position : undefined;
}

function checksumOf(accountId: string, position: number): string {
  const [bits = ''] = sha256(`${accountId} ${position}`).match(/^.{8}/) ?? [];
  return String(Number.parseInt(bits, 16) % 10 ** CHECKSUM_DIGITS).padStart(CHECKSUM_DIGITS, '0');
}
