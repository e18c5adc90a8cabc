/** One thing that stands between the working tree and a release. */
export interface Finding {
  /** What is wrong and where, without a full stop. */
  readonly what: string
  /** What to do about that. */
  readonly next: string
}
