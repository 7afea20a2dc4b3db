/** The path of the console without a slash at the end, as the router takes it. */
export const BASE = import.meta.env.BASE_URL.replace(/\/$/, '');
