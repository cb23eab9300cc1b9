/** Every shape, by a key that is the same in every run. */
import { ARMORED } from './armors.ts'
import { CERTIFICATES } from './certificates/index.ts'
import { MESSAGES } from './messages/index.ts'
import { QUESTIONS, type Question, type Shape } from './shape.ts'
import { SIGNATURES } from './signatures.ts'

export const SHAPES: ReadonlyMap<string, Shape> = new Map(
  [...CERTIFICATES, ...MESSAGES, ...ARMORED, ...SIGNATURES].map((shape) => [
    `${shape.group}: ${shape.name}`,
    shape,
  ]),
)

/** What is asked of a shape: a message is sealed to nobody. */
export const questionsOf = ({ group, name }: Shape): readonly Question[] =>
  group === 'certificate' || (group === 'armor' && name.startsWith('certificate'))
    ? ['seal', 'verify']
    : QUESTIONS.filter((question) => question !== 'seal')
