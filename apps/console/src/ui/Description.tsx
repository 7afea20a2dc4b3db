/** A description of the document. Its only markup is code in backticks and emphasis. */
export function Description({ text }: { readonly text: string }) {
  const parts = text.replaceAll('**', '').split('`');
  return <p className="description">{parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</p>;
}
