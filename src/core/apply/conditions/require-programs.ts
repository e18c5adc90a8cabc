/** Programs that an operation needs: it is not started if one of them is missing. */

import type { Host } from '../../host/host.ts'
import type { Operation, StepOp } from '../../plan/plan.ts'

const NEEDED: Readonly<Partial<Record<StepOp, readonly string[]>>> = {
  iscsiLogin: ['iscsiadm', 'tee'],
  fcFind: ['tee'],
}

/** @throws VolctlError CommandMissing, naming the package */
export function requirePrograms({ steps }: Operation, host: Host): void {
  for (const { op } of steps) for (const program of NEEDED[op] ?? []) host.requireCommand(program)
}
