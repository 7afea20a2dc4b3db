/** The worker thread that copies the write-ahead log into the database, so that the event loop of the service goes on. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

const connection = new DatabaseSync(String(workerData));
// The log is on the disk before the database changes, and the database before the log is overwritten.
connection.exec('PRAGMA synchronous = NORMAL');
// A passive checkpoint waits for nobody, and nobody waits for it.
const checkpoint = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)');

// An error, such as that of a full disk, ends the thread.
parentPort?.on('message', () => {
  checkpoint.get();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
  parentPort?.postMessage('done');
});
