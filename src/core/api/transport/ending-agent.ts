/**
 * Agents whose connections end with the request that they are made for. Node's request owns its socket only once that is
 * there: on the way through a proxy it is not, and a request that is given up would leave it to a proxy that never answers.
 */
import { Agent as PlainAgent } from 'node:http'
import { Agent, type RequestOptions } from 'node:https'

const ENDING = Symbol('ending')

/** For the options of a request: the connection that is made for it ends with this. @param signal of its failure alone */
export function endingWith(signal: AbortSignal): RequestOptions {
  return { [ENDING]: signal } as RequestOptions
}

function endingOf(options: object): AbortSignal | undefined {
  return (options as { [ENDING]?: AbortSignal })[ENDING]
}

type Make = Agent['createConnection']
type MakeArguments = Parameters<Make>

/** Node's own way, with or without a proxy of the environment; the socket to the proxy is what it returns. */
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
 * The same for one of hpagent's, which asks its proxy by a request of its own, with these options. SOCKS has no such way:
 * its library gives a connection up after 30 s.
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
