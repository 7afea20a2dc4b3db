/** Loaded into a server: its clock is ahead of the real one by the milliseconds in the file CLOCK_FILE, which it reads again on SIGUSR2. */
import { readFileSync } from 'node:fs';

const file = process.env['CLOCK_FILE'] ?? '';
const realNow = Date.now;
let ahead = 0;

function read(): void {
  ahead = Number(readFileSync(file, 'utf8'));
}

read();
process.on('SIGUSR2', read);
Date.now = () => realNow() + ahead;
