import type { Program } from '../program.ts'
import { gpg } from './gpg.ts'
import { rnp } from './rnp.ts'
import { gosop, pgpainless, sqop } from './sop.ts'
import { sq } from './sq.ts'

/** Every program of the matrix by the name that it is started with. */
export const PROGRAMS: Record<string, () => Promise<Program>> = {
  gpg,
  sq,
  sqop,
  rnp,
  gosop,
  'pgpainless-cli': pgpainless,
}
