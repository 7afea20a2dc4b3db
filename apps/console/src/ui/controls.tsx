/** Small parts of pages. */
import { useState } from 'react';
import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { Link } from 'wouter';

import { grouped } from '../api/money.ts';
import { messageOf } from '../api/problem.ts';
import { visible } from './visible.ts';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: 'primary' | 'danger' | 'quiet';
}

export function Button({ kind, className = '', type = 'button', ...others }: ButtonProps) {
  return <button type={type} className={`button ${kind ?? ''} ${className}`} {...others} />;
}

/** A text from outside on one line, cut where the space ends. */
export function Text({ value, title }: { readonly value: string; readonly title?: string }) {
  return (
    <span className="ellipsis" {...(title === undefined ? {} : { title: visible(title) })}>
      {visible(value)}
    </span>
  );
}

/** An exact amount in EUR. */
export function Money({ amount, strong = false }: { readonly amount: string | null; readonly strong?: boolean }) {
  if (amount === null) return <span className="muted">none</span>;
  return <span className={`money ${strong ? 'strong' : ''} ${amount.startsWith('-') ? 'negative' : ''}`}>{grouped(amount)}</span>;
}

/** An instant in UTC, as the service returns it, without its milliseconds. */
export function Instant({ at, day = false }: { readonly at: string | null; readonly day?: boolean }) {
  if (at === null) return <span className="muted">none</span>;
  // The service has no earlier time, and means that it always was so.
  if (at.startsWith('1970-01-01')) return 'the beginning';
  const text = at.slice(0, day ? 10 : 19).replace('T', ' ');
  return (
    <time dateTime={at} title={at} className="nowrap">
      {text}
    </time>
  );
}

const GOOD = new Set(['running', 'PAID', 'OK', 'active', 'in_force', 'full', 'succeeded', 'valid', 'on_time']);
const BAD = new Set(['overdue', 'held_up', 'suspended', 'revoked', 'failed', 'erased', 'removed', 'expired']);
const WAITING = new Set(['OPEN', 'reserved', 'scheduled', 'LOCK', 'terminated', 'in setup']);

export function Status({ value }: { readonly value: string }) {
  const tone = GOOD.has(value) ? 'good' : BAD.has(value) ? 'bad' : WAITING.has(value) ? 'waiting' : '';
  return <span className={`status ${tone}`}>{value.replaceAll('_', ' ')}</span>;
}

const UUID_LENGTH = 36;

/** An identifier, of which a UUID is shortened to its last part. Its title is the whole. */
export function ShortId({ id }: { readonly id: string }) {
  if (id.length !== UUID_LENGTH || id.includes('.')) return <code title={id}>{id}</code>;
  return (
    <code title={id} className="nowrap">
      {`…${id.slice(-12)}`}
    </code>
  );
}

/** A list without rows says what to do next. */
export interface Empty {
  readonly title: string;
  readonly text: ReactNode;
}

export function EmptyState({ title, text }: Empty) {
  return (
    <div className="empty">
      <p className="strong">{title}</p>
      <div>{text}</div>
    </div>
  );
}

interface CopyButtonProps {
  readonly text: string;
  readonly children: ReactNode;
  readonly kind?: 'primary';
  readonly onCopied?: () => void;
}

export function CopyButton({ text, children, kind, onCopied }: CopyButtonProps) {
  const [result, setResult] = useState<string>();
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setResult('Copied');
      onCopied?.();
    } catch {
      // Without TLS a browser gives a page no clipboard, except on the own machine.
      setResult('The browser forbids copying');
    }
    setTimeout(() => setResult(undefined), 2_000);
  }
  return (
    <Button {...(kind && { kind })} onClick={() => void copy()}>
      {result ?? children}
    </Button>
  );
}

export function PageHead({
  title,
  children,
  back,
}: {
  readonly title: ReactNode;
  readonly children?: ReactNode;
  readonly back?: BackLink;
}) {
  return (
    <header className="page-head">
      <div>
        {back && (
          <Link href={back.href} className="back">
            {back.label}
          </Link>
        )}
        <h1>{title}</h1>
      </div>
      <div className="toolbar">{children}</div>
    </header>
  );
}

interface BackLink {
  readonly href: string;
  readonly label: string;
}

export function Section({
  title,
  actions,
  children,
}: {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className="section">
      <div className="section-head">
        <h2>{title}</h2>
        <div className="toolbar">{actions}</div>
      </div>
      {children}
    </section>
  );
}

/** An amount that a person looks for first. */
export function Figure({ name, amount, id }: { readonly name: string; readonly amount: string; readonly id?: string }) {
  return (
    <div>
      <dt>{name} (EUR)</dt>
      <dd {...(id === undefined ? {} : { id })}>
        <Money amount={amount} strong />
      </dd>
    </div>
  );
}

/** Names and values. */
export function Facts({ items }: { readonly items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Failure({ error }: { readonly error: unknown }) {
  return (
    <p className="error" role="alert">
      {messageOf(error)}
    </p>
  );
}

export function Json({ text, label }: { readonly text: string; readonly label: string }) {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // It is shown as it is.
  }
  return (
    <pre className="code" tabIndex={0} role="region" aria-label={label}>
      {shown}
    </pre>
  );
}
