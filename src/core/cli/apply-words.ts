import { isThroughPod } from '../trust/called-as.ts'
import { clusterFlags } from './cluster-flags.ts'
import { apiFlags, nodeFlags } from './node-flags.ts'
import { planFlags } from './plan-flags.ts'

/** The flags of a `plan` that an `apply` of the same needs, as a person would type them again. */
export function applyWords(flags: Readonly<Record<string, unknown>>): string[] {
  return Object.keys({ ...planFlags, ...apiFlags, ...nodeFlags, ...clusterFlags }).flatMap((name) => {
    // `volctl on` gives it by itself.
    if (name === 'host-root' && isThroughPod()) return []
    const value = flags[name]
    if (value === true) return [`--${name}`]
    return [value].flat().flatMap((each) => (typeof each === 'string' ? [`--${name}`, each] : []))
  })
}
