import { closeSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { basename, dirname } from 'node:path'
import { openOwnDirectory } from '../trust/plain-files.ts'

/** sun_path of sockaddr_un has 108 bytes, the closing zero included (unix(7)). */
const MAX_SOCKET_PATH_BYTES = 107

/** The path of a `unix:` endpoint (C117), or of a plain path (C5); undefined for any other scheme. */
export function unixSocketPath(endpoint: string): string | undefined {
  if (endpoint.startsWith('/')) return endpoint
  return /^unix:(?:\/\/)?(\/.*)$/.exec(endpoint)?.[1]
}

/**
 * Connects to a unix socket. A path that is too long for a socket address is reached through a descriptor of its directory, so
 * that a long root directory is no obstacle.
 */
export function connectUnixSocket(path: string): Socket {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return connect({ path })
  const directory = openOwnDirectory(dirname(path))
  const socket = connect({ path: `/proc/self/fd/${directory}/${basename(path)}` })
  let open = true
  const release = (): void => {
    if (open) closeSync(directory)
    open = false
  }
  return socket.once('connect', release).once('close', release)
}
