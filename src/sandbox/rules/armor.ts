import { LIMITS } from '../../api/limits.ts'

const BLOCK =
  /^-----BEGIN PGP MESSAGE-----\r?\n(?:[A-Za-z]+: .*\r?\n)*[ \t]*\r?\n((?:[A-Za-z0-9+/]+={0,2}[ \t]*\r?\n)+)(?:=[A-Za-z0-9+/]{4}\r?\n)?-----END PGP MESSAGE-----\s*$/

/** What is wrong with an `armored` body by its outer look, or null. Nothing is opened. */
export function armorProblem(armored: string): string | null {
  if (armored.length > LIMITS.armoredMax) {
    return `armored: must be at most ${LIMITS.armoredMax} characters`
  }
  const base64 = BLOCK.exec(armored.trimStart())?.[1]
  if (base64 === undefined) return 'armored: must be an ASCII-armoured OpenPGP message'
  const first = Buffer.from(base64.slice(0, 4), 'base64')[0] ?? 0
  return (first & 0x80) === 0 ? 'armored: must hold OpenPGP packets' : null
}
