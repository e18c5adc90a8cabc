/** What no run of volctl takes more of, whatever it is given to read. */
export const DEADLINE_MS = 60_000
export const LIMIT_MIB = 500
