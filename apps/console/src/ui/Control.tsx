import type { Field } from '../document/fields.ts';
import { quantityText } from '../document/units.ts';
import { hasPicker, Picker } from './Picker.tsx';

interface ControlProps {
  readonly field: Field;
  readonly id: string;
  readonly hintId: string;
  readonly isInvalid: boolean;
  readonly text: string;
  readonly accountId: string | undefined;
  readonly onText: (text: string) => void;
}

/** The types of the inputs for the kinds of fields. Others are texts. */
const TYPES: Readonly<Record<string, string>> = { day: 'date', instant: 'datetime-local' };

/** The input of a field. */
export function Control({ field, id, hintId, isInvalid, text, accountId, onText }: ControlProps) {
  const { kind, values, required, nullable, name, list, unit, suggestions } = field;
  const isRequired = required && !nullable;
  const common = { id, 'aria-describedby': hintId, 'aria-invalid': isInvalid, spellCheck: false };
  if (list !== undefined && hasPicker(list))
    return <Picker list={list} accountId={accountId} value={text} isRequired={isRequired} onValue={onText} common={common} />;
  if (kind === 'boolean')
    return <input type="checkbox" {...common} checked={text === 'true'} onChange={({ target }) => onText(String(target.checked))} />;
  if (kind === 'enum')
    return (
      <select {...common} value={text} required={isRequired} onChange={({ target }) => onText(target.value)}>
        <option value="">{isRequired ? 'Choose' : 'Default'}</option>
        {values?.map((value) => (
          <option key={value} value={String(value)}>
            {String(value)}
          </option>
        ))}
      </select>
    );
  if (kind === 'lines')
    return (
      <textarea {...common} rows={3} value={text} required={isRequired} className="mono" onChange={({ target }) => onText(target.value)} />
    );
  return (
    <>
      <input
        {...common}
        list={suggestions && `${id}-suggestions`}
        type={TYPES[kind] ?? (/password|^code$/.test(name) ? 'password' : 'text')}
        step={kind === 'instant' ? 'any' : undefined}
        placeholder={placeholderOf(field)}
        autoComplete="off"
        inputMode={kind === 'integer' && unit === undefined ? 'numeric' : 'text'}
        value={text}
        required={isRequired}
        onChange={({ target }) => onText(target.value)}
      />
      {suggestions && (
        <datalist id={`${id}-suggestions`}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </>
  );
}

function placeholderOf({ example, unit }: Field): string | undefined {
  if (unit !== undefined && typeof example === 'number') return `such as ${quantityText(unit, example)}`;
  return typeof example === 'string' || typeof example === 'number' ? `such as ${example}` : undefined;
}
