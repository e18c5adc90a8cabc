/** Whether an API server is on this machine: then it may end with the unit that is stopped (S35). */
import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { inTime } from '../processes/deadline.ts'

const DEADLINE_MS = 2000

export interface ApiPlace {
  readonly port: number
  /** By an address of this machine; or its name leads nowhere, and so it may be. */
  readonly here: boolean
}

/** @param server its URL */
export async function apiPlace(server: string): Promise<ApiPlace> {
  const { hostname, port, protocol } = new URL(server)
  return {
    port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    here: (await addressesOf(hostname.replace(/^\[|\]$/g, ''))).some(isOwn),
  }
}

/** A name that leads nowhere counts as this machine's. */
async function addressesOf(host: string): Promise<readonly string[]> {
  try {
    const found = await inTime(lookup(host, { all: true }), DEADLINE_MS, () => new Error('no answer'))
    return found.map(({ address }) => address)
  } catch {
    return ['127.0.0.1']
  }
}

function isOwn(address: string): boolean {
  if (/^(127\.|::1$|::ffff:127\.|0\.0\.0\.0$|::$)/.test(address)) return true
  return Object.values(networkInterfaces()).some((all) => all?.some((each) => each.address === address))
}
