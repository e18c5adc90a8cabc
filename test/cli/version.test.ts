import { expect, it } from 'vitest'
import pjson from '../../package.json' with { type: 'json' }
import { volctl } from '../helpers/run-main.ts'

it('of volctl, of its Node.js, and of the kubelets that it was tested with', async () => {
  const [text, json] = await Promise.all([volctl(['version']), volctl(['version', '-o', 'json'])])
  expect(text).toMatchObject({ status: 0, stderr: '' })
  expect(text.stdout).toMatch(
    /^volctl: {6}\d+\.\d+\.\d+ \(commit (?:[0-9a-f]{40}(?:-dirty)?|unknown)\)\nNode\.js: {5}\d+\.\d+\.\d+\nPlatform: {4}linux-\S+\nTested with: kubelets 1\.\d+ to 1\.\d+\n$/,
  )
  expect(JSON.parse(json.stdout)).toMatchObject({ kind: 'Version', volctl: pjson.version })
})
