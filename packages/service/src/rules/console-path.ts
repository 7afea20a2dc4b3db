/** Where the port of resellers serves the page with the console of a VM. */
export const CONSOLE_PATH = '/vm-console';
