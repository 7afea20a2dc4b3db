/** Pages that are loaded when they are opened. */
import { lazy } from 'react';
import type { ComponentType } from 'react';

const RETRY_MS = 1_000;

interface Loaded<Props> {
  readonly default: ComponentType<Props>;
}

/** React remembers a failure to load. So while the service cannot be reached, this goes on trying. */
export function page<Props>(load: () => Promise<Loaded<Props>>) {
  return lazy(async () => {
    for (;;) {
      try {
        return await load();
      } catch {
        // The service may have come back since, so a page that it does not have fails here.
        if (await isReachable()) return load();
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  });
}

async function isReachable(): Promise<boolean> {
  try {
    await fetch(globalThis.location.pathname, { method: 'HEAD', cache: 'no-store' });
    return true;
  } catch {
    return false;
  }
}
