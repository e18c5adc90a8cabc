/** The answer to a log: its distinct troubles, what goes on before what is over, the most frequent first. Data, drawn by a view. */
import { about, named } from '../json/json-schema.ts'
import { count, flag, list, object, oneOf, optional, type ShapeOf, text } from '../json/shape.ts'
import { ANSWER, HEAD, line, sentenceName } from './line-explanation.ts'

const trouble = object({
  ...ANSWER,
  count,
  over: optional(about('A later line says that the volume was set up or taken down after all.', oneOf<true>(true))),
  firstTime: optional(about('As the lines have it.', text)),
  lastTime: optional(text),
  line: about('The last of its lines.', line),
  command: optional(about('What to type to know more.', text)),
})

/** One trouble of a log: the same sentence about the same thing. */
export interface LogTrouble extends ShapeOf<typeof trouble> {}

export const logExplanationShape = object({
  apiVersion: oneOf('volctl.io/v1'),
  kind: oneOf('LogExplanation'),
  ...HEAD,
  lines: object({
    total: about('In the log.', count),
    read: about('The last ones, which were read.', count),
    explained: about('Of these, lines that say a known trouble, or name a volume and are no plain news.', count),
  }),
  unfinished: about('The log did not end in time.', flag),
  troubles: list<LogTrouble>(named('trouble', trouble)),
  harmless: about(
    'Sentences in which nothing is wrong, the most frequent first.',
    list(object({ name: sentenceName, count, means: text })),
  ),
  more: about('Lines of further troubles, beyond the number that is explained.', count),
})

export interface LogExplanation extends ShapeOf<typeof logExplanationShape> {}
