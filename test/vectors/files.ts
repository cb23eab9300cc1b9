/** Bodies of the files in `messages`, `certificates` and `chats`, and the files in `keys`. */
import { armor } from '../support/openpgp-framing.ts'
import { ARMOR } from './cases/armor.ts'
import type { Bodies } from './cases/bodies.ts'
import { CERTIFICATES } from './cases/certificates.ts'
import { CHATS } from './cases/chats.ts'
import { INNER } from './cases/inner.ts'
import { KEYS } from './cases/keys.ts'
import { OUTER } from './cases/outer.ts'
import { SIGNATURES } from './cases/signatures.ts'

/** Every generated key file by its path in `test/vectors`. */
export const keyFiles = (): [path: string, text: string][] =>
  Object.entries(KEYS).map(([name, text]) => [`keys/${name}.asc`, text])

/** The body of every vector by its path in `test/vectors`. */
export function bodies(): Map<string, string> {
  const made = new Map<string, string>()
  const add = (folder: string, all: Bodies, type?: 'PUBLIC KEY BLOCK'): void => {
    for (const [name, body] of Object.entries(all)) {
      const path = `${folder}/${name}.txt`
      if (made.has(path)) throw new Error(`two cases are called ${path}`)
      made.set(path, typeof body === 'string' ? body : armor(body, type && { type }))
    }
  }
  for (const all of [ARMOR, OUTER, INNER, SIGNATURES]) add('messages', all)
  add('certificates', CERTIFICATES, 'PUBLIC KEY BLOCK')
  for (const [name, steps] of Object.entries(CHATS)) {
    add('chats', { [name]: `${JSON.stringify(steps, null, 2)}\n` })
  }
  return made
}
