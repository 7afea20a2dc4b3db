/** The worker thread that copies the write-ahead log into the database, so that copying does not block the event loop of the service. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

const connection = new DatabaseSync(String(workerData));
// SQLite syncs the log before it changes the database, and the database before it overwrites the log.
connection.exec('PRAGMA synchronous = NORMAL');
// A passive checkpoint does not wait for readers or writers, and they do not wait for it.
const checkpoint = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)');

// An error, such as that of a full disk, ends the thread.
parentPort?.on('message', () => {
  checkpoint.get();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
  parentPort?.postMessage('done');
});
