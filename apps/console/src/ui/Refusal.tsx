import { fieldErrors, messageOf } from '../api/problem.ts';
import { labelOf } from './Fields.tsx';

/** Why the service refused a form. Each mistake has the name of its field, which may be out of sight. */
export function Refusal({ error }: { readonly error: unknown }) {
  const mistakes = [...fieldErrors(error)].map(([pointer, message]) => `${labelOf(pointer.split('/').at(-1) ?? '')} ${message}.`);
  return (
    <p className="error" role="alert">
      {mistakes.length === 0 ? messageOf(error) : mistakes.join(' ')}
    </p>
  );
}
