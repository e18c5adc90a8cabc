/**
 * Agents whose connections end with the request that they were made for. A request of Node.js only owns its socket once it is
 * connected. While it is being connected through a proxy, an abandoned request would leave the connection open to a proxy
 * that never answers.
 */
import { Agent as PlainAgent } from 'node:http'
import { Agent, type RequestOptions } from 'node:https'

const ENDING = Symbol('ending')

/** For the options of a request: its connection is closed when the signal is aborted. @param signal aborted only if the request fails */
export function endingWith(signal: AbortSignal): RequestOptions {
  return { [ENDING]: signal } as RequestOptions
}

function endingOf(options: object): AbortSignal | undefined {
  return (options as { [ENDING]?: AbortSignal })[ENDING]
}

type Make = Agent['createConnection']
type MakeArguments = Parameters<Make>

/** Connects as Node.js does, with or without a proxy from the environment; with one, the socket to the proxy is returned. */
function madeEnding(make: (...args: MakeArguments) => ReturnType<Make>, ...[options, callback]: MakeArguments) {
  const socket = make(options, callback)
  endingOf(options)?.addEventListener('abort', () => socket?.destroy(), { once: true })
  return socket
}

export class EndingAgent extends Agent {
  override createConnection(...args: MakeArguments): ReturnType<Make> {
    return madeEnding((...given) => super.createConnection(...given), ...args)
  }
}

export class EndingPlainAgent extends PlainAgent {
  override createConnection(...args: MakeArguments): ReturnType<Make> {
    return madeEnding((...given) => super.createConnection(...given), ...args)
  }
}

/**
 * The same for hpagent's agents, which send the proxy a separate request with these options. For SOCKS that is not
 * possible, but its library abandons a connection after 30 s.
 */
export function endProxied(agent: Agent): Agent {
  const proxied = agent as Agent & { proxyRequestOptions?: object }
  if (proxied.proxyRequestOptions === undefined) return agent
  const make = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    proxied.proxyRequestOptions = { signal: endingOf(options) }
    return make(options, callback)
  }
  return agent
}
