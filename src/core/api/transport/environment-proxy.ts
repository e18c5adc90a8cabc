/**
 * The proxy that the environment names for a server, by the rules of kubectl, which are Go's (golang.org/x/net/http/httpproxy). Those of
 * Node.js differ: its NO_PROXY knows no networks (10.96.0.0/12), and `example.com` names no host below it.
 */
import { BlockList, isIP } from 'node:net'
import { environment } from '../../trust/environment.ts'

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

function matchesNetwork(entry: string, host: string): boolean {
  const [, network = '', length = ''] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? []
  const [family, bits] = [isIP(network), Number(length)]
  if (family === 0 || family !== isIP(host) || length === '' || bits > (family === 4 ? 32 : 128)) return false
  const list = new BlockList()
  const version = family === 4 ? 'ipv4' : 'ipv6'
  list.addSubnet(network, bits, version)
  return list.check(host, version)
}

/** An address; or a name, also of all hosts below it; each with a port or for any. */
function matchesName(entry: string, host: string, port: string): boolean {
  const [, inBrackets, before, given] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? []
  const name = inBrackets ?? before ?? entry
  if (name === '' || (given !== undefined && given !== port)) return false
  if (isIP(name) !== 0) return isSameAddress(name, host)
  if (isIP(host) !== 0) return false
  const below = name.startsWith('*.') ? name.slice(1) : name
  return below.startsWith('.') ? host.endsWith(below) : host === below || host.endsWith(`.${below}`)
}

/** An IPv6 address can be written in many ways. */
function isSameAddress(name: string, host: string): boolean {
  return name === host || (isIP(name) === 6 && isIP(host) === 6 && matchesNetwork(`${name}/128`, host))
}
