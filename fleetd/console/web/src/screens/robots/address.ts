import { useCallback, useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';

import { OwnAddresses } from '../../shell/ownAddresses';
import { type Filter, filterOf, queryOf } from './filter';
import type { SortColumn, Sorting } from './order';

/** ms after the last key until the address follows the filter. */
const calm = 250;

interface Shown {
  filter: Filter;
  sorting: Sorting;
}

function shownBy(query: URLSearchParams): Shown {
  const sort = query.get('sort') ?? 'problems';
  return {
    filter: filterOf(query),
    sorting: { column: sort.replace(/^-/, '') as SortColumn, desc: sort.startsWith('-') },
  };
}

function addressOf({ filter, sorting }: Shown): URLSearchParams {
  const q = queryOf(filter);
  if (sorting.column !== 'problems') q.set('sort', `${sorting.desc ? '-' : ''}${sorting.column}`);
  return q;
}

/**
 * Filter and order of the list. They are in the address, so that a link shows the same; the list
 * follows each key at once, the address a moment later.
 */
export function useAddress(): Shown & {
  show: (filter: Filter, sorting: Sorting) => void;
  query: string;
  /** The address of an assignment that waits for its robots; empty without one. */
  assignment: string;
} {
  const [query, setQuery] = useSearchParams();
  const assignment = query.get('assign') ?? '';
  const [shown, setShown] = useState(() => shownBy(query));
  const [own] = useState(() => new OwnAddresses(query.toString()));
  const timer = useRef<number>(undefined);
  useEffect(() => {
    if (!own.isForeign(query.toString())) return;
    clearTimeout(timer.current);
    setShown(shownBy(query));
  }, [query]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const show = useCallback(
    (filter: Filter, sorting: Sorting) => {
      setShown({ filter, sorting });
      clearTimeout(timer.current);
      timer.current = window.setTimeout(() => {
        const q = addressOf({ filter, sorting });
        if (assignment) q.set('assign', assignment);
        own.write(q.toString());
        setQuery(q, { replace: true });
      }, calm);
    },
    [setQuery, assignment, own],
  );
  return { ...shown, show, query: addressOf(shown).toString(), assignment };
}
