import { Button, Collapse, Group, MultiSelect, Select, Text, TextInput } from '@mantine/core';
import { useDisclosure, useInterval, useMediaQuery } from '@mantine/hooks';
import { IconFilter, IconSearch, IconX } from '@tabler/icons-react';
import { memo, useCallback, useEffect, useRef, useState } from 'react';

import { allDoing, type Doing } from '../../live/performing';
import { usePerformingTexts } from '../../live/PerformingBadge';
import { useModeWord } from '../../text/modes';
import { usePresenceWords } from '../../text/terms';
import { SlashKey } from '../../shell/SlashKey';
import { useNameOf } from '../library/api';
import { everything, type Filter, isEmpty, presences, type StoryState, storyStates } from './filter';
import { type Facets, facetsNow } from './list';
import { useRobotsTexts } from './text';

interface Props {
  filter: Filter;
  onChange: (f: Filter) => void;
  /** The site is chosen for the whole console. */
  siteIsChosen: boolean;
  /** The robots have arrived. */
  known: boolean;
}

/** The filters of the list. Each names what it filters; those that are set stand out. */
export function FilterBar({ filter, onChange, siteIsChosen, known }: Props) {
  const t = useRobotsTexts();
  const facets = useFacets(known);
  const wide = useMediaQuery('(min-width: 62em)') ?? true;
  const [open, { toggle }] = useDisclosure();
  const latest = useRef({ filter, onChange });
  latest.current = { filter, onChange };
  const set = useCallback((part: Partial<Filter>) => {
    const { filter, onChange } = latest.current;
    onChange({ ...filter, ...part });
  }, []);
  const fields = <Choices filter={filter} facets={facets} siteIsChosen={siteIsChosen} wide={wide} set={set} />;
  return (
    <Group gap={6} align="flex-start">
      <TextInput
        size={wide ? 'xs' : 'sm'}
        data-filter
        aria-label={t.filter.text}
        placeholder={t.filter.placeholder}
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={<SlashKey />}
        rightSectionPointerEvents="none"
        w={{ base: 'auto', xs: 160 }}
        flex={{ base: '1 1 200px', xs: 'none' }}
        maxLength={64}
        value={filter.text}
        onChange={(e) => set({ text: e.currentTarget.value })}
        onKeyDown={(e) => e.key === 'Escape' && e.currentTarget.blur()}
      />
      {wide ? (
        fields
      ) : (
        <Button
          variant="default"
          leftSection={<IconFilter size={16} aria-hidden />}
          aria-expanded={open}
          onClick={toggle}
        >
          {t.filter.more}
        </Button>
      )}
      {!isEmpty(filter) && (
        <Button
          variant="subtle"
          size={wide ? 'xs' : 'sm'}
          leftSection={<IconX size={16} aria-hidden />}
          onClick={() => onChange({ ...everything })}
        >
          {t.filter.clear}
        </Button>
      )}
      {!wide && !open && <Chosen filter={filter} />}
      {!wide && (
        <Collapse expanded={open} w="100%">
          {fields}
        </Collapse>
      )}
    </Group>
  );
}

/** What is chosen, in words, while the filters themselves are folded away. */
function Chosen({ filter }: { filter: Filter }) {
  const words = usePerformingTexts();
  const connection: Record<string, string> = usePresenceWords();
  const modeWord = useModeWord();
  const story = useNameOf('story');
  const t = useRobotsTexts();
  const parts = [
    filter.labels.map((l) => `${l.key}=${l.value}`),
    filter.doing.map((d) => words[d]),
    filter.modes.map(modeWord),
    filter.presence.map((p) => connection[p] ?? p),
    filter.story ? [story(filter.story)] : [],
    filter.storyState.map((s) => t.storyState[s]),
  ].flatMap((one) => (one.length > 0 ? [one.join(t.filter.or)] : []));
  if (parts.length === 0) return null;
  return (
    <Text size="sm" c="dimmed" w="100%" dir="auto" data-testid="chosen-filters">
      {t.filter.only(parts.join('; '))}
    </Text>
  );
}

interface ChoicesProps {
  filter: Filter;
  facets: Facets;
  siteIsChosen: boolean;
  wide: boolean;
  set: (part: Partial<Filter>) => void;
}

