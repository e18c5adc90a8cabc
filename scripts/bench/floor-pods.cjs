/**
 * What a plan of a healthy node cannot do without: the same requests, in the same two rounds, and the same files. Nothing of it is
 * compared.
 */
const { once } = require('node:events')
const { lstatSync, readdirSync, readFileSync, readlinkSync } = require('node:fs')

/** Volumes that an atomic writer fills. */
const ATOMIC = /^kubernetes\.io~(configmap|secret|projected|downward-api)$/
/** What is asked for once the pods are known. */
const SECOND = /\/(configmaps|secrets|persistentvolumes|persistentvolumeclaims|volumeattachments|csidrivers)\b/
/** As volctl has them. */
const CONNECTIONS = 4

/**
 * @param requests a file with what a plan has asked the API server for: lists of `method` and `path`
 * @param runtime the runtime's socket
 */
module.exports = async (root, kubeconfig, requests, runtime) => {
  const all = JSON.parse(readFileSync(requests, 'utf8'))
  const ask = api(kubeconfig)
  const first = Promise.all(all.filter(({ path }) => !SECOND.test(path)).map(ask))
  const sandboxes = Promise.all(['ListPodSandbox', 'ListContainers'].map((method) => call(runtime, method)))
  readFileSync('/proc/self/mountinfo')
  files(root)
  await first
  await Promise.all(all.filter(({ path }) => SECOND.test(path)).map(ask))
  await sandboxes
  process.exit()
}

function api(kubeconfig) {
  const https = require('node:https')
  const { clusters, users } = JSON.parse(readFileSync(kubeconfig, 'utf8'))
  const [{ cluster }] = clusters
  const [{ user }] = users
  const decoded = (text) => Buffer.from(text, 'base64')
  const agent = new https.Agent({
    keepAlive: true,
    maxSockets: CONNECTIONS,
    ca: decoded(cluster['certificate-authority-data']),
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  })
  return async ({ method, path }) => {
    const request = https.request(`${cluster.server}${path}`, {
      agent,
      method,
      headers: { 'content-type': 'application/json' },
    })
    request.end(method === 'POST' ? '{}' : undefined)
    const [answer] = await once(request, 'response')
    const pieces = []
    for await (const piece of answer) pieces.push(piece)
    return JSON.parse(Buffer.concat(pieces).toString())
  }
}

/** An empty message, in the frame of gRPC. */
const EMPTY = Buffer.alloc(5)

async function call(socket, method) {
  const { connect } = require('node:http2')
  const session = connect('http://localhost', { createConnection: () => require('node:net').connect(socket) })
  const stream = session.request({
    ':method': 'POST',
    ':path': `/runtime.v1.RuntimeService/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  stream.resume().end(EMPTY)
  await once(stream, 'close')
  session.destroy()
}

/** The pods' directories and the markers of their volumes, and what an atomic writer has written. */
function files(root) {
  for (const uid of readdirSync(`${root}/pods`)) {
    const pod = `${root}/pods/${uid}`
    for (const entry of readdirSync(pod)) {
      if (entry !== 'volumes') continue
      for (const plugin of readdirSync(`${pod}/volumes`)) {
        for (const name of readdirSync(`${pod}/volumes/${plugin}`)) {
          if (ATOMIC.test(plugin)) written(`${pod}/volumes/${plugin}/${name}`)
          if (/empty-dir|configmap/.test(plugin)) marker(pod, plugin.endsWith('dir') ? name : `wrapped_${name}`)
        }
      }
    }
  }
}

function written(volume) {
  readdirSync(volume)
  const generation = `${volume}/${readlinkSync(`${volume}/..data`)}`
  for (const file of readdirSync(generation)) readFileSync(`${generation}/${file}`)
}

function marker(pod, name) {
  lstatSync(`${pod}/plugins/kubernetes.io~empty-dir/${name}/ready`, { throwIfNoEntry: false })
}
