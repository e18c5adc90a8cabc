import { closeSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { walkTo } from '../trust/walk.ts'

/** The path of a `unix:` endpoint (C117), or of a plain path (C5); undefined for any other scheme. */
export function unixSocketPath(endpoint: string): string | undefined {
  if (endpoint.startsWith('/')) return endpoint
  return /^unix:(?:\/\/)?(\/.*)$/.exec(endpoint)?.[1]
}

/**
 * Connects to a unix socket, by a descriptor: a way that leads into a file system that hangs does not hang this process (S36), and the
 * path may be longer than a socket address.
 *
 * @throws what the file system says
 */
export function connectUnixSocket(path: string): Socket {
  const { fd } = walkTo(path, { throughDoubt: true })
  const socket = connect({ path: `/proc/self/fd/${fd}` })
  let open = true
  const release = (): void => {
    if (open) closeSync(fd)
    open = false
  }
  return socket.once('connect', release).once('close', release)
}
