/** The keyring of the system, where it has one. */
import { errorText } from '@reseller/contract';

const SERVICE = 'reseller';

/** The part of `@napi-rs/keyring` that is used. */
interface Keyring {
  read(name: string): Promise<string | undefined>;
  write(name: string, secret: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** The keyring, or the reason why there is none. `RESELLER_KEYRING=off` switches it off. */
export async function openKeyring(env: NodeJS.ProcessEnv): Promise<Keyring | string> {
  if (env['RESELLER_KEYRING'] === 'off') return 'RESELLER_KEYRING is off';
  // Without a bus, only the kernel could keep the secret, and it forgets it when the user signs out.
  if (process.platform === 'linux' && !env['DBUS_SESSION_BUS_ADDRESS']) return 'there is no desktop session';
  try {
    // An optional dependency, because its native code does not exist for all systems.
    const { AsyncEntry } = await import('@napi-rs/keyring');
    function entry(name: string) {
      return new AsyncEntry(SERVICE, name);
    }
    // Opening an entry succeeds even on a system without a keyring. Reading it does not.
    await entry('probe').getPassword();
    return {
      read: async (name) => (await entry(name).getPassword()) ?? undefined,
      write: async (name, secret) => void (await entry(name).setPassword(secret)),
      remove: async (name) => void (await entry(name).deletePassword()),
    };
  } catch (error) {
    return errorText(error);
  }
}
