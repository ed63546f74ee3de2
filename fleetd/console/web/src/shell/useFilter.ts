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
  const values = Object.fromEntries(names.map((n) => [n, query.get(n) ?? ''])) as Record<K, string>;
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
  const set = Object.fromEntries(Object.entries(values).filter(([, v]) => v)) as Partial<Record<K, string>>;
  return { values, put, clear, set, any: Object.keys(set).length > 0 };
}
