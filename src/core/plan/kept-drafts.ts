/** --only and --skip, of either scope: what depends on something left out is left out, too, and counted (contract). */

/** @param isNamed by --pod, --volume and their like @returns the drafts that stay, in order, and how many were left out */
export function keptOf<K, D extends { readonly kind: K; readonly after: readonly D[] }>(
  drafts: readonly D[],
  { only, skip }: { readonly only?: readonly K[]; readonly skip?: readonly K[] },
  isNamed: (draft: D) => boolean,
): { readonly kept: D[]; readonly filtered: number } {
  const dropped = new Set<D>()
  const kept: D[] = []
  for (const draft of drafts) {
    const isKind = only?.includes(draft.kind) !== false && skip?.includes(draft.kind) !== true
    const fits = isKind && isNamed(draft) && !draft.after.some((before) => dropped.has(before))
    if (fits) kept.push(draft)
    else dropped.add(draft)
  }
  return { kept, filtered: dropped.size }
}
