/** What the folder of vectors must hold, made from the cases. */
import { ARMOR } from './cases/armor.ts'
import { certificateVector, chatVector, messageVector } from './cases/case.ts'
import { CHATS } from './cases/chats.ts'
import { CERTIFICATES } from './cases/certificates.ts'
import { CONTAINERS } from './cases/containers.ts'
import { INNER } from './cases/inner.ts'
import { KEYS } from './cases/keys.ts'
import { LITERALS } from './cases/literals.ts'
import { ODD_CERTIFICATES } from './cases/odd-certificates.ts'
import { RECIPIENTS } from './cases/recipients.ts'
import { SIGNATURES } from './cases/signatures.ts'
import { writeVector } from './format.ts'

/** Every generated file by its path in `test/vectors`. */
export function generatedFiles(): Map<string, string> {
  const files = new Map<string, string>()
  const add = (path: string, text: string): void => {
    if (files.has(path)) throw new Error(`two cases are called ${path}`)
    files.set(path, text)
  }
  for (const [name, text] of Object.entries(KEYS)) add(`keys/${name}.asc`, text)
  for (const one of [
    ...ARMOR,
    ...RECIPIENTS,
    ...CONTAINERS,
    ...INNER,
    ...LITERALS,
    ...SIGNATURES,
  ]) {
    add(`messages/${one.name}.txt`, writeVector(messageVector(one)))
  }
  for (const one of [...CERTIFICATES, ...ODD_CERTIFICATES]) {
    add(`certificates/${one.name}.txt`, writeVector(certificateVector(one)))
  }
  for (const one of CHATS) add(`chats/${one.name}.txt`, writeVector(chatVector(one)))
  return files
}
