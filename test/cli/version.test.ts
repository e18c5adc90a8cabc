import { expect, it } from 'vitest'
import pjson from '../../package.json' with { type: 'json' }
import { volctl } from '../helpers/run-main.ts'

const TEXT =
  /^volctl: {6}\d+\.\d+\.\d+ \(commit (?:[0-9a-f]{40}(?:-dirty)?|unknown)\)\nNode\.js: {5}\d+\.\d+\.\d+\nPlatform: {4}linux-\S+\nTested with: kubelets 1\.\d+ to 1\.\d+\n$/

it('volctl version prints what runs here', async () => {
  const [text, json] = await Promise.all([volctl(['version']), volctl(['version', '-o', 'json'])])
  expect(text).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(TEXT) })
  expect(JSON.parse(json.stdout)).toMatchObject({ kind: 'Version', volctl: pjson.version })
})
