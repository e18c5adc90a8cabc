/** What this machine cannot do: a trial that needs it is skipped, and says why. */
export class Unavailable extends Error {}
