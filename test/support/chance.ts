/**
 * What the tests do by chance follows from one seed, which is the same in every run unless
 * `FUZZ_SEED` is another (`random` lets `config/vitest.ts` choose one); `FUZZ_RUNS` says how often
 * each property is tried.
 */
const { FUZZ_SEED, FUZZ_RUNS } = process.env

export const SEED = number('FUZZ_SEED', FUZZ_SEED) ?? 20_260_101

/** That neither is given: what is reached in a usual run can be said for sure. */
export const isUsual = FUZZ_SEED === undefined && FUZZ_RUNS === undefined

/** How often something is tried that is tried so often in a usual run. */
export const runs = (usual: number): number => number('FUZZ_RUNS', FUZZ_RUNS) ?? usual

/** As many seeds as there are runs, the first of which is the one of this run. */
export const seeds = (usual: number): number[] =>
  Array.from({ length: runs(usual) }, (_, index) => SEED + index)

function number(name: string, given: string | undefined): number | null {
  if (given === undefined) return null
  if (!/^\d{1,9}$/.test(given)) throw new Error(`${name} is a whole number, not ${given}`)
  return Number(given)
}
