import type { Case } from './case.ts'
import type { Way } from './stage.ts'

/** A way of playing cases. */
export interface Driver extends AsyncDisposable {
  readonly way: Way
  /** Why a case is not played, or null. */
  whyNot(one: Case): string | null
  /** @throws when the case does not hold */
  play(one: Case): Promise<void>
}
