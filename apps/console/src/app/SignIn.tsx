import type { QueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { FormEvent } from 'react';

import { messageOf } from '../api/problem.ts';
import { Button } from '../ui/controls.tsx';
import { signIn } from './session.ts';

export function SignIn({ queryClient }: { readonly queryClient: QueryClient }) {
  const [error, setError] = useState<string>();
  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const token = new FormData(event.currentTarget).get('token');
    if (typeof token !== 'string' || token === '') return;
    try {
      await signIn(queryClient, token);
    } catch (failure) {
      setError(messageOf(failure));
    }
  }
  return (
    <main className="lonely">
      <form className="sign-in" onSubmit={(event) => void submit(event)}>
        <h1>Sign in to the console</h1>
        <p>
          Paste an operator token. A sandbox prints one when it starts, with a link that signs you in. Otherwise ask for a token with the
          scopes that you need.
        </p>
        <label className="field">
          <span className="label">Operator token</span>
          <input name="token" type="password" autoComplete="off" spellCheck={false} required aria-describedby="sign-in-error" />
        </label>
        <p id="sign-in-error" className="error" role="alert">
          {error}
        </p>
        <Button kind="primary" type="submit">
          Sign in
        </Button>
      </form>
    </main>
  );
}
