/** Which servers are asked through a proxy of the environment: as Go decides, by which kubectl does. */
import { expect, it } from 'vitest'
import { environmentProxy } from '../../src/core/kube/transport/connection.ts'

const PROXY = 'http://proxy.example:3128/'

const hrefOf = (server: string, env: NodeJS.ProcessEnv) => environmentProxy(new URL(server), env)?.href

it.each<{ server: string; not: string; direct: boolean }>([
  { server: 'https://10.96.0.1', not: '10.96.0.0/12', direct: true },
  { server: 'https://10.112.0.1', not: '10.96.0.0/12', direct: false },
  { server: 'https://[fd00::7]:6443', not: 'fd00::/8', direct: true },
  { server: 'https://10.1.2.3', not: '10.0.0.0/40', direct: false },
  { server: 'https://10.1.2.3', not: '10.1.2.3', direct: true },
  { server: 'https://10.1.2.3:6443', not: '10.1.2.3:6443', direct: true },
  { server: 'https://10.1.2.3:6443', not: '10.1.2.3:443', direct: false },
  { server: 'https://10.1.2.3', not: '10.1.2.3:443', direct: true },
  { server: 'https://[fd00::7]:6443', not: 'fd00:0:0::7', direct: true },
  { server: 'https://api.example.com', not: 'example.com', direct: true },
  { server: 'https://badexample.com', not: 'example.com', direct: false },
  { server: 'https://api.example.com', not: '.example.com', direct: true },
  { server: 'https://example.com', not: '.example.com', direct: false },
  { server: 'https://api.example.com', not: '*.example.com', direct: true },
  { server: 'https://api.example.com:6443', not: 'example.com:6443', direct: true },
  { server: 'https://api.example.com', not: '*', direct: true },
  { server: 'https://api.example.com', not: ',, ,:443,[],/8', direct: false },
  { server: 'https://localhost:6443', not: '', direct: true },
  { server: 'https://[::1]:6443', not: '', direct: true },
])('$server with NO_PROXY=$not is asked directly: $direct', ({ server, not, direct }) => {
  for (const env of [{ NO_PROXY: not }, { no_proxy: not }])
    expect(hrefOf(server, { HTTPS_PROXY: PROXY, ...env })).toBe(direct ? undefined : PROXY)
})

it.each<{ name: string; server?: string; env: NodeJS.ProcessEnv; proxy: string | undefined }>([
  { name: 'the lower case counts as well', env: { https_proxy: PROXY }, proxy: PROXY },
  { name: 'without a scheme it is HTTP', env: { HTTPS_PROXY: 'proxy.example:3128' }, proxy: PROXY },
  { name: 'HTTP_PROXY is for http', env: { HTTP_PROXY: PROXY }, proxy: undefined },
  { name: 'for http HTTP_PROXY', server: 'http://10.1.2.3', env: { HTTP_PROXY: PROXY }, proxy: PROXY },
  { name: 'what is no address is none', env: { HTTPS_PROXY: 'http://[' }, proxy: undefined },
])('$name', ({ server = 'https://10.1.2.3', env, proxy }) => expect(hrefOf(server, env)).toBe(proxy))
