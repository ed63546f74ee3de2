/** What the library holds. */
export type Kind = 'act' | 'story' | 'activity';

/** The plural of a kind in paths. */
export const plural = { act: 'acts', story: 'stories', activity: 'activities' } as const;
