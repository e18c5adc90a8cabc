/** What is wrong with the sockets of CSI drivers, one diagnosis each (C24-C29). */

import type { CsiSocket } from '../../facts/actual/snapshot.ts'
import type { Ledger } from '../../facts/ledger.ts'
import { causeOf, type ProblemCode } from '../../messages/codes.ts'
import type { Because } from '../../plan/cause.ts'
import type { Findings } from '../../plan/draft.ts'
import type { PlanContext } from '../context/context.ts'
import { isLate, isOf, isSilent } from '../drivers/driver-call.ts'

export function reportDrivers({ inputs, ledger }: PlanContext, findings: Findings): void {
  const sockets = inputs.snapshot.csiSockets ?? []
  const missing = missingDrivers(sockets, findings)
  for (const socket of sockets) {
    if (socket.driver === undefined) reportSilent(ledger, socket, missing, findings)
    else reportSocket(socket, socket.driver, sockets, findings)
  }
}

function reportSilent(ledger: Ledger, socket: CsiSocket, missing: readonly string[], findings: Findings): void {
  if (!isSilent(socket)) return
  const { path, error = 'no answer' } = socket
  const driver = missing.find((each) => isOf(socket, each)) ?? missing[0]
  findings.problem(
    'warning',
    'DriverUnavailable',
    `no CSI driver answers on socket ${path}: ${error}`,
    { path, subject: ledger.path(path) },
    'A driver that crashed leaves its socket behind: bring its node pod back, or remove the socket if the driver was uninstalled.',
    driver === undefined ? undefined : { subject: { driver }, follows: true },
  )
}

function reportSocket(socket: CsiSocket, driver: string, sockets: readonly CsiSocket[], findings: Findings): void {
  const { path, endpoint, registered, error } = socket
  const at = endpoint ?? path
  const why = error ?? 'no answer'
  const subject = { driver }
  const warn = (code: ProblemCode, message: string, hint?: string, because?: Because): void =>
    findings.problem('warning', code, message, { path, subject }, hint, because)
  if (registered && endpoint?.startsWith('/'))
    findings.problem(
      'info',
      'DriverRegistration',
      `CSI driver ${driver} listens on ${endpoint}, outside the kubelet's root directory`,
      { path: endpoint, subject },
    )
  if (registered && error !== undefined) {
    const message = `CSI driver ${driver} answers on ${at} but is not registered with the kubelet: ${error}`
    warn('DriverRegistration', message, undefined, { subject })
  }
  if (registered) return
  if (sockets.some((other) => other !== socket && other.driver === driver))
    warn(
      'DriverRegistration',
      `CSI driver ${driver} has two sockets, and ${path} is not the one in use: ${why}`,
      "Remove this socket, which the driver's former installation left behind.",
    )
  else if (isLate(socket))
    warn(
      'DriverUnavailable',
      `CSI driver ${driver} does not answer on ${at}: ${why}`,
      'It may be busy: plan again. If that does not help, read the log of its driver container.',
      { subject },
    )
  else
    warn(
      'DriverUnavailable',
      `CSI driver ${driver} cannot be called on ${at}: ${why}`,
      "Bring the driver's node pod back; read the log of its driver container.",
      { subject, follows: true },
    )
}

/** Drivers that something needs and that no socket names: what is said of them names each socket on which nobody answers. */
function missingDrivers(sockets: readonly CsiSocket[], findings: Findings): readonly string[] {
  const said = [
    ...findings.operations.map((draft) => ({ code: draft.blocked?.code, driver: draft.volume?.driver })),
    ...findings.waiting.map(({ code, volume }) => ({ code, driver: volume?.driver })),
    ...findings.problems.map(({ code, about: { driver } }) => ({ code, driver })),
  ]
  return said.flatMap(({ code, driver }) => {
    if (driver === undefined || causeOf(code) !== 'driver') return []
    return sockets.every((socket) => socket.driver !== driver) ? driver : []
  })
}
