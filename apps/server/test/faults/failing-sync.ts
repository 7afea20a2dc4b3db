/** Loaded into a server: from SIGUSR2 on, its disk confirms no write. */
import { open } from 'node:fs/promises';

const handle = await open(import.meta.filename);
const methods: { datasync: typeof handle.datasync } = Object.getPrototypeOf(handle);
await handle.close();

process.on('SIGUSR2', () => {
  methods.datasync = () => Promise.reject(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
});
