/** Every CSI driver that this node, its API or its volumes name. */
import { compareText } from '../lang/compare-text.ts'
import type { PlanContext } from '../reconcile/context/context.ts'

export function driverNames({ inputs, ledger }: PlanContext): readonly string[] {
  const { api, csiSockets = [], nodeName } = inputs.snapshot
  const names = [
    ...csiSockets.map(({ driver }) => driver),
    ...(api?.csiNode?.spec.drivers ?? []).map(({ name }) => name),
    ...(api?.csiDrivers ?? []).map(({ metadata }) => metadata.name),
    ...(api?.volumeAttachments ?? []).filter(({ spec }) => spec.nodeName === nodeName).map(({ spec }) => spec.attacher),
    ...ledger.all.map(({ identity }) => identity?.driver),
  ]
  return [...new Set(names.flatMap((name) => name || []))].toSorted(compareText)
}
