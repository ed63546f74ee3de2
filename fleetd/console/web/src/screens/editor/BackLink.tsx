import { Anchor } from '@mantine/core';
import { useLocation } from 'react-router';

import { useLanguage } from '../../text/language';
import { nameOf, useEntry } from '../library/api';
import { plural } from './model';
import { type Origin, originOf } from './origin';
import { SavedLink } from './SavedLink';
import { useEditorTexts } from './text';
import type { Editor } from './useEditor';

/** Leads back to the draft from which an act was opened, or else to the list. */
export function BackLink({ editor }: { editor: Editor }) {
  const t = useEditorTexts();
  const origin = originOf(useLocation().search);
  if (origin) return <ToOrigin editor={editor} origin={origin} />;
  return (
    <Anchor component={SavedLink} editor={editor} to={`/${plural[editor.kind]}`} size="sm">
      ‹ {t.back[editor.kind]}
    </Anchor>
  );
}

function ToOrigin({ editor, origin: { kind, id } }: { editor: Editor; origin: Origin }) {
  const t = useEditorTexts();
  const language = useLanguage((s) => s.language);
  const entry = useEntry(kind, id).data;
  return (
    <Anchor component={SavedLink} editor={editor} to={`/${plural[kind]}/${id}`} size="sm" dir="auto">
      ‹ {t.backTo[kind](entry ? nameOf(entry, language) : id)}
    </Anchor>
  );
}
