/** How an API server is reached, and with which identity. */
import type { Agent as PlainAgent } from 'node:http'
import type { Agent, RequestOptions } from 'node:https'
import { BlockList, isIP } from 'node:net'
import { environment } from '../../trust/run.ts'
import type { Insecure } from '../api/resources.ts'

const ENDING = Symbol('ending')

/** For the options of a request: its connection is closed when the signal is aborted. @param signal aborted only if the request fails */
export function endingWith(signal: AbortSignal): RequestOptions {
  return { [ENDING]: signal } as RequestOptions
}

/**
 * The agent, whose connections end with the request that they were made for. A request of Node.js only owns its socket once it is
 * connected. While it is being connected through a proxy, an abandoned request would leave the connection open to a proxy that
 * never answers.
 */
export function ending<Pool extends PlainAgent>(agent: Pool): Pool {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    // With a proxy, the socket to the proxy.
    const socket = connect(options, callback)
    const { [ENDING]: signal } = options as { [ENDING]?: AbortSignal }
    signal?.addEventListener('abort', () => socket?.destroy(), { once: true })
    return socket
  }
  return agent
}

/** Where a credential came from, as in `api.credential`, unless it is a node's identity. */
export type CredentialKind = 'kubeconfig' | 'admin' | 'kubelet' | 'in-cluster'

/** What node:https needs to connect and to authenticate. */
export interface ConnectionOptions {
  readonly ca?: Buffer
  readonly cert?: Buffer | string
  readonly key?: Buffer | string
  readonly servername?: string
  readonly rejectUnauthorized: boolean
  readonly auth?: string
  readonly headers: Readonly<Record<string, string | string[]>>
  /** The URL of a proxy of HTTP, to connect through. */
  readonly proxy?: string
  /** Connects through a proxy of SOCKS. Its library abandons a connection after 30 s. */
  readonly agent?: Agent
  /** False: the kubeconfig disables compression. */
  readonly compression: boolean
}

/** A credential for one API server. Holds no secret before `load`. */
export interface KubeCredentials {
  /** File, files or "in-cluster", for messages. */
  readonly source: string
  readonly kind: CredentialKind
  readonly server: string
  /** Why anyone on the network path could answer in the server's place (S34); absent: nobody could. */
  readonly insecure?: Insecure
  /** Reads files and runs plugins again, since certificates rotate and tokens expire (N42, N43, N44). */
  load(signal?: AbortSignal): Promise<ConnectionOptions>
}

// The proxy that the environment names for a server, by the rules of kubectl, which are Go's (golang.org/x/net/http/httpproxy).
// Those of Node.js differ: its NO_PROXY knows no networks (10.96.0.0/12), and `example.com` names no host below it.

/** Undefined: the server is asked directly. */
export function environmentProxy(server: URL, env: NodeJS.ProcessEnv = environment()): URL | undefined {
  const named = server.protocol === 'https:' ? env.HTTPS_PROXY || env.https_proxy : env.HTTP_PROXY || env.http_proxy
  if (!named) return undefined
  const host = bare(server.hostname)
  if (isLoopback(host) || isExcepted(host, portOf(server), env.NO_PROXY || env.no_proxy || '')) return undefined
  // Without a scheme it is an HTTP proxy.
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(named) ? named : `http://${named}`
  return URL.canParse(address) ? new URL(address) : undefined
}

/** This host itself, to which no proxy leads. @param host without brackets */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** As addresses stand outside of URLs. */
export function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80')
}

function isExcepted(host: string, port: string, list: string): boolean {
  const entries = list.split(',').map((each) => each.trim().toLowerCase())
  return entries.some((entry) => entry === '*' || matchesNetwork(entry, host) || matchesName(entry, host, port))
}

/** NETWORK/BITS. */
function matchesNetwork(entry: string, host: string): boolean {
  const [, network = '', length = ''] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? []
  const [family, bits] = [isIP(network), Number(length)]
  if (family === 0 || family !== isIP(host) || bits > (family === 4 ? 32 : 128)) return false
  const version = family === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(network, bits, version)
  return list.check(host, version)
}

/** An address; or a name, also of all hosts below it; each with a port or for any. */
function matchesName(entry: string, host: string, port: string): boolean {
  const [, inBrackets, before, given] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? []
  const name = inBrackets ?? before ?? entry
  if (name === '' || (given !== undefined && given !== port)) return false
  // An IPv6 address can be written in many ways.
  if (isIP(name) !== 0) return matchesNetwork(`${name}/${isIP(name) === 4 ? 32 : 128}`, host)
  if (isIP(host) !== 0) return false
  const below = name.startsWith('*.') ? name.slice(1) : name
  return below.startsWith('.') ? host.endsWith(below) : host === below || host.endsWith(`.${below}`)
}
