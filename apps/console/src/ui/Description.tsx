import { Fragment } from 'react';

/** A text of the document, with its code in backticks. */
export function Code({ text }: { readonly text: string }) {
  return text
    .split('`')
    .map((part, index) =>
      index % 2 === 1 ? <code key={index}>{part}</code> : <Fragment key={index}>{part.replaceAll('**', '')}</Fragment>,
    );
}

/** A description of the document: its first sentence, and the others on demand. */
export function Description({ text }: { readonly text: string }) {
  const [first = '', ...others] = text.split(/(?<=\.)\s+(?=[A-Z`])/);
  return (
    <div className="description">
      <Code text={first} />
      {others.length > 0 && (
        <details>
          <summary>More</summary>
          <Code text={others.join(' ')} />
        </details>
      )}
    </div>
  );
}
