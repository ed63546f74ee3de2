import { useCallback, useEffect, useRef, useState } from 'react';

import { useMay } from '../../api/me';
import { problemOf } from '../../api/problem';
import { toast } from '../../shell/toast';
import { useLanguage } from '../../text/language';
import {
  type Entry,
  type Finding,
  save,
  saveText,
  type Timeline,
  timelineOf,
  useRefresh,
  validate,
} from '../library/api';
import { begin, commit, type History, redo, undo } from './history';
import { nothing } from './selection';
import { useEditorTexts } from './text';
import { isUnfinished } from './unfinished';
import { type Doc, type Fields, type Kind, read, write } from './model';
import { hasComments, rewrite } from './yamlText';

/** ms without a change until the draft is validated, and until it is saved. */
const beforeCheck = 300;
const beforeSave = 1000;

export type SaveState = 'saved' | 'dirty' | 'saving' | 'failed' | 'conflict' | 'readonly';

/** What fleetd says of the draft as it is now on the page. */
export interface Check {
  problems: Finding[];
  timeline?: Timeline;
  /** The draft of which the timeline is; the page may have a newer one. */
  drawn?: Doc;
  /** fleetd was not asked yet about the newest change, or did not answer. */
  state: 'checking' | 'checked' | 'failed';
}

export interface Editor {
  kind: Kind;
  id: string;
  doc: Doc;
  selected: readonly string[];
  /** The boxes of what is selected are ticked; otherwise it is only open. */
  ticked: boolean;
  select: (keys: readonly string[], ticked?: boolean) => void;
  /** Changes the draft. Changes with one tag that follow each other closely are undone as one. */
  change: (next: Doc, tag?: string) => void;
  undo?: () => void;
  redo?: () => void;
  check: Check;
  saving: SaveState;
  /** Why the draft could not be saved. */
  refused?: unknown;
  /** Saves what is not saved yet, over a revision if given; returns whether the draft is saved. */
  flush: (over?: number | '*') => Promise<boolean>;
  /** The newest draft revision that this page has read or written. */
  draftRev: number;
  /** Takes another draft, such as a restored one, over what is on the page. */
  take: (e: Entry) => void;
  mayEdit: boolean;
  /** What is missing counts as an error, since its author wants to publish; until nothing is missing any more. */
  strict: boolean;
  /** Asks again what is wrong: acts that it names have changed. */
  recheck: () => void;
  /** Counts what is missing as an error from now on. */
  treatMissingAsErrors: () => void;
  /** The language in which texts are shown and tried: the console's, unless another one was chosen. */
  lang: string;
  setLang: (lang: string) => void;
}