/** The filters that are chosen from lists. A key in the text does not draw them again. */
const Choices = memo(
  function Choices({ filter, facets, siteIsChosen, wide, set }: ChoicesProps) {
    const t = useRobotsTexts();
    const words = usePerformingTexts();
    const connection: Record<string, string> = usePresenceWords();
    const modeWord = useModeWord();
    const story = useNameOf('story');
    const site = filter.labels.find((l) => l.key === 'site')?.value ?? null;
    const others = filter.labels.filter((l) => l.key !== 'site');
    const labelOf = (text: string) => {
      const at = text.indexOf('=');
      return { key: text.slice(0, at), value: text.slice(at + 1) };
    };
    const name = (part: { label: string; placeholder?: string }) => ({
      'aria-label': part.label,
      placeholder: part.label,
    });
    return (
      <Group gap={6} role="group" aria-label={t.filter.group} style={wide ? { display: 'contents' } : undefined}>
        {!siteIsChosen && facets.sites.length > 0 && (
          <Select
            {...name({ label: t.filter.site })}
            data={facets.sites}
            value={site}
            clearable
            searchable
            w={110}
            size="xs"
            clearButtonProps={{ 'aria-label': t.filter.clear }}
            onChange={(v) => set({ labels: v ? [...others, { key: 'site', value: v }] : others })}
          />
        )}
        <Many
          label={t.filter.doing}
          width={140}
          data={allDoing.map((d) => ({ value: d, label: words[d] }))}
          value={filter.doing}
          onChange={(v) => set({ doing: v as Doing[] })}
        />
        <Many
          label={t.filter.mode}
          width={110}
          data={facets.modes.map((m) => ({ value: m, label: modeWord(m) }))}
          value={filter.modes}
          onChange={(modes) => set({ modes })}
        />
        <Many
          label={t.filter.presence}
          width={120}
          data={presences.map((p) => ({ value: p, label: connection[p] ?? p }))}
          value={filter.presence}
          onChange={(presence) => set({ presence })}
        />
        <Select
          {...name({ label: t.filter.story })}
          data={[...new Set([...facets.stories, ...(filter.story ? [filter.story] : [])])].map((id) => ({
            value: id,
            label: story(id),
          }))}
          value={filter.story || null}
          clearable
          searchable
          w={110}
          size="xs"
          clearButtonProps={{ 'aria-label': t.filter.clear }}
          onChange={(v) => set({ story: v ?? '' })}
        />
        <Many
          label={t.filter.storyState}
          width={130}
          data={storyStates.map((s) => ({ value: s, label: t.storyState[s] }))}
          value={filter.storyState}
          onChange={(v) => set({ storyState: v as StoryState[] })}
        />
        {facets.labels.length > 0 && (
          <Many
            label={t.filter.label}
            width={100}
            data={facets.labels.filter((l) => !l.startsWith('site=')).map((l) => ({ value: l, label: l }))}
            value={others.map((l) => `${l.key}=${l.value}`)}
            onChange={(v) => set({ labels: [...filter.labels.filter((l) => l.key === 'site'), ...v.map(labelOf)] })}
          />
        )}
      </Group>
    );
  },
  (a, b) =>
    a.facets === b.facets &&
    a.siteIsChosen === b.siteIsChosen &&
    a.wide === b.wide &&
    (Object.keys(everything) as (keyof Filter)[]).every((k) => k === 'text' || a.filter[k] === b.filter[k]),
);

interface ManyProps {
  label: string;
  width: number;
  data: { value: string; label: string }[];
  value: string[];
  onChange: (v: string[]) => void;
}

function Many({ label, width, data, value, onChange }: ManyProps) {
  return (
    <MultiSelect
      aria-label={label}
      placeholder={value.length === 0 ? label : undefined}
      data={data}
      value={value}
      onChange={onChange}
      size="xs"
      miw={width}
      w={value.length > 0 ? undefined : width}
      maw={280}
      comboboxProps={{ width: 240, position: 'bottom-start' }}
      hidePickedOptions={false}
    />
  );
}

/** What there is to choose from; looked up every few seconds. */
function useFacets(known: boolean): Facets {
  const [facets, setFacets] = useState(facetsNow);
  const look = useInterval(
    () =>
      setFacets((before) => {
        const now = facetsNow();
        return JSON.stringify(now) === JSON.stringify(before) ? before : now;
      }),
    3000,
  );
  useEffect(() => {
    setFacets(facetsNow());
    look.start();
    return look.stop;
  }, [known]);
  return facets;
}
