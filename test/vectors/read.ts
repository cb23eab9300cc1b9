import { readFileSync, readdirSync } from 'node:fs'
import { readPrivateKey } from 'openpgp'
import type { UnlockedKey } from '../../src/openpgp/engine.ts'
import { unlockedFrom } from '../../src/openpgp/library/secret-key.ts'
import { readVector } from './format.ts'

const here = new URL('./', import.meta.url)

/** A file of this folder. */
export const readText = (path: string): string => readFileSync(new URL(path, here), 'utf8')

export const namesIn = (folder: string): string[] =>
  readdirSync(new URL(`${folder}/`, here)).toSorted()

/** The fields of a vector, and its body. */
export function vectorAt(path: string): { field: Map<string, string>; body: string } {
  const { fields, body } = readVector(readText(path))
  return { field: new Map(fields), body }
}

/** The words of a field; none for `none`. */
export const wordsOf = (text = ''): string[] =>
  text.split(' ').filter((word) => word !== '' && word !== 'none')

const keyring = new Map<string, Promise<UnlockedKey>>()

/** The unlocked key of a name in `keys`. */
export function unlocked(name: string): Promise<UnlockedKey> {
  const armoredKey = readText(`keys/${name}.secret.asc`)
  const key = keyring.get(name) ?? readPrivateKey({ armoredKey }).then(unlockedFrom)
  keyring.set(name, key)
  return key
}

/** An earlier copy of a certificate, which the field `known` names. */
export function earlierOf(field: Map<string, string>): string | undefined {
  const known = field.get('known')
  return known === undefined ? undefined : vectorAt(`certificates/${known}.txt`).body
}
