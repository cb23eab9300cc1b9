/** Every shape, by a key that is the same in every run. */
import { ARMORED } from './armors.ts'
import { CERTIFICATES } from './certificates/index.ts'
import { MESSAGES } from './messages/index.ts'
import type { Question, Shape } from './shape.ts'
import { SECRET_KEYS } from './secret-keys.ts'
import { SIGNATURES } from './signatures.ts'

export const SHAPES: ReadonlyMap<string, Shape> = new Map(
  [...CERTIFICATES, ...MESSAGES, ...ARMORED, ...SIGNATURES, ...SECRET_KEYS].map((shape) => [
    `${shape.group}: ${shape.name}`,
    shape,
  ]),
)

/** What is asked of a shape: a message is sealed to nobody, and words to a secret key are unsigned. */
export function questionsOf({ group, name }: Shape): readonly Question[] {
  if (group === 'secret key') return ['read']
  const isCertificate = group === 'certificate' || name.startsWith('certificate ')
  return isCertificate ? ['seal', 'verify'] : ['read', 'verify']
}
