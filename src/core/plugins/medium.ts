/** Where an emptyDir keeps its data (P36). */
import type { VolumeToMount } from '../desired/desired-state.ts'

const HUGE_PAGES = 'HugePages'

export type Medium =
  | { readonly kind: 'disk' }
  | { readonly kind: 'memory' }
  /** `size` from the medium's name, e.g. 2Mi; undefined: the one size that the pod requests. */
  | { readonly kind: 'hugePages'; readonly name: string; readonly size?: string }
  | { readonly kind: 'unknown'; readonly name: string }

export function mediumOf({ source }: Pick<VolumeToMount, 'source'>): Medium {
  const name = source?.emptyDir?.medium ?? ''
  if (name === '') return { kind: 'disk' }
  if (name === 'Memory') return { kind: 'memory' }
  if (name === HUGE_PAGES) return { kind: 'hugePages', name }
  if (name.startsWith(`${HUGE_PAGES}-`)) return { kind: 'hugePages', name, size: name.slice(HUGE_PAGES.length + 1) }
  return { kind: 'unknown', name }
}
