import { useEffect, useMemo, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';

import { OwnAddresses } from './ownAddresses';

/** ms after the last key until the address follows the filter. */
const calm = 250;

/** The fields of a filter: what they hold, and what is set. */
export interface Filter<K extends string> {
  values: Record<K, string>;
  set: Partial<Record<K, string>>;
  any: boolean;
  put: (name: K, value: string) => void;
  clear: () => void;
}

/**
 * The filter of a list. It is in the address of the page, so that a link shows the same. A field
 * follows each key at once and the address a moment later: a router that is busy loses no letter.
 */
export function useFilter<K extends string>(names: readonly K[]): Filter<K> {
  const [query, setQuery] = useSearchParams();
  const [values, setValues] = useState(() => read(names, query));
  const newest = useRef(values);
  const [own] = useState(() => new OwnAddresses(query.toString()));
  const timer = useRef<number>(undefined);
  const show = (next: Record<K, string>) => {
    newest.current = next;
    setValues(next);
  };
  useEffect(() => {
    if (!own.isForeign(query.toString())) return;
    clearTimeout(timer.current);
    show(read(names, query));
  }, [query]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (next: Record<K, string>) => {
    show(next);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      const q = new URLSearchParams(own.newest);
      for (const n of names)
        if (newest.current[n]) q.set(n, newest.current[n]);
        else q.delete(n);
      own.write(q.toString());
      setQuery(q, { replace: true });
    }, calm);
  };
  // The same object as long as the values are the same: what is debounced starts again with each new one.
  const set = useMemo(
    () => Object.fromEntries(Object.entries(values).filter(([, v]) => v)) as Filter<K>['set'],
    [values],
  );
  return {
    values,
    set,
    any: Object.keys(set).length > 0,
    put: (name, value) => change({ ...newest.current, [name]: value }),
    clear: () => change(read(names, new URLSearchParams())),
  };
}

function read<K extends string>(names: readonly K[], query: URLSearchParams): Record<K, string> {
  return Object.fromEntries(names.map((n) => [n, query.get(n) ?? ''])) as Record<K, string>;
}
