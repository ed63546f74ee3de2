import { Text } from '@mantine/core';

import { context, diff, lines } from './diff';
import { useEditorTexts } from './text';

/** The differences of two contents, with a sign beside the color. */
export function DiffView({ from, to }: { from: unknown; to: unknown }) {
  const t = useEditorTexts();
  const all = context(diff(from ? lines(from) : [], lines(to)));
  if (all.length === 0) return <Text size="sm">{t.noDifference}</Text>;
  return (
    <div className="diff" tabIndex={0} role="group" aria-label={t.diff('', '').trim()} dir="auto">
      {all.map((l, n) => (
        <div key={n} data-change={l?.change}>
          {l ? `${l.change} ${l.text}` : '…'}
        </div>
      ))}
    </div>
  );
}
