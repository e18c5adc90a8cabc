/** CSI drivers that answered when the snapshot was taken. */
import type { CsiSocket } from '../model/snapshot.ts'
import type { ActualInputs } from './actual-inputs.ts'

/** The socket of a registered driver, if it answered (R045, C26). */
export function registeredDriver(inputs: ActualInputs, driver: string): CsiSocket | undefined {
  return (inputs.snapshot.csiSockets ?? []).find((socket) => socket.driver === driver && socket.registered)
}

/** Does the driver stage volumes? True if its capabilities are not known: skipping an unstage would leak (R806). */
export function stages(socket: CsiSocket | undefined): boolean {
  return socket?.capabilities === undefined || socket.capabilities.includes('STAGE_UNSTAGE_VOLUME')
}
