/** What a completion script asks for with `volctl __complete KIND CURRENT WORD…`. */
export const LIVE_KINDS = ['pod', 'namespace', 'volume', 'driver', 'context', 'node', 'thing'] as const

/** `thing`: whatever `explain` takes. */
export type LiveKind = (typeof LIVE_KINDS)[number]
