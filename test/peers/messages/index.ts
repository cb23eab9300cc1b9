/** Messages of many shapes: the words are always the same, and signed, where nothing else is said. */
import { WORDS, usual, type Shape } from '../shape.ts'
import { containers, odd } from './containers.ts'
import { lengths } from './lengths.ts'
import { compressions, literals } from './literals.ts'
import { ciphers, recipients } from './recipients.ts'
import { signatures } from './signatures.ts'

export const MESSAGES: Shape[] = [
  ...recipients,
  ...ciphers,
  ...lengths,
  ...literals,
  ...compressions,
  ...signatures,
  ...odd,
  ...containers,
].map(([name, message, words = WORDS]) => ({
  group: 'message',
  name,
  certificate: usual,
  message,
  words,
}))
