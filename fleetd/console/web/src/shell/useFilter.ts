import { useMemo } from 'react';
import { useSearchParams } from 'react-router';

/** The fields of a filter: what they hold, and what is set. */
export interface Filter<K extends string> {
  values: Record<K, string>;
  set: Partial<Record<K, string>>;
  any: boolean;
  put: (name: K, value: string) => void;
  clear: () => void;
}

/** The filter of a list, kept in the address of the page. */
export function useFilter<K extends string>(names: readonly K[]): Filter<K> {
  const [query, setQuery] = useSearchParams();
  const text = query.toString();
  // The same object as long as the address is the same: what is debounced starts again with each new one.
  const { values, set } = useMemo(() => read(names, new URLSearchParams(text)), [text]);
  const put = (name: K, value: string) =>
    setQuery(
      (old) => {
        if (value) old.set(name, value);
        else old.delete(name);
        return old;
      },
      { replace: true },
    );
  const clear = () => setQuery({}, { replace: true });
  return { values, put, clear, set, any: Object.keys(set).length > 0 };
}

function read<K extends string>(names: readonly K[], query: URLSearchParams): Pick<Filter<K>, 'values' | 'set'> {
  const values = Object.fromEntries(names.map((n) => [n, query.get(n) ?? ''])) as Record<K, string>;
  return { values, set: Object.fromEntries(Object.entries(values).filter(([, v]) => v)) as Filter<K>['set'] };
}
