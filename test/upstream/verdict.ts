/** What volctl's tests say of one case of an upstream test. */
import { type Shown, shown } from '../helpers/titles.ts'

export type Verdict =
  /** The same behaviour, and the tests that show it. */
  | { readonly shown: readonly Shown[] }
  /** Another behaviour on purpose: the rule that asks for it, and the tests that show what volctl does instead. */
  | { readonly instead: string; readonly shown: readonly Shown[] }
  /** Nothing that a one-shot tool does. */
  | { readonly notApplicable: string }

/** Upstream file, test in it, case of the test (in our words), verdict. */
export type Table = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Verdict>>>>>>

/** @param file from test/, without `.test.ts` */
export function by(file: string, ...titles: readonly string[]): Verdict {
  return { shown: shown(file, ...titles) }
}

/**
 * Of several files, each with its titles.
 *
 * @throws where one of them is no plain `shown`: its reason would be lost
 */
export function byAll(...verdicts: readonly Verdict[]): Verdict {
  return {
    shown: verdicts.flatMap((verdict) => {
      if ('notApplicable' in verdict || 'instead' in verdict)
        throw new Error(`not shown as it is: ${JSON.stringify(verdict)}`)
      return verdict.shown
    }),
  }
}

/** @param why names the rule that volctl follows instead */
export function instead(why: string, ...verdicts: readonly Verdict[]): Verdict {
  return { ...byAll(...verdicts), instead: why }
}

export function not(notApplicable: string): Verdict {
  return { notApplicable }
}
