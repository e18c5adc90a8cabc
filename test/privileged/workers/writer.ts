/** Writes one volume again and again until it is killed. Arguments: directory, round. */
import { content, setData, writing } from '../set-up/writing.ts'

const [directory = '', round] = process.argv.slice(2)
const node = writing(directory)
process.stdout.write('writing')
for (let count = 0; ; count++) {
  setData(node, content(Number(round) * 1000 + count))
  await node.apply({ remount: true })
}
