/** CSI drivers' sockets of which something is wrong, each with a diagnosis of its own (C24-C29). */
import type { CsiSocket } from '../../model/snapshot.ts'
import type { Findings } from '../../plan/draft.ts'
import type { PlanContext } from '../context/context.ts'
import { isSilent } from '../drivers/why-no-driver.ts'

export function reportDrivers({ inputs }: PlanContext, findings: Findings): void {
  const sockets = inputs.snapshot.csiSockets ?? []
  for (const socket of sockets) reportSocket(socket, sockets, findings)
}

function reportSocket(socket: CsiSocket, sockets: readonly CsiSocket[], findings: Findings): void {
  const { path, driver, endpoint, registered, error = 'it does not answer' } = socket
  if (driver === undefined) {
    if (!isSilent(socket)) return
    findings.problem(
      'warning',
      'DriverSocketSilent',
      `nobody answers behind socket ${path}: ${error}`,
      { path },
      'A driver that died leaves it behind: bring its node pod back, or remove the socket if the driver is gone.',
    )
    return
  }
  const twin = sockets.find((other) => other !== socket && other.driver === driver)
  if (!registered && twin !== undefined) {
    findings.problem(
      'warning',
      'DriverSocketTwice',
      `two sockets are of driver ${driver}, and ${path} is not the one that is called: ${error}`,
      { path },
      "Remove the socket of the driver's former installation.",
    )
    return
  }
  if (!registered) {
    findings.problem(
      'warning',
      'DriverDead',
      `CSI driver ${driver} cannot be called on ${endpoint ?? path}: ${error}`,
      { path },
      "Bring the driver's node pod back; look at the log of its driver container.",
    )
    return
  }
  reportAnswering(socket, driver, findings)
}

function reportAnswering({ path, endpoint, error }: CsiSocket, driver: string, findings: Findings): void {
  if (endpoint?.startsWith('/')) {
    findings.problem(
      'info',
      'DriverEndpointOutside',
      `CSI driver ${driver} listens on ${endpoint}, outside the kubelet's root directory`,
      { path: endpoint },
    )
  }
  if (error === undefined) return
  findings.problem(
    'warning',
    'DriverNotKnown',
    `CSI driver ${driver} answers on ${endpoint ?? path}, and the kubelet does not know it: ${error}`,
    { path },
    "Look at the registrar container of the driver's node pod.",
  )
}
