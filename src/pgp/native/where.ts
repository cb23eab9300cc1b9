/**
 * Where a computation of some fifty microseconds runs: on libuv's pool, beside others, or here at
 * once, which is sooner done when there is nothing beside it.
 */
export type Where = 'pool' | 'here'
