/** The trimmed client-node of scripts/esbuild-plugins.ts, in the bundle as it is shipped, which uses it for a proxy of SOCKS. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { TEST_BUNDLE } from '../helpers/volctl-program.ts'
import { robotPlace, startSocksProxy, writeKubeconfig } from './connect.ts'

const place = robotPlace('a-token')

it('has neither the generated API nor undici', () => {
  const bundle = readFileSync(join(TEST_BUNDLE, '..', '..', 'dist', 'volctl.cjs'), 'utf8')
  expect(bundle).not.toMatch(/ReplicationController|ObjectSerializer|MockAgent/)
})

it('connects through a proxy of SOCKS', async () => {
  await using proxy = await startSocksProxy()
  const kubeconfig = writeKubeconfig(place.directory, place.server, { token: 'a-token' }, { 'proxy-url': proxy.url })
  const { stderr } = await execa(TEST_BUNDLE, ['plan', '--cluster', '--kubeconfig', kubeconfig], { reject: false })
  expect(stderr).toContain('User "robot" cannot list')
  expect(proxy.tunnels[0]).toBe(new URL(place.server.url).host)
})
