import { expect, it } from 'vitest'
import pjson from '../../package.json' with { type: 'json' }
import schema from '../../schema/version.schema.json' with { type: 'json' }
import { schemaCheck } from '../helpers/closed-schema.ts'
import { volctl } from './run-volctl.ts'

it('names volctl, Node.js, the platform, and the kubelets that it was tested with', async () => {
  const { status, stdout, stderr } = await volctl(['version'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(
    /^volctl: {4}\d+\.\d+\.\d+ \(commit (?:[0-9a-f]{40}(?:-dirty)?|unknown)\)\nNode\.js: {3}\d+\.\d+\.\d+\nPlatform: {2}linux-\S+\nKubelets: {2}tested with 1\.\d+ to 1\.\d+\n$/,
  )
})

it('as JSON, by its schema', async () => {
  const { stdout } = await volctl(['version', '-o', 'json'])
  const version = JSON.parse(stdout)
  expect(schemaCheck(schema)(version)).toEqual([])
  expect(version).toMatchObject({ kind: 'Version', volctl: pjson.version })
})
