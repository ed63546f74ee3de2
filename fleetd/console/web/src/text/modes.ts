import { inWords, useTermWords } from './terms';

/** A function that names a mode in a sentence, such as "automatic". A mode without a word here, such as follow, is called by its id. */
export function useModeWord(): (id: string) => string {
  const words: Record<string, string> = useTermWords().ModeID;
  return (id) => words[id] ?? id;
}

/** A function that names a mode on a button or in a list, such as "Automatic". own is the robot's name for it, used for a mode without a word here. */
export function useModeName(): (id: string, own?: string) => string {
  const words: Record<string, string> = useTermWords().ModeID;
  return (id, own) => {
    const name = inWords(own ? { [id]: own, ...words } : words, id);
    return name.charAt(0).toUpperCase() + name.slice(1);
  };
}