/** Edits one draft: undo, validation while typing, saving by itself. */
export function useEditor(kind: Kind, entry: Entry): Editor {
  const mayEdit = useMay('edit');
  const refresh = useRefresh();
  const [history, setHistory] = useState<History<Doc>>(() => begin(read(kind, (entry.content ?? {}) as Fields)));
  const [selection, setSelection] = useState(nothing);
  const select = (keys: readonly string[], ticked = keys.length > 1) =>
    setSelection({ keys, ticked: ticked && keys.length > 0 });
  const [check, setCheck] = useState<Check>({ problems: entry.problems ?? [], state: 'checking' });
  const [saving, setSaving] = useState<SaveState>('saved');
  const [asked, setAsked] = useState(0);
  const [strict, setStrict] = useState(false);
  const [refused, setRefused] = useState<unknown>();
  const [chosen, setLang] = useState('');
  const language = useLanguage((s) => s.language);
  const lang = chosen || language;
  const saved = useRef({ rev: entry.draft_rev, doc: history.present, text: entry.draft ?? '' });
  const newest = useRef(history.present);
  const inFlight = useRef<Promise<boolean>>(undefined);
  const doc = history.present;
  newest.current = doc;

  useEffect(() => {
    let old = false;
    setCheck((c) => ({ ...c, state: 'checking' }));
    const timer = setTimeout(() => {
      const text = JSON.stringify(write(kind, doc));
      void Promise.allSettled([validate(kind, text), timelineOf(kind, text, lang)]).then(([validity, timeline]) => {
        if (old) return;
        if (validity.status === 'rejected') setCheck((c) => ({ ...c, state: 'failed' }));
        else {
          const problems = validity.value.problems ?? [];
          if (!problems.some(isUnfinished)) setStrict(false);
          setCheck({
            problems,
            ...(timeline.status === 'fulfilled' && { timeline: timeline.value, drawn: doc }),
            state: 'checked',
          });
        }
      });
    }, beforeCheck);
    return () => {
      old = true;
      clearTimeout(timer);
    };
  }, [kind, doc, lang, asked]);

  const flush = useCallback(
    async (over?: number | '*'): Promise<boolean> => {
      while (inFlight.current) await inFlight.current; // of several that wait, the next one saves first
      if (newest.current === saved.current.doc && over === undefined) return true;
      const sent = newest.current;
      const send = async () => {
        setSaving('saving');
        try {
          const { rev, text } = saved.current;
          const content = write(kind, sent);
          const kept = hasComments(text) ? rewrite(text, content) : undefined;
          const { entry: stored } = await (kept === undefined
            ? save(kind, entry.id, content, over ?? rev)
            : saveText(kind, entry.id, kept, over ?? rev));
          saved.current = { rev: stored.draft_rev, doc: sent, text: stored.draft ?? '' };
          setRefused(undefined);
          setSaving(newest.current === sent ? 'saved' : 'dirty');
          return true;
        } catch (thrown) {
          setRefused(thrown);
          setSaving(problemOf(thrown).status === 412 ? 'conflict' : 'failed');
          return false;
        }
      };
      inFlight.current = send().finally(() => (inFlight.current = undefined));
      return inFlight.current;
    },
    [kind, entry.id],
  );

  useEffect(() => {
    if (!mayEdit || saving === 'conflict') return undefined;
    if (doc === saved.current.doc) {
      setSaving((was) => (was === 'dirty' ? 'saved' : was)); // a change was undone before it was saved
      return undefined;
    }
    setSaving('dirty');
    const timer = setTimeout(() => void flush(), beforeSave);
    return () => clearTimeout(timer);
  }, [doc, mayEdit, flush]);

  // What was typed in the last second is saved when the page is left.
  useEffect(() => {
    const warn = (e: BeforeUnloadEvent) => {
      if (newest.current !== saved.current.doc) e.preventDefault();
    };
    window.addEventListener('beforeunload', warn);
    return () => {
      window.removeEventListener('beforeunload', warn);
      void flush().then((kept) => {
        const t = useEditorTexts.now();
        if (!kept) toast({ color: 'red', title: t.state.failed, message: t.lost(entry.id), autoClose: false });
        return refresh();
      });
    };
  }, [flush]);

  const change = (next: Doc, tag?: string) => {
    if (!mayEdit) return;
    newest.current = next; // for a flush before this change is drawn
    setHistory((h) => commit(h, next, Date.now(), tag));
  };
  return {
    kind,
    id: entry.id,
    doc,
    selected: selection.keys,
    ticked: selection.ticked,
    select,
    change,
    undo: history.past.length > 0 && mayEdit ? () => setHistory(undo) : undefined,
    redo: history.future.length > 0 && mayEdit ? () => setHistory(redo) : undefined,
    check,
    saving: mayEdit ? saving : 'readonly',
    refused,
    flush,
    draftRev: saved.current.rev,
    take: (e) => {
      const next = read(kind, (e.content ?? {}) as Fields);
      saved.current = { rev: e.draft_rev, doc: next, text: e.draft ?? '' };
      newest.current = next;
      setHistory((h) => commit(h, next, Date.now()));
      setRefused(undefined);
      setSaving('saved');
      select([]);
    },
    mayEdit,
    strict,
    recheck: () => setAsked((n) => n + 1),
    treatMissingAsErrors: () => setStrict(true),
    lang,
    setLang,
  };
}
