/** CSI drivers that answered when the node was looked at. */
import type { CsiSocket } from '../model/snapshot.ts'
import type { ActualInputs } from './actual-inputs.ts'

/** The socket of a driver that answered just now, if there is one (R045, C26). */
export function registeredDriver(inputs: ActualInputs, driver: string): CsiSocket | undefined {
  return (inputs.snapshot.csiSockets ?? []).find((socket) => socket.driver === driver && socket.registered)
}

/** Does the driver stage; true where its capabilities are not known (skipping an unstage leaks, R806). */
export function stages(socket: CsiSocket | undefined): boolean {
  return socket?.capabilities === undefined || socket.capabilities.includes('STAGE_UNSTAGE_VOLUME')
}
