import { type Channel, FrameWriter } from '../../src/core/through-pod/frames.ts'

/** The log of a Pod in which volctl has answered. @param first number of the first frame */
export function frameLines(frames: readonly (readonly [channel: Channel, text: string])[], first = 0): string {
  const lines: string[] = []
  const writer = new FrameWriter((line) => lines.push(line))
  // What comes before is only counted.
  for (let each = 0; each < first; each++) writer.send('out', Buffer.from('x'))
  lines.length = 0
  for (const [channel, text] of frames) writer.send(channel, Buffer.from(text))
  return lines.join('')
}
