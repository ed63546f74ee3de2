import { useFieldWord } from './words';

/** The name of a field for people, with its name in the file beside it. */
export function FieldLabel({ name }: { name: string }) {
  const word = useFieldWord();
  return (
    <>
      {word(name)}
      {word(name) !== name && (
        <>
          {' '}
          <code className="field-name" dir="ltr">
            {name}
          </code>
        </>
      )}
    </>
  );
}
